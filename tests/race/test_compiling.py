"""What is compiled, when, and what a compiler's cache saves: with a scripted compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.explaining.test_causes import block
from tests.race.inline import InlineWorker
from tests.race.test_rounds_by_hand import timed
from tests.report.conftest import TORCH, outcome

from bakeoff.judge.compiling import Compiling, Start, compiling
from bakeoff.race import conductor, prepare
from bakeoff.report.pages.comparison import cautions
from bakeoff.report.sections.compiling import start_table
from bakeoff.spec.record import Compilation, Record
from bakeoff.store.results import read_records

COMPILED = "fake:mode=compiled,compile_ms=40,first_ms=5,step_ms=1"
NO_PROBE_S = 0.001


def of_caches(path: str) -> list[tuple[str, str]]:
    """Name the trials that had a cache to keep what they compiled in, each with what it found there."""
    records = read_records(Path(path)).records.values()
    found = [record.trial for record in records if record.trial.cache and record.trial.purpose != "late"]
    return sorted((trial.name[:3], trial.cache) for trial in found)


def test_a_first_step_is_told_in_its_parts_cold_and_warm(race: Any) -> None:
    """Cold is what the first round pays; warm finds what that has left: two rounds, and the trial of late steps."""
    (contender,) = race(COMPILED, max_rounds=3).contenders
    known = contender.compiling
    assert (known.cold.trace_s, known.cold.compile_s, known.cold.processes) == (0, pytest.approx(0.04), 1)
    assert known.cold.first_step_s == contender.first_step_s == pytest.approx(0.046)
    assert (known.warm.compile_s, known.warm.first_step_s, known.warm.processes) == (0, pytest.approx(0.006), 3)
    assert (known.count, known.again) == (1, [])


def test_the_first_round_is_cold_and_the_others_are_warm(race: Any) -> None:
    """Only what can keep its work has a cache; nothing of it stays in the comparison's folder."""
    outcome = race(COMPILED, max_rounds=3)
    assert of_caches(outcome.path) == [("r01", "cold"), ("r02", "warm"), ("r03", "warm")]
    assert not list(Path(outcome.path).rglob("compiled"))
    (eager,) = race("fake:step_ms=2", max_rounds=3).contenders
    assert (eager.compiling.cold.compile_s, eager.compiling.warm, eager.compiling.count) == (0, None, 0)


