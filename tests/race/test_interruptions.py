"""Ctrl-C, kill -9 and two runs at once: finished trials stay, no process does, and `--resume` goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.comparison import judge_comparison
from bakeoff.measure.machine import describe
from bakeoff.race import conductor, devices
from bakeoff.race.progress import Event, Prepared, TrialStarted
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.spec.request import Request
from bakeoff.store.results import read_records
from bakeoff.workloads.load import load

pytestmark = pytest.mark.slow

DEADLINE_S = 60.0
"""What is waited for takes a second or two; a machine that is slower than this fails the test."""

DRIVER = """
import json, sys
from bakeoff.race.conductor import run
from bakeoff.spec.request import Request
asked = json.loads(sys.argv[1])
run(Request(**asked), lambda event: print(event, flush=True), probe_s=0.001)
"""

RACERS = ("fake:step_ms=50", "fake:step_ms=60")
HANGING = "fake:step_ms=50,fault=hang,fault_at=block"
WITH_CHILDREN = "fake:step_ms=50,fault=children,fault_at=build"


RunningIn = Callable[[Path], list[str]]


def until(is_so: Callable[[], Any], what: str) -> Any:
    """Wait until something is so, and give it."""
    deadline = time.monotonic() + DEADLINE_S
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"still not so after {DEADLINE_S:g} s: {what}"
        time.sleep(0.02)
    return found


@pytest.fixture
def workers_in(running_in: RunningIn) -> RunningIn:
    """Give a function that finds the workers that run in a folder."""
    return lambda folder: [line for line in running_in(folder) if "bootstrap.py" in line]


def asked(*contenders: str, **others: Any) -> dict[str, Any]:
    """Give the fields of a small request, whose faults are to strike in a round and not before."""
    fields = {"workload": "mlp-mnist", "size": "reduced", "data": "synthetic", "contenders": contenders}
    return fields | {"results": "results", "self_test": False} | others


@contextmanager
def started(folder: Path, command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a command in a folder, with nothing remembered, in a session of its own; what a test leaves is killed."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"BAKEOFF_HOME": str(folder / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def driver(**fields: Any) -> list[str]:
    """Give the command that runs a comparison and prints its events."""
    return [sys.executable, "-c", DRIVER, json.dumps(fields)]


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    """Read a process's output until a line matches; give that line."""
    assert process.stdout is not None
    for line in process.stdout:
        if re.search(pattern, line):
            return line
    return pytest.fail(f"the process ended without {pattern!r}")


def contents(folder: Path) -> dict[Path, bytes]:
    """Give every finished record."""
    return {path: path.read_bytes() for path in folder.glob("results/*/*/record.json")}


MOMENTS = {
    "at the start": (r"^Prepared", 0),
    "after the reference": (r"^TrialEnded.*'reference'", 1),
    "among certificates": (r"^TrialEnded.*'certify'", 2),
    "before the rounds": (r"^TrialEnded.*'certify-fake-step_ms=60'", 3),
    "in a round": (r"^TrialStarted.*'r01-", 3),
    "between rounds": (r"^RoundEnded\(round_number=2", 7),
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.by_turns
def test_a_killed_run_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running_in: RunningIn, moment: str
) -> None:
    """After kill -9 finished trials are there and no worker is; resuming reaches the verdict without redoing them."""
    pattern, finished = MOMENTS[moment]
    with started(tmp_path, driver(**asked(*RACERS))) as process:
        read_until(process, pattern)
        process.kill()
    until(lambda: not running_in(tmp_path), "the workers have ended")
    before = contents(tmp_path)
    assert len(before) >= finished
    (folder,) = tmp_path.glob("results/mlp-mnist-*")
    assert judge_comparison(folder).ended == "unfinished"
    monkeypatch.chdir(tmp_path)
    events: list[Event] = []
    outcome = conductor.run(Request(**asked(*RACERS, resume=True)), events.append, launch=InlineWorker, probe_s=0.001)
    assert [(verdict.verdict, verdict.rounds) for verdict in outcome.verdicts] == [("faster", 5)]
    assert (Path(outcome.path).name, outcome.damaged) == (folder.name, [])
    assert {path: content for path, content in contents(tmp_path).items() if path in before} == before
    assert isinstance(events[0], Prepared)
    assert events[0].resumed == len(before)
    assert not {e.name for e in events if isinstance(e, TrialStarted)} & {path.parent.name for path in before}
    assert not list(tmp_path.glob("results/.inputs-*"))


