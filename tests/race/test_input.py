"""The option `input`, from its batches to the report: scripted, and with the processes of a real loader."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report.shown import data_of

from bakeoff.report.pages.comparison import work
from bakeoff.spec.errors import UsageError
from bakeoff.store.results import read_records

pytestmark = pytest.mark.slow

DEADLINE_S = 120.0
"""A loader's processes are there some seconds after the start, and gone a second after the end."""

RunningIn = Callable[[Path], list[str]]


@pytest.mark.parametrize("mode", ["per-step", "pipeline"])
def test_taking_a_batch_is_in_the_step_time(race: Any, mode: str) -> None:
    """A step of a millisecond with half a millisecond for its batch takes one and a half; resident it takes one."""
    outcome = race(f"fake:input={mode},input_ms=0.5", "fake:input_ms=0.5", max_rounds=3)
    fed, resident = outcome.contenders
    assert fed.median_step_s == pytest.approx(0.0015)
    assert resident.median_step_s == pytest.approx(0.001)
    assert (fed.settings["input"], fed.settings["input_call"]) == (mode, "scripted")
    assert fed.certificate.passed


def test_the_certificate_says_what_is_fed(race: Any) -> None:
    """Each sample once with its own label: said for who takes its batches in a way of its own, and for nobody else."""
    outcome = race("fake:input=per-step", "fake:input=pipeline", "fake", max_rounds=3)
    checks = [{check.name: check.detail for check in one.certificate.checks} for one in outcome.contenders]
    samples = outcome.comparison.data.batches * outcome.comparison.batch_size
    said = f"gives each of {samples:,} samples once with its own label"
    assert checks[0]["inputs"] == f"input=per-step {said}"
    assert checks[1]["inputs"] == f"input=pipeline {said}, in an order of its own"
    assert "inputs" not in checks[2]


@pytest.mark.parametrize("mode", ["per-step", "pipeline"])
def test_a_loader_that_gives_a_sample_twice_gets_no_certificate(race: Any, mode: str) -> None:
    """It would train on other data than all others: no rank."""
    outcome = race(f"fake:input={mode},wrong=inputs", "fake", max_rounds=3)
    wrong = outcome.contenders[0]
    assert wrong.status == "uncertified"
    assert "leaves out 1 and gives 1 that are others" in wrong.reason


def test_the_report_says_where_batches_come_from(race: Any) -> None:
    """In the line of the work and in the timed region, with the contenders that differ."""
    outcome = race("fake:input=per-step", "fake", max_rounds=3)
    assert "input per-step" in work(outcome)
    region = data_of(outcome)["timed_region"]
    assert "the batch is on the device already (fake)" in region
    assert "one batch is copied from NumPy's memory to the device (fake:input=per-step)" in region


def test_loaders_do_not_share_the_machine(race: Any) -> None:
    """A loader works on while its worker pauses, so workers with one run one after another."""
    assert race("fake:input=per-step", "fake", max_rounds=3).resident
    assert not race("fake:input=pipeline", "fake", max_rounds=3).resident


def test_the_timer_is_tested_without_the_loader(race: Any) -> None:
    """The self-test is of the clock: its steps take no batch from a loader."""
    outcome = race("fake:input=pipeline,input_ms=5", max_rounds=3, self_test=True)
    records = read_records(Path(outcome.path)).records
    (test,) = (one for record in records.values() for one in record.timer)
    assert test.single_ns[0] == pytest.approx(test.steps * 1_000_000)


def test_an_unknown_way_of_input_is_refused(race: Any) -> None:
    """The valid ways are named."""
    with pytest.raises(UsageError, match="possible: resident, per-step, pipeline"):
        race("fake:input=magic")


def until(is_so: Callable[[], Any], what: str) -> Any:
    """Wait until something is so, and give it."""
    deadline = time.monotonic() + DEADLINE_S
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"still not so after {DEADLINE_S:g} s: {what}"
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.by_turns
def test_no_process_of_a_loader_is_left(tmp_path: Path, running_in: RunningIn, how: signal.Signals) -> None:
    """Whether the parent is killed or interrupted, a DataLoader's processes end with it."""
    command = [sys.executable, "-m", "bakeoff", "run", "mlp-mnist", "torch:input=pipeline,loader_workers=2,threads=1"]
    command += ["--size", "reduced", "--scenario", "infer", "--data", "synthetic"]
    parent = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    # One line is the worker, which the processes that it forks share.
    until(lambda: sum("bootstrap.py trial" in line for line in running_in(tmp_path)) >= 3, "a loader has started")
    os.kill(parent.pid, how)
    parent.wait(DEADLINE_S)
    until(lambda: not running_in(tmp_path), "all processes are gone")
    assert running_in(tmp_path) == []
