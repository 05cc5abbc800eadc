"""A sweep of a real framework: what is varied is what is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakeoff.report.points import points_of
from bakeoff.spec.request import Request
from bakeoff.study.run import run_study
from bakeoff.study.sweep import Axis, sweep_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.timeout(400)
@pytest.mark.by_turns
def test_each_point_runs_with_its_own_value(tmp_path: Path) -> None:
    """Threads and batch size are those of the point, by what the framework itself tells, and each has its figure."""
    request = Request(
        workload="mlp-mnist",
        contenders=("torch",),
        scenario="infer",
        size="reduced",
        data="synthetic",
        max_rounds=1,
        self_test=False,
    )
    study = sweep_of(request, [Axis(name="batch size", values=("4",)), Axis(name="threads", values=("1", "2"))])
    outcome = run_study(study, results=str(tmp_path), probe_s=0.001)
    assert [one.contenders[0].settings["threads"] for one in outcome.outcomes] == [1, 2]
    assert [one.comparison.batch_size for one in outcome.outcomes] == [4, 4]
    assert all(line.cells["torch"].rate for line in points_of(outcome).rows)
