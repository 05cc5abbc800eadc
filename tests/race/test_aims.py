"""Size, direction and until-sure as whole comparisons, in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.judge.comparison import assess, judge_comparison
from bakeoff.race.progress import Event, RoundEnded
from bakeoff.spec.errors import UsageError
from bakeoff.spec.record import Block, Record
from bakeoff.stats.pairs import is_open
from bakeoff.store.results import Records, read_records

pytestmark = pytest.mark.slow

CLEAR = ("fake:step_ms=50,process_noise=0.03", "fake:step_ms=65,process_noise=0.03")
ROUGH = ("fake:step_ms=50,process_noise=0.12", "fake:step_ms=110,process_noise=0.12")
NOISY = ("fake:step_ms=50,process_noise=0.2", "fake:step_ms=50,process_noise=0.2")


def test_the_race_goes_on_until_the_size_is_known(race: Any) -> None:
    """The direction of a rough difference is decided at once; by default rounds go on until its size is known."""
    plain, narrow = race(*ROUGH, aim="direction"), race(*ROUGH)
    (early,), (late,) = plain.verdicts, narrow.verdicts
    assert (early.verdict, late.verdict, late.wide, narrow.ended) == ("faster", "faster", False, "decided")
    assert late.decided_rounds == early.rounds < late.rounds
    assert late.high / late.low < early.high / early.low


def test_records_alone_tell_the_aim(race: Any) -> None:
    """Judging the folder again gives the same verdicts: the aim is part of comparison.json."""
    outcome = race(*CLEAR, aim="direction")
    again = judge_comparison(Path(outcome.path))
    assert again.comparison.procedure.aim == "direction"
    assert again.verdicts == outcome.verdicts


def test_a_direction_goes_on_to_its_size(race: Any) -> None:
    """Who has a direction and wants its size resumes by default: the verdict stays, and so does its round."""
    first = race(*ROUGH, aim="direction")
    later = race(*ROUGH, resume=True)
    assert (later.path, later.ended) == (first.path, "decided")
    assert later.rounds > first.rounds
    kept = [(verdict.verdict, verdict.decided_rounds) for verdict in first.verdicts]
    assert [(verdict.verdict, verdict.decided_rounds) for verdict in later.verdicts] == kept


@pytest.mark.by_turns
def test_until_sure_goes_past_twenty_rounds_and_can_be_resumed(race: Any) -> None:
    """A limit leaves the pair open; without one the resumed comparison runs beyond 20 rounds until it is settled."""
    cut = race(*NOISY, aim="until-sure", max_rounds=5)
    assert (cut.ended, cut.rounds, cut.verdicts[0].stopped) == ("rounds", 5, "rounds")
    events: list[Event] = []
    most = race(*NOISY, aim="until-sure", max_rounds=24, resume=True, observe=events.append)
    assert (most.path, most.rounds) == (cut.path, 24)
    assert judge_comparison(Path(most.path)).verdicts == most.verdicts
    ended = [event for event in events if isinstance(event, RoundEnded)]
    assert [event.round_number for event in ended] == list(range(6, 25))


def test_until_sure_has_no_round_limit_but_the_budget(race: Any) -> None:
    """Without a limit nothing is promised of what is left, and the budget alone ends an open pair."""
    events: list[Event] = []
    settled = race(*CLEAR, aim="until-sure", observe=events.append)
    assert (settled.ended, settled.comparison.procedure.max_rounds) == ("decided", None)
    ended = [event for event in events if isinstance(event, RoundEnded)]
    assert {(event.max_rounds, event.left_s) for event in ended} == {(None, None)}
    spent = race(*NOISY, aim="until-sure", budget_s=1e-9)
    assert spent.ended == "budget"


def test_until_sure_is_meant_from_the_first_round_on(race: Any) -> None:
    """Boundaries are not exchanged after the numbers were seen, in neither direction."""
    race(*CLEAR, max_rounds=2)
    with pytest.raises(UsageError, match="nothing to go on with"):
        race(*CLEAR, aim="until-sure", resume=True)


def test_ctrl_c_keeps_every_finished_round(race: Any) -> None:
    """Interrupted in until-sure, the rounds that are there stay, and resuming goes on behind them."""
    rounds = []

    def interrupt(event: Event) -> None:
        if isinstance(event, RoundEnded):
            rounds.append(event.round_number)
            if len(rounds) == 4:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race(*NOISY, aim="until-sure", observe=interrupt)
    outcome = race(*NOISY, aim="until-sure", resume=True, max_rounds=6)
    assert rounds == [1, 2, 3, 4]
    assert (outcome.rounds, len(outcome.contenders[0].blocks)) == (6, 6 * outcome.verdicts[0].blocks // 12)


def loaded(record: Record, turns: set[int]) -> Record:
    """Put foreign load beside some turns of a record, and nowhere else; make their blocks half as slow again."""

    def with_load(block: Block) -> Block:
        is_loaded = block.turn in turns
        signals = msgspec.structs.replace(
            block.signals, wall_ns=250_000_000, foreign_share=0.5 if is_loaded else 0.0, steal_share=0.0
        )
        elapsed_ns = block.elapsed_ns * 3 // 2 if is_loaded else block.elapsed_ns
        return msgspec.structs.replace(block, elapsed_ns=elapsed_ns, signals=signals)

    planned = [block for block in record.blocks if block.repeats is None]  # the machine itself may have been loaded
    return msgspec.structs.replace(record, blocks=[with_load(block) for block in planned])


@pytest.mark.parametrize(
    ("turns", "flagged", "unflagged"), [(range(0), 0, None), (range(2, 4), 2, 0.5), (range(12), 12, None)]
)
def test_disturbed_turns_are_left_out_of_the_other_ratio(
    race: Any, turns: range, flagged: int, unflagged: float | None
) -> None:
    """Blocks beside foreign load are counted and kept; the ratio without their turns stands beside the verdict."""
    outcome = race("fake:step_ms=50", "fake:step_ms=100")
    folder, label = Path(outcome.path), "fake:step_ms=50"
    found = read_records(folder)
    records = {
        name: loaded(record, set(turns) if record.trial.contender.label == label else set())
        for name, record in found.records.items()
    }
    (pair,) = assess(outcome.comparison, Records(records=records, damaged=[]), folder).verdicts
    turn_count = len(next(r for r in records.values() if r.trial.purpose == "time").blocks)
    mine = min(flagged, turn_count)
    assert (pair.flagged_blocks, pair.blocks) == (mine * pair.rounds, 2 * turn_count * pair.rounds)
    assert pair.ratio_unflagged == (None if unflagged is None else pytest.approx(unflagged))
    assert not is_open(pair)
