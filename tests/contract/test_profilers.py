from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import pytest
from contract_cases.holes import WITHOUT_CLOCK
from contract_run import DECLARED, LIMIT_S

from bakeoff.race import conductor
from bakeoff.race.stages import selftest
from bakeoff.spec.request import Request
from bakeoff.store.results import comparisons, read_records

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.timeout(LIMIT_S), pytest.mark.usefixtures("home_of_results")]

ASKED = {"torch": "torch:threads=1", "jittor": "jittor:threads=1"}
"""OpenMP's threads wait for each other by spinning: beside another test a self-test of two took one to two minutes."""


@pytest.fixture
def home_of_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember nothing outside of the test; the environments stay where they are."""
    monkeypatch.setattr(selftest, "remember", lambda _: None)


@pytest.mark.parametrize("framework", DECLARED)
@pytest.mark.by_turns
def test_the_frameworks_own_clock_agrees(framework: str, tmp_path: Path) -> None:
    """Every framework's profiler tells the time of steps, and a real framework's timer never fails its self-test."""
    request = Request(
        workload="mlp-mnist",
        contenders=(ASKED.get(framework, framework),),
        size="reduced",
        data="synthetic",
        results=str(tmp_path),
    )
    (verdict,) = conductor.check_timers(request)
    assert verdict.outcome in ("passed", "untold"), verdict.reason
    (folder,) = comparisons(tmp_path)
    (record,) = read_records(folder).records.values()
    assert record.timer, record.reason
    if framework in WITHOUT_CLOCK:
        assert record.timer[0].profiler
        assert not any(test.profiled_ns for test in record.timer)
        return
    assert record.timer[0].fenced_ns
    for test in (test for test in record.timer if test.fenced_ns):
        assert len(test.profiled_ns) == len(test.fenced_ns) > 0, test.profiler
        # What a profiler sees lies within what the clock sees, but for what it costs to fetch the last result.
        ratios = [told / seen for told, seen in zip(test.profiled_ns, test.fenced_ns, strict=True)]
        assert statistics.median(ratios) == pytest.approx(1.0, abs=0.5)