def test_kill_9_leaves_no_children_of_workers(tmp_path: Path, running_in: RunningIn) -> None:
    """What workers have started ends with them when the parent is killed, in their session or in one of its own."""
    with started(tmp_path, driver(**asked(WITH_CHILDREN, HANGING))) as process:
        read_until(process, r"^RoundStarted")
        until(lambda: len([line for line in running_in(tmp_path) if "sleep(3600" in line]) == 2, "there are children")
        process.kill()
    until(lambda: not running_in(tmp_path), "workers and their children have ended")
    assert running_in(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_leave_nothing_either(tmp_path: Path, running_in: RunningIn, number: signal.Signals) -> None:
    """A parent that is told to end, or loses its terminal, takes its workers with it."""
    with started(tmp_path, driver(**asked(HANGING, WITH_CHILDREN))) as process:
        read_until(process, r"^TrialStarted.*'certify-")
        process.send_signal(number)
    until(lambda: not running_in(tmp_path), "workers and their children have ended")
    assert running_in(tmp_path) == []


def test_ctrl_c_ends_all_with_130(tmp_path: Path, running_in: RunningIn, workers_in: RunningIn) -> None:
    """Ctrl-C in a terminal, in the midst of a trial, ends the command and its workers; finished trials are kept."""
    options = ["--size", "reduced", "--data", "synthetic", "--results", "results"]
    command = [sys.executable, "-m", "bakeoff", "run", "mlp-mnist", "fake:step_ms=50", HANGING, *options]
    with started(tmp_path, command) as process:
        read_until(process, rf" {re.escape(HANGING)}: same work verified")
        until(lambda: len(workers_in(tmp_path)) == 2, "the round's workers are there, and one of them hangs")
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130
    assert re.search(r"interrupted; finished trials are in results/mlp-mnist-\w+; go on with\n  .* --resume\n", output)
    assert "Traceback" not in output
    until(lambda: not running_in(tmp_path), "no process is left")
    (folder,) = tmp_path.glob("results/mlp-mnist-*")
    found = read_records(folder)
    assert set(found.records) == {
        "reference",
        "certify-fake-step_ms=50",
        "certify-fake-step_ms=50-fault=hang-fault_at=block",
    }
    assert {record.outcome for record in found.records.values()} == {"done"}
    assert not list(tmp_path.glob("results/.inputs-*"))


def test_a_comparison_has_one_parent_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running_in: RunningIn, workers_in: RunningIn
) -> None:
    """Whoever would go on with a comparison that still runs is refused, and changes nothing of it."""
    contenders = ("fake:step_ms=50", HANGING)
    monkeypatch.chdir(tmp_path)
    with started(tmp_path, driver(**asked(*contenders))) as process:
        read_until(process, r"^RoundStarted")
        until(lambda: len(workers_in(tmp_path)) == 2, "both workers of the round are there")
        (comparison,) = tmp_path.glob("results/*/comparison.json")
        written = comparison.stat().st_mtime_ns, comparison.stat().st_ino
        with pytest.raises(StoreError, match="is in use by another bakeoff; wait for it, or start a new comparison"):
            conductor.run(Request(**asked(*contenders, resume=True, max_rounds=3)), probe_s=0.001)
        assert (comparison.stat().st_mtime_ns, comparison.stat().st_ino) == written
        assert process.poll() is None
        assert len(workers_in(tmp_path)) == 2
        assert len(list(tmp_path.glob("results/.inputs-*/"))) == 1
    until(lambda: not running_in(tmp_path), "no process is left")


def test_two_new_comparisons_do_not_meet(tmp_path: Path) -> None:
    """Two runs in the same results directory at the same time both reach their verdicts."""
    command = driver(**asked(*RACERS))
    with started(tmp_path, command) as one, started(tmp_path, command) as other:
        outputs = [process.communicate(timeout=DEADLINE_S)[0] for process in (one, other)]
        assert [process.returncode for process in (one, other)] == [0, 0], outputs
    folders = list(tmp_path.glob("results/mlp-mnist-*"))
    assert [judge_comparison(folder).ended for folder in folders] == ["decided", "decided"]
    assert [path.name for path in tmp_path.glob("results/.*")] == []


def test_resuming_needs_something_to_go_on_with(tmp_path: Path) -> None:
    """Where nobody asked for the same before, resuming says so; another seed, margin or contender is not the same."""
    results = str(tmp_path / "results")
    conductor.run(Request(**asked(*RACERS, results=results)), launch=InlineWorker, probe_s=0.001)
    for other in ({"seed": 1}, {"margin": 0.02}, {"contenders": RACERS[:1]}, {"batch_size": 8}, {"scenario": "infer"}):
        request = Request(**(asked(*RACERS, results=results, resume=True) | other))
        with pytest.raises(UsageError, match=r"nothing to go on with: no comparison in .* run it without --resume"):
            conductor.run(request, launch=InlineWorker, probe_s=0.001)


