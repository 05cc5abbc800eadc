"""What is compiled, when, and what a compiler's cache saves: with a scripted compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.compiling import compiling
from bakeoff.race import conductor
from bakeoff.report.pages.comparison import cautions
from bakeoff.spec.record import Compilation
from bakeoff.store.results import read_records

COMPILED = "fake:mode=compiled,compile_ms=40,first_ms=5,step_ms=1"
NO_PROBE_S = 0.001


def trials(path: str) -> list[str]:
    """Name the trials of compiling."""
    return sorted(name for name, record in read_records(Path(path)).records.items() if record.trial.cache)


def test_a_first_step_is_told_in_its_parts_cold_and_warm(race: Any) -> None:
    """Cold is what every timed process pays; warm finds the cache of a process before it."""
    (contender,) = race(COMPILED, max_rounds=3).contenders
    known = contender.compiling
    assert (known.cold.trace_s, known.cold.compile_s, known.cold.processes) == (0, pytest.approx(0.04), 3)
    assert known.cold.first_step_s == contender.first_step_s == pytest.approx(0.046)
    assert (known.warm.compile_s, known.warm.first_step_s, known.warm.processes) == (0, pytest.approx(0.006), 1)
    assert (known.count, known.again) == (1, [])


def test_where_timed_processes_find_what_others_compiled_cold_is_the_trial_that_does_not(race: Any) -> None:
    """A framework that always keeps what it compiled has its cold start in the one process without it."""
    records = read_records(Path(race(COMPILED, max_rounds=3).path)).records.values()
    found = Compilation(trace_ns=0, compile_ns=0, count=1)
    known = compiling(
        [
            msgspec.structs.replace(record, compilation=found) if record.trial.purpose == "time" else record
            for record in records
        ]
    )
    assert known is not None
    assert (known.cold.compile_s, known.cold.processes) == (pytest.approx(0.04), 1)
    assert known.warm is not None
    assert known.warm.compile_s == 0


def test_only_what_can_keep_its_work_is_started_twice_more(race: Any) -> None:
    """One cold and one warm trial, for a compiled contender only; neither is timed, and the cache is removed."""
    outcome = race(COMPILED, "fake:step_ms=2", max_rounds=3)
    cold, warm = trials(outcome.path)
    assert (cold[:13], warm[:13]) == ("compile-cold-", "compile-warm-")
    assert all(not read_records(Path(outcome.path)).records[name].blocks for name in (cold, warm))
    assert not list(Path(outcome.path).glob("cache*"))
    eager = next(one for one in outcome.contenders if one.label == "fake:step_ms=2")
    assert (eager.compiling.cold.compile_s, eager.compiling.warm, eager.compiling.count) == (0, None, 0)


def test_compiling_within_the_timed_steps_is_a_finding(race: Any) -> None:
    """Contender, round and turn of the block are named in a warning."""
    outcome = race("fake:mode=compiled,compile_ms=40,recompile_at=600", "fake", max_rounds=3)
    (again,) = {where for one in outcome.contenders if one.compiling.again for where in one.compiling.again[:1]}
    assert again.startswith("round 1, turn ")
    said = [sentence for sentence in cautions(outcome) if "compiled again within its timed steps" in sentence]
    assert len(said) == 1
    assert said[0].startswith("fake:mode=compiled")
    assert again in said[0]


def test_an_interrupted_pair_of_trials_goes_on(race: Any, request_of: Any, tmp_path: Path) -> None:
    """Where the cold trial is there and its cache too, only the warm one is run; without the cache there is none."""

    class Interrupted(InlineWorker):
        """Ends the comparison when the warm trial is started."""

        def __init__(self, folder: Path, trial: Any, interpreter: str) -> None:
            if trial.cache == "warm":
                raise KeyboardInterrupt
            super().__init__(folder, trial, interpreter)

    with pytest.raises(KeyboardInterrupt):
        race(COMPILED, launch=Interrupted, max_rounds=3)
    (folder,) = (path.parent for path in tmp_path.glob("results/*/comparison.json"))
    (cold,) = trials(str(folder))
    assert cold.startswith("compile-cold-")
    request = request_of(COMPILED, max_rounds=3, resume=True)
    conductor.run(request, launch=InlineWorker, probe_s=NO_PROBE_S)
    assert len(trials(str(folder))) == 2
    assert judge_comparison(folder).contenders[0].compiling.warm.compile_s == 0