def test_where_all_share_what_was_compiled_before_a_cold_start_is_a_trial_of_its_own(
    race: Any, request_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A framework that compiles for minutes keeps its work from comparison to comparison, as its users do."""
    given = prepare._with_options

    def kept(*asked: Any) -> Any:
        return msgspec.structs.replace(given(*asked), cache_kept=True)

    monkeypatch.setattr(prepare, "_with_options", kept)
    outcome = race(COMPILED, max_rounds=3)
    assert of_caches(outcome.path) == [("com", "cold")]
    records = read_records(Path(outcome.path)).records.values()
    found = Compilation(trace_ns=0, compile_ns=0, count=1)
    known = compiling(
        [
            msgspec.structs.replace(record, compilation=found) if record.trial.purpose == "time" else record
            for record in records
        ]
    )
    assert known is not None
    assert (known.cold.compile_s, known.cold.processes) == (pytest.approx(0.04), 1)


def test_a_resumed_comparison_starts_cold_again(race: Any, request_of: Any) -> None:
    """Programs that were compiled in an earlier run are not taken from its folder: records bring none along."""
    path = race(COMPILED, max_rounds=2).path
    conductor.run(request_of(COMPILED, max_rounds=3, resume=True), launch=InlineWorker, probe_s=NO_PROBE_S)
    assert of_caches(path) == [("r01", "cold"), ("r02", "warm"), ("r03", "cold")]


def test_compiling_within_the_timed_steps_is_a_finding(race: Any) -> None:
    """Contender, round and turn of the block are named in a warning."""
    outcome = race("fake:mode=compiled,compile_ms=40,recompile_at=600", "fake", max_rounds=3)
    (again,) = {where for one in outcome.contenders if one.compiling.again for where in one.compiling.again[:1]}
    assert again.startswith("round 1, turn ")
    said = [sentence for sentence in cautions(outcome) if "compiled again within its timed steps" in sentence]
    assert len(said) == 1
    assert said[0].startswith("fake:mode=compiled")
    assert again in said[0]


# --- By hand ------------------------------------------------------------------------------------------------------

MS = 1_000_000
"""In nanoseconds."""


def started(
    compile_ms: int | None,
    cache: str = "",
    *,
    trace_ms: int | None = 3,
    first_ms: int = 90,
    count: int = 1,
    **more: Any,
) -> Record:
    """Give a round whose first step compiled for so long, with a compiler's cache in this state."""
    trace_ns, compile_ns = (None if value is None else value * MS for value in (trace_ms, compile_ms))
    made = Compilation(trace_ns=trace_ns, compile_ns=compile_ns, count=count)
    one = timed("torch", 1, 100, compilation=made, first_step_ns=first_ms * MS, **more)
    return msgspec.structs.replace(one, trial=msgspec.structs.replace(one.trial, cache=cache))


def known(*records: Record) -> Compiling:
    """Give what these processes compiled."""
    found = compiling(records)
    assert found is not None
    return found


def test_a_first_step_s_parts_are_those_of_the_process_in_the_middle() -> None:
    """Each part by itself; what is not separated is left out, and nothing that was compiled is none."""
    found = known(
        started(10, first_ms=20), started(20, trace_ms=None, first_ms=30), started(900, trace_ms=5, first_ms=990)
    )
    assert found.cold == Start(
        trace_s=pytest.approx(0.004), compile_s=0.02, first_step_s=pytest.approx(0.03), processes=3
    )
    assert known(started(0, count=0), started(8), started(0, count=0)).cold.compile_s == 0
    unseparated = known(started(None, trace_ms=None)).cold
    assert (unseparated.trace_s, unseparated.compile_s, unseparated.processes) == (None, None, 1)


def test_processes_that_found_what_others_had_compiled_are_no_cold_start() -> None:
    """Where all did; one that compiled something, and those whose mode compiles nothing, are as cold as it gets."""
    own = started(40, "cold", first_ms=50)
    assert known(started(0), started(0), own).cold == known(own).cold
    assert known(started(0), started(0)).cold == Start()
    assert known(started(0), started(7), own).cold.processes == 2
    assert known(started(0, count=0), own).cold.compile_s == 0


def test_what_an_earlier_process_left_is_told_apart_from_a_cold_start() -> None:
    """Where the process with an empty cache was lost nothing is known of a cold start: the warm ones are none."""
    cold, warm = started(40, "cold", first_ms=50), started(0, "warm", first_ms=9)
    found = known(cold, warm, warm)
    assert (found.cold.first_step_s, found.cold.processes) == (pytest.approx(0.05), 1)
    assert found.warm is not None
    assert (found.warm.first_step_s, found.warm.processes) == (pytest.approx(0.009), 2)
    lost = known(msgspec.structs.replace(cold, outcome="crashed"), warm, warm)
    assert (lost.cold, lost.warm) == (Start(), found.warm)
    (line,) = start_table(outcome([msgspec.structs.replace(TORCH, compiling=lost)], [])).lines
    assert line.cells[3:5] == ["unknown", "unknown"]


def test_the_most_programs_and_every_block_that_compiled_are_those_of_timed_processes() -> None:
    """Rounds and turns count from 1; a process that was lost, or was not raced, tells neither."""
    again = [block(turn=0, compilations=None), block(turn=1, compilations=2), block(turn=2, compilations=0)]
    most = started(5, compilations=3, blocks=again)
    lost = msgspec.structs.replace(started(5, compilations=9, blocks=again), outcome="crashed")
    beside = started(5, compilations=9, blocks=again)
    beside = msgspec.structs.replace(beside, trial=msgspec.structs.replace(beside.trial, purpose="compile"))
    found = known(started(5, compilations=1), most, started(5), lost, beside)
    assert (found.count, found.again) == (3, ["round 1, turn 2"])
    assert (known(started(5)).count, known(started(5)).again) == (None, [])
    assert compiling([lost, beside]) is None


def test_what_is_not_compiled_is_none_and_what_is_not_told_apart_is_called_that() -> None:
    """Neither is a time; and more than three blocks that compiled are told by the first and their number."""
    again = [f"round {number}, turn 1" for number in range(1, 5)]
    cold = Start(trace_s=0.0, compile_s=None, first_step_s=0.02, processes=3)
    for blocks, told in ((again[:3], f"({', '.join(again[:2])} and {again[2]})"), (again, f"({again[0]} and 3 more")):
        one = msgspec.structs.replace(TORCH, compiling=Compiling(cold=cold, again=blocks))
        shown = outcome([one], [])
        (line,) = start_table(shown).lines
        assert line.cells[3:5] == ["none", "not told apart"]
        assert (line.cells[-1], line.marked) == (", ".join(blocks), True)
        (said,) = [one for one in cautions(shown) if "compiled again" in one]
        assert told in said
