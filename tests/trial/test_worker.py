from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from bakeoff.measure import memory
from bakeoff.spec import protocol
from bakeoff.spec.options import WORKER_OPTIONS
from bakeoff.spec.trial import CACHE_FOLDER, CERTIFY_STEPS, FEW_CERTIFY_STEPS, SNAPSHOT_STEPS, TrialSpec
from bakeoff.store.files import TRIAL_FILE, read_record, write_trial
from bakeoff.trial.inputs import Batches
from bakeoff.trial.tied import REPEATED_STEPS
from bakeoff.trial.worker import TrialProcess

LACKING = """
from bakeoff.spec.errors import UnsupportedError

class Engine:
    def configure(self, options):
        raise UnsupportedError("no float64 here")
"""


@pytest.fixture
def worker(trial_of: Any, fake: Path, fakes_options: dict[str, str]) -> TrialProcess:
    """Give a worker with the scripted framework, not yet started."""
    return TrialProcess(trial_of(fake, **fakes_options), started_ns=123)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give the trial's folder."""
    return tmp_path / "results" / "trial"


def test_a_trial_from_start_to_record(worker: TrialProcess, folder: Path) -> None:
    """Each command has its answer, and the record has all that was measured between them."""
    assert isinstance(worker.start(), protocol.Ready)
    built = worker.obey(protocol.Build())
    assert isinstance(built, protocol.Built)
    assert built.first_step_ns == 6_000_000
    assert worker.obey(protocol.Warm(steps=12)) == protocol.Warmed(steps_ns=[1_000_000] * 12)
    ran = worker.obey(protocol.RunBlock(lead=2, steps=3, turn=5))
    assert isinstance(ran, protocol.Ran)
    assert (ran.steps, ran.elapsed_ns) == (3, 3_000_000)
    assert ran.signals is not None
    assert not (folder / "record.json").exists()
    assert worker.obey(protocol.Quit()) == protocol.Done()
    record = read_record(folder)
    assert (record.outcome, record.start_ns, record.first_step_ns) == ("done", 123, 6_000_000)
    assert (record.clock, record.warm_steps_ns) == ("virtual", [1_000_000] * 12)
    (block,) = record.blocks
    assert (block.turn, block.first_step, block.lead_steps, block.lead_ns) == (5, SNAPSHOT_STEPS, 2, 2_000_000)
    assert (block.steps_ns, block.elapsed_ns) == ([1_000_000, 2_000_000, 3_000_000], 3_000_000)
    assert record.settings["threads"] == 1
    assert record.versions == {"fake": "1.0"}


def test_a_short_warm_up_holds_what_is_repeated_in_the_end(worker: TrialProcess, folder: Path) -> None:
    """However few steps are asked for, two follow the saved state: their losses are read, and again at the end."""
    assert isinstance(worker.start(), protocol.Ready)
    worker.obey(protocol.Build())
    answer = worker.obey(protocol.Warm(steps=1, limit=1))
    assert isinstance(answer, protocol.Warmed)
    assert len(answer.steps_ns) == SNAPSHOT_STEPS - 1 + REPEATED_STEPS
    worker.obey(protocol.Fence(lead=1, steps=2, seconds=0.0, limit=2))
    worker.obey(protocol.Quit())
    tie = read_record(folder).tie
    assert tie is not None
    assert len(tie.from_saved) == len(tie.repeated) == REPEATED_STEPS


