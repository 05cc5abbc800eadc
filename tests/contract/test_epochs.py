"""A run of whole epochs in each framework: what it leaves, and that all have learned the same from the same batches."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from contract_run import DECLARED, LIMIT_S, REFERENCE

from bakeoff.judge.epochs import length_of, whole_runs
from bakeoff.race.loop import Runner
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import silent
from bakeoff.race.stages.epochs import whole_run
from bakeoff.race.stages.stage import RaceState
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from bakeoff.judge.epochs import WholeRun

pytestmark = pytest.mark.timeout(2 * LIMIT_S)  # the reference, too

EPOCHS = 3
STEPS = EPOCHS * ((1797 - 359) // 16)
"""Of the reduced size: batches of 16 of the digits that are not held out."""


@functools.cache
def ran(framework: str) -> WholeRun:
    """Run the epochs of one framework, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        request = Request(
            workload="mlp-mnist",
            contenders=(f"{framework}:threads=1",),
            size="reduced",
            data="digits",
            epochs=EPOCHS,
            repeats=1,
            results=folder,
        )
        with prepared(request) as (comparison, inputs):
            state, length = RaceState(comparison, Path(folder), inputs), length_of(comparison)
            assert length is not None
            runner = Runner(state.folder, ProcessWorker, silent, limit_s=LIMIT_S)
            (plan,) = comparison.contenders
            (record,) = runner.run(whole_run(state, plan, 1, length, step_s=0.01))
    assert record.outcome == "done", record.reason
    found = whole_runs([record])
    assert found is not None
    assert found.steps == STEPS
    return found.runs[0]


@pytest.mark.parametrize("framework", DECLARED)
@pytest.mark.by_turns
def test_every_framework_learns_the_same_in_the_same_epochs(framework: str) -> None:
    """Loss and accuracy at the end are the reference's, times add up, and only the first epoch compiles anything."""
    run, reference = ran(framework), ran(REFERENCE)
    assert run.accuracy is not None
    assert run.accuracy > 0.8
    assert run.accuracy == pytest.approx(reference.accuracy, abs=0.01)
    assert run.loss == pytest.approx(reference.loss, rel=0.02)
    assert len(run.epochs_s) == EPOCHS
    assert sum(run.epochs_s) == pytest.approx(run.total_s)
    assert 0 < run.without_first_s < run.total_s
    assert len(run.compilations) == EPOCHS
    assert not any(run.compilations[1:])
