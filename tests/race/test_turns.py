"""Turns that others disturb: repeated for all contenders alike, by what counters say and never by their times."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.rounds import kept_blocks, repeated_turns
from bakeoff.measure import contention
from bakeoff.race import conductor
from bakeoff.race.progress import Waiting
from bakeoff.race.stages import rounds
from bakeoff.spec.protocol import Answer, Command, RunBlock
from bakeoff.spec.record import Record, Signals
from bakeoff.store.results import of_purpose, read_records

CALM = Signals(wall_ns=400_000_000, cpu_ns=400_000_000, foreign_share=0.0, steal_share=0.0)


def disturbing(turns: set[int], again: set[int] | None = None, **signals: float) -> Any:
    """Give a launcher of workers whose counters show these signals in some planned turns, and in some repeats."""

    class Disturbed(InlineWorker):
        def ask(self, command: Command, limit_s: float) -> Answer:
            if not isinstance(command, RunBlock):
                return super().ask(command, limit_s)
            turn, chosen = (command.turn, turns) if command.repeats is None else (command.repeats, again or set())
            seen = msgspec.structs.replace(CALM, **signals) if turn in chosen else CALM
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(contention, "between", lambda before, after: seen)
                return super().ask(command, limit_s)

    return Disturbed


def timed_of(outcome: Any) -> list[Record]:
    """Give the records of all timed trials."""
    return of_purpose(read_records(Path(outcome.path)).records.values(), "time")


@pytest.mark.parametrize("signals", [{"foreign_share": 0.3}, {"steal_share": 0.3}])
def test_a_disturbed_turn_is_repeated_for_all(race: Any, signals: dict[str, float]) -> None:
    """Both contenders run turns 2 and 5 again, at the round's end; the repeats stand for them."""
    launch = disturbing({2, 5}, **signals)
    outcome = race("fake:step_ms=50", "fake:step_ms=60", launch=launch, max_rounds=1)
    records = timed_of(outcome)
    for record in records:
        assert [(block.turn, block.repeats) for block in record.blocks[8:]] == [(8, 2), (9, 5)]
    kept = kept_blocks(records)
    assert [(turn, block.turn) for turn, block in kept.blocks(records[0])] == [
        (0, 0), (1, 1), (2, 8), (3, 3), (4, 4), (5, 9), (6, 6), (7, 7),
    ]  # fmt: skip
    assert outcome.repeated_turns == repeated_turns(records) == 2
    assert outcome.verdicts[0].flagged_blocks == 0


def test_a_repeat_that_is_disturbed_too_stands_for_nothing(race: Any) -> None:
    """Then the planned turn counts as it was, and its blocks are told as disturbed."""
    outcome = race(
        "fake:step_ms=50", "fake:step_ms=60", launch=disturbing({2, 5}, {5}, foreign_share=0.3), max_rounds=1
    )
    records = timed_of(outcome)
    chosen = {turn: block.turn for turn, block in kept_blocks(records).blocks(records[0])}
    assert (chosen[2], chosen[5]) == (8, 5)
    assert outcome.verdicts[0].flagged_blocks == 2


def test_where_most_turns_are_disturbed_none_is_repeated(race: Any) -> None:
    """The machine is busy, and further turns would be disturbed, too."""
    outcome = race(
        "fake:step_ms=50", "fake:step_ms=60", launch=disturbing(set(range(5)), foreign_share=0.3), max_rounds=1
    )
    assert outcome.repeated_turns == 0
    assert all(len(record.blocks) == 8 for record in timed_of(outcome))


def test_a_slow_turn_is_not_repeated(race: Any) -> None:
    """How long a block takes decides nothing, where counters see nobody else."""
    outcome = race("fake:step_ms=50,outliers=0.2", "fake:step_ms=60", launch=disturbing(set()), max_rounds=2)
    assert outcome.repeated_turns == 0


def test_one_contenders_disturbed_block_moves_both(race: Any) -> None:
    """The repeat stands for the turn of the contender that was not disturbed, too: a turn is a pair of neighbours."""
    outcome = race("fake:step_ms=50", "fake:step_ms=60", max_rounds=1)
    first, second = timed_of(outcome)

    def with_repeat(record: Record, foreign_share: float) -> Record:
        blocks = [msgspec.structs.replace(block, signals=CALM) for block in record.blocks]
        loud = msgspec.structs.replace(CALM, foreign_share=foreign_share)
        blocks[3] = msgspec.structs.replace(blocks[3], signals=loud)
        blocks.append(msgspec.structs.replace(blocks[0], turn=8, repeats=3))
        return msgspec.structs.replace(record, blocks=blocks)

    records = [with_repeat(first, 0.3), with_repeat(second, 0.0)]
    for record in records:
        assert dict(kept_blocks(records).blocks(record))[3].turn == 8


def test_rounds_wait_for_other_processes_as_long_as_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """They go on when the machine is calm, and when the time to wait is used up; each wait is told."""
    seen = iter([False, False, True])
    noise = lambda calm: type("Noise", (), {"calm": calm, "foreign_share": 0.4, "steal_share": 0.1})  # noqa: E731
    monkeypatch.setattr(rounds, "probe", lambda seconds: noise(calm=next(seen)))
    told = list(rounds.CalmWait(60.0).wait())
    assert [type(event) for event in told] == [Waiting, Waiting]
    assert told[0].share == pytest.approx(0.5)

    def busy(seconds: float) -> Any:
        time.sleep(seconds)
        return noise(calm=False)

    monkeypatch.setattr(rounds, "probe", busy)
    assert 1 <= len(list(rounds.CalmWait(0.05).wait())) <= 2
    assert list(rounds.CalmWait(0.0).wait()) == []


@pytest.mark.parametrize("seen", [[True], [None], [False, True], [False, False]])
def test_a_machine_is_called_busy_that_was_so_at_two_looks(
    monkeypatch: pytest.MonkeyPatch, seen: list[bool | None]
) -> None:
    """What ends just before a race, such as the processes of another one, is no reason to wait."""
    looks = iter(seen)
    monkeypatch.setattr(conductor, "probe", lambda _: SimpleNamespace(calm=next(looks)))
    assert conductor._is_calm(0.0) is seen[-1]
    assert list(looks) == []


def test_only_the_first_block_of_a_worker_alone_on_a_gpu_has_the_long_lead_in() -> None:
    """Resident workers keep the clock up for each other, and a processor needs none; later rounds repeat the usual."""
    contenders = [
        SimpleNamespace(contender=SimpleNamespace(label=name, options={"device": device}))
        for name, device in (("here", "cpu"), ("there", "cuda"))
    ]
    state: Any = SimpleNamespace(comparison=SimpleNamespace(contenders=contenders))

    def leads(**steps_s: float) -> dict[str, int]:
        team: Any = SimpleNamespace(labels=list(steps_s))
        return rounds._first_leads(state, team, steps_s)

    assert leads(there=0.01) == {"there": 100}
    assert leads(here=0.01) == leads(here=0.01, there=0.01) == {}

    blocks = [SimpleNamespace(lead_steps=lead, steps_ns=(1, 1), repeats=None) for lead in (100, 3, 3, 3)]
    record: Any = SimpleNamespace(
        trial=SimpleNamespace(round_number=1, contender=SimpleNamespace(label="there")),
        outcome="done",
        blocks=blocks,
        warm_steps_ns=(1, 1, 1),
    )
    course = rounds.course_of([record])
    assert (course.leads, course.turns, course.steps, course.warm) == ({"there": 3}, 4, {"there": 2}, {"there": 3})