def test_the_state_is_saved_among_the_certificates_steps(trial_of: Any, fake: Path) -> None:
    """So that no step lies between what is certified and what is repeated; later where that cannot be."""
    spec = msgspec.json.decode((trial_of(fake) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    for steps in (CERTIFY_STEPS, FEW_CERTIFY_STEPS):
        saved = msgspec.structs.replace(spec, certify_steps=steps).snapshot_steps()
        assert 2 <= saved <= 1 + steps - REPEATED_STEPS, "the second step is the first with the optimiser's state"
    padded = msgspec.structs.replace(spec, pass_steps=16)
    assert padded.snapshot_steps() == 16, "memory is read there, and the largest batch may be the last"
    contender = msgspec.structs.replace(spec.contender, options={"precision": "float16"})
    scaled = msgspec.structs.replace(spec, contender=contender)
    assert scaled.snapshot_steps() > spec.snapshot_steps(), "the scale of the loss comes down first"


@pytest.mark.parametrize(
    ("options", "state"),
    [({}, "settled"), *(({"malloc": state}, state) for state in WORKER_OPTIONS["malloc"].values)],
)
def test_malloc_is_in_the_state_that_is_asked(
    trial_of: Any,
    fake: Path,
    fakes_options: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str],
    state: str,
) -> None:
    """Every worker brings malloc into one before its framework's import: settled, if nothing else is asked."""
    brought: list[str] = []
    for name in memory.PREPARE:
        monkeypatch.setitem(memory.PREPARE, name, partial(brought.append, name))
    worker = TrialProcess(trial_of(fake, **fakes_options, **options), started_ns=1)
    assert isinstance(worker.start(), protocol.Ready)
    assert brought == [state]


def test_variables_are_set_before_the_framework_is_imported(
    trial_of: Any, framework_of: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What framework.toml declares is in the environment when the framework's module runs; it is recorded."""
    monkeypatch.delenv("BAKEOFF_TEST_VARIABLE", raising=False)
    engine = "import os\nraise RuntimeError(os.environ['BAKEOFF_TEST_VARIABLE'])"
    worker = TrialProcess(trial_of(framework_of(engine, "with_variables")), started_ns=0)
    assert worker.start() == protocol.Failed(reason="with_variables cannot be imported: RuntimeError: set")
    assert read_record(folder).variables == {"BAKEOFF_TEST_VARIABLE": "set"}


@pytest.mark.parametrize(
    ("engine", "outcome", "reason"),
    [
        ("import no_such_module", "unavailable", "cannot be imported: ModuleNotFoundError: No module named 'no_such_"),
        ("1 / 0", "unavailable", "cannot be imported: ZeroDivisionError: division by zero"),
        ("def (", "unavailable", "cannot be imported: SyntaxError: "),
        ("Engine = None", "unavailable", "cannot be imported: TypeError: "),
        (
            "class Engine:\n def configure(self, options):\n  raise MemoryError('too large')",
            "out-of-memory",
            "MemoryError: too large",
        ),
        (
            "class Engine:\n def configure(self, options):\n  raise ValueError('too odd')",
            "failed",
            "ValueError: too odd",
        ),
        (
            LACKING,
            "unsupported",
            "no float64 here",
        ),
    ],
)
def test_why_a_framework_fails_is_recorded(
    trial_of: Any, framework_of: Any, folder: Path, engine: str, outcome: str, reason: str
) -> None:
    """A framework that cannot be imported is unavailable; one that lacks something, or fails, has that outcome."""
    name = f"broken_{abs(hash(engine))}"
    worker = TrialProcess(trial_of(framework_of(engine, name)), started_ns=0)
    answer = worker.start()
    assert isinstance(answer, protocol.Failed)
    record = read_record(folder)
    assert (record.outcome, record.reason) == (outcome, answer.reason)
    assert reason in record.reason
    assert "Traceback" in record.detail


def test_the_frameworks_cache_is_cleared(worker: TrialProcess, folder: Path) -> None:
    """What a framework compiled in a trial is private to it, and gone with it."""
    (folder / CACHE_FOLDER).mkdir()
    (folder / CACHE_FOLDER / "compiled").touch()
    worker.start()
    worker.obey(protocol.Build())
    worker.obey(protocol.Quit())
    assert not (folder / CACHE_FOLDER).exists()
    assert (folder / "record.json").exists()


def test_batches_go_round_in_their_order(trial_of: Any, fake: Path, tmp_path: Path) -> None:
    """Step i takes batch i % batches, each time as an array of its own."""
    trial_of(fake)
    batches = Batches(tmp_path / "inputs")
    first = batches.at(1)
    x, y = first.inputs["x"], first.targets["y"]
    again = batches.at(1 + batches.count).inputs["x"]
    other = batches.at(2).inputs["x"]
    assert (x.shape, x.dtype, y.shape, y.dtype) == ((4, 784), np.float32, (4,), np.int32)
    assert np.array_equal(x, again)
    assert not np.array_equal(x, other)
    x[:] = 0
    assert np.array_equal(batches.at(1).inputs["x"], again)
    assert batches.test is None
    assert batches.ends == Batches(tmp_path / "inputs", whole=True).ends == (0, batches.count - 1)


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("framework_sha256", "the framework's folder {framework_path}"),
        ("workload_sha256", "the workload's file {workload_path}"),
        ("packages_sha256", "what is installed beside {interpreter}"),
    ],
)
def test_what_has_changed_is_not_run(
    trial_of: Any, fake: Path, fakes_options: dict[str, str], field: str, says: str
) -> None:
    """A worker that finds another text than was fixed builds nothing, and its record says what has changed."""
    folder = trial_of(fake, **fakes_options)
    spec = msgspec.json.decode((folder / "trial.json").read_bytes(), type=TrialSpec)
    write_trial(folder, msgspec.structs.replace(spec, **{field: "0" * 64}))
    worker = TrialProcess(folder, started_ns=0)
    answers = [worker.start()]
    if isinstance(answers[0], protocol.Ready):
        answers.append(worker.obey(protocol.Build()))
    assert isinstance(answers[-1], protocol.Failed)
    record = read_record(folder)
    assert (record.outcome, record.build_ns) == ("changed", None)
    named = says.format_map(msgspec.structs.asdict(spec))
    assert record.reason.startswith(f"{named} has changed since the comparison was fixed")


def test_a_workload_that_does_something_else_in_this_process_is_not_run(
    trial_of: Any, fake: Path, fakes_options: dict[str, str]
) -> None:
    """A worker whose model is not the one that the parent has seen builds nothing, and its record says why."""
    folder = trial_of(fake, **fakes_options)
    spec = msgspec.json.decode((folder / "trial.json").read_bytes(), type=TrialSpec)
    write_trial(folder, msgspec.structs.replace(spec, steps_sha256="0" * 64))
    worker = TrialProcess(folder, started_ns=0)
    assert isinstance(worker.start(), protocol.Ready)
    assert isinstance(worker.obey(protocol.Build()), protocol.Failed)
    record = read_record(folder)
    assert (record.outcome, record.build_ns) == ("failed", None)
    assert record.reason.startswith(
        f"the workload's file {spec.workload_path} makes other layers or computes something"
    )


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_a_gpus_libraries_are_among_the_versions(
    trial_of: Any, framework_of: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    """A trial on CUDA records what is installed beside the framework; one on a processor does not use it."""
    monkeypatch.setattr("bakeoff.measure.gpu_packages.versions", lambda: {"nvidia-cudnn-cu13": "9.28.0.42"})
    engine = "class Engine:\n def configure(self, options): pass\n def versions(self): return {'mine': '1'}"
    worker = TrialProcess(trial_of(framework_of(engine, f"with_libraries_{device}"), device=device), started_ns=0)
    assert isinstance(worker.start(), protocol.Ready)
    worker.obey(protocol.Quit())
    beside = {"nvidia-cudnn-cu13": "9.28.0.42"} if device == "cuda" else {}
    assert read_record(folder).versions == {"mine": "1"} | beside
