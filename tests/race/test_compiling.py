"""What is compiled, when, and what a compiler's cache saves: with a scripted compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.compiling import compiling
from bakeoff.race import conductor, prepare
from bakeoff.report.pages.comparison import cautions
from bakeoff.spec.record import Compilation
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