@pytest.mark.parametrize("begin", [partial(conductor.run, probe_s=0.001), conductor.search_batches])
def test_data_that_were_edited_are_told_where_a_race_or_a_search_goes_on(begin: Any, tmp_path: Path) -> None:
    """A file's data that are read from elsewhere may be other numbers, though nobody touched the workload's file."""
    numbers, path = tmp_path / "numbers.txt", tmp_path / "own.py"
    path.write_text(
        load("mlp-mnist").path.read_text()
        + f"""

def data(size, samples, seed):
    import numpy, pathlib
    drawn = numpy.random.RandomState(int(pathlib.Path({str(numbers)!r}).read_text()))
    shape = (samples, *size.input_shape)
    return {{"x": drawn.standard_normal(shape).astype("float32"), "y": drawn.randint(0, 10, samples).astype("int32")}}
"""
    )
    own = {"workload": str(path), "data": "own", "max_rounds": 1, "budget_s": 1e-9}
    fields = asked(*RACERS, results=str(tmp_path / "results")) | own
    numbers.write_text("1")
    begun = begin(Request(**fields), launch=InlineWorker)
    numbers.write_text("2")
    with pytest.raises(StoreError, match=r"cannot go on with .*: its data, own .*, are other numbers now: put back"):
        begin(Request(**fields, resume=True), launch=InlineWorker)
    numbers.write_text("1")
    assert begin(Request(**fields, resume=True), launch=InlineWorker).path == begun.path


def test_more_rounds_can_be_asked_for_later(tmp_path: Path) -> None:
    """A comparison that ended at its limit goes on with the rounds that it has, to a verdict."""
    fields = asked(*RACERS, results=str(tmp_path / "results"))
    short = conductor.run(Request(**fields, max_rounds=2), launch=InlineWorker, probe_s=0.001)
    assert (short.ended, short.verdicts[0].verdict) == ("rounds", "undecided")
    events: list[Event] = []
    whole = conductor.run(Request(**fields, resume=True), events.append, launch=InlineWorker, probe_s=0.001)
    assert (whole.path, whole.ended, whole.verdicts[0].verdict) == (short.path, "decided", "faster")
    assert sorted(e.name for e in events if isinstance(e, TrialStarted)) == [
        f"r0{number}-fake-step_ms={step_ms}" for number in (3, 4, 5) for step_ms in (50, 60)
    ]


def test_what_ended_before_is_forgotten_when_it_goes_on(tmp_path: Path) -> None:
    """A run that was out of budget, was resumed and was cut off then is unfinished, not out of budget."""
    fields = asked(*RACERS, results=str(tmp_path / "results"))
    assert conductor.run(Request(**fields, budget_s=1e-9), launch=InlineWorker, probe_s=0.001).ended == "budget"

    def interrupt(event: Event) -> None:
        if isinstance(event, TrialStarted):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conductor.run(Request(**fields, resume=True), interrupt, launch=InlineWorker, probe_s=0.001)
    (folder,) = tmp_path.glob("results/mlp-mnist-*")
    assert judge_comparison(folder).ended == "unfinished"


def test_another_machine_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of two machines are not mixed: the fact that differs is named with both values."""
    fields = asked(*RACERS, results=str(tmp_path / "results"))
    conductor.run(Request(**fields, max_rounds=1), launch=InlineWorker, probe_s=0.001)
    monkeypatch.setattr(devices, "describe", lambda: describe() | {"processor": "another"})
    with pytest.raises(StoreError, match=r"cannot go on with mlp-mnist-\w+: processor was .* and is 'another' here"):
        conductor.run(Request(**fields, resume=True), launch=InlineWorker, probe_s=0.001)


def test_another_version_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of two versions of a framework are not mixed: both are named, and what was there stays as it was."""
    fields = asked(*RACERS, results=str(tmp_path / "results"))
    outcome = conductor.run(Request(**fields, max_rounds=2), launch=InlineWorker, probe_s=0.001)
    before = contents(tmp_path)
    engine = sys.modules["bakeoff.frameworks.fake.engine"].Engine
    monkeypatch.setattr(engine, "versions", lambda _: {"fake": "2.0"})
    message = r"cannot go on with mlp-mnist-\w+: fake:step_ms=\d0 had Python .*, fake 1.0 and has .*, fake 2.0 here"
    with pytest.raises(StoreError, match=message):
        conductor.run(Request(**fields, resume=True), launch=InlineWorker, probe_s=0.001)
    assert contents(tmp_path) == before
    assert judge_comparison(Path(outcome.path)).rounds == 2
