"""What a worker holds the lines of a workload's file to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.workloads.test_executed import FILE, LESS, MORE

from bakeoff.measure.clock import Stepper
from bakeoff.spec import protocol
from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.record import Compilation
from bakeoff.spec.scenario import Scenario
from bakeoff.spec.trial import TrialSpec
from bakeoff.store.files import TRIAL_FILE
from bakeoff.trial import built, handlers, lines
from bakeoff.trial.evidence import gather
from bakeoff.trial.framework import import_engine
from bakeoff.trial.inputs import Batches
from bakeoff.trial.lines import Watch
from bakeoff.trial.model import make_model
from bakeoff.trial.saved import SavedState
from bakeoff.trial.tied import Ties
from bakeoff.trial.worker import TrialProcess
from bakeoff.workloads.executed import lines_sha256
from bakeoff.workloads.interpreter import stepping
from bakeoff.workloads.likewise import runs_over_shapes
from bakeoff.workloads.load import LoadedWorkload, load
from bakeoff.workloads.shape_functions import Counter


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedWorkload:
    """Give a workload that does more once a list in its file says so."""
    (tmp_path / "asks.py").write_text(FILE)
    return load(tmp_path / "asks.py")


@pytest.fixture
def trial(trial_of: Any, fake: Path, loaded: LoadedWorkload, monkeypatch: pytest.MonkeyPatch) -> TrialSpec:
    """Give its trial; the module that has run is the one that is looked at."""
    monkeypatch.setattr(lines, "loaded_of", lambda _: loaded)
    spec = msgspec.json.decode((trial_of(fake) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    return msgspec.structs.replace(spec, workload_path=str(loaded.path), size="full", batch_size=2)


def watched(trial: TrialSpec, loaded: LoadedWorkload, kind: str) -> Watch:
    """Give the watch behind a run in which the file does this."""
    watch = Watch(trial)
    loaded.build.__globals__["KIND"].append(kind)
    with watch.noting():
        runs_over_shapes(loaded, loaded.size("full"), "train")
    return watch


def test_a_line_more_is_refused_with_its_file(trial: TrialSpec, loaded: LoadedWorkload) -> None:
    """And with what it must not ask."""
    with pytest.raises(ModelFileError, match=rf"asks\.py: line {MORE} runs here .* what its arrays or nn are"):
        watched(trial, loaded, "more").check()


def test_the_same_lines_pass(trial: TrialSpec, loaded: LoadedWorkload) -> None:
    """In one region or several."""
    watch = watched(trial, loaded, "neither")
    with watch.noting():
        pass
    watch.check()


class Step:
    """An eager step: the file's lines run in each."""

    def __init__(self, loaded: LoadedWorkload, scenario: Scenario) -> None:
        """Take the file."""
        self._kind = loaded.build.__globals__["KIND"]
        self._step = stepping(loaded.build, loaded.size("full"), Counter(), trains=scenario == "train")

    def prepare(self, kind: str) -> str:
        """Return a batch, which is what the file does with it."""
        return kind

    def run(self, kind: str) -> None:
        """Run the model, the same in each step."""
        self._kind[:] = [kind]
        self._step()

    def wait(self) -> None:
        """Be done at once."""

    def result(self) -> float:
        """Return a loss."""
        return 1.0

    def parameters(self) -> dict[str, Any]:
        """Return none."""
        return {}

    def last_outputs(self) -> NDArray[np.float64]:
        """Return outputs of a sample."""
        return np.zeros((1, 2))

    def compilation(self) -> Compilation:
        """Compile nothing."""
        return Compilation()


@pytest.mark.parametrize("scenario", ["train", "infer"])
@pytest.mark.parametrize("command", ["fence", "measure_late"])
@pytest.mark.parametrize("kind", ["neither", "more", "less"])
def test_lines_are_noted_behind_what_is_timed(
    trial: TrialSpec,
    loaded: LoadedWorkload,
    monkeypatch: pytest.MonkeyPatch,
    scenario: Scenario,
    command: str,
    kind: str,
) -> None:
    """A file that does more once it is timed, or less, is refused.

    Not one whose model keeps something from its first step on; lines of evaluation alone need not run in training.
    """
    timed = msgspec.structs.replace(trial, purpose="time", scenario=scenario, lines_sha256="")
    step: Any = Step(loaded, scenario)
    stepper = Stepper(step, ["neither"])
    opened: Any = SimpleNamespace(trial=timed, batches=SimpleNamespace(at=lambda _: kind, ends=(0, 1)))
    saved = SavedState(step, stepper)
    ties, watch = Ties(opened, step, saved, drops=False), Watch(timed)
    running: Any = SimpleNamespace(step=step, stepper=stepper, saved=saved, opened=opened, ties=ties, watch=watch)
    monkeypatch.setattr(handlers.late, "reading", lambda *_: None)
    draft: Any = SimpleNamespace(put=lambda **_: None, append=lambda *_: None)
    asked = SimpleNamespace(lead=0, steps=2, seconds=0.0, limit=2)
    said = {"more": rf"line {MORE} runs here", "less": rf"line {LESS} does not run here"}
    with pytest.raises(ModelFileError, match=said[kind]) if kind in said else nullcontext():
        getattr(handlers, command)(running, draft, asked)


def test_lines_of_another_process_are_held_to_it(trial: TrialSpec, loaded: LoadedWorkload) -> None:
    """A file that waits where a framework is imported computes the same over shapes, and by other lines."""
    there = lines_sha256(loaded, loaded.size("full"), "train")
    held = msgspec.structs.replace(trial, lines_sha256=there)
    Watch(held).check()
    loaded.build.__globals__["KIND"].append("more")
    with pytest.raises(ModelFileError, match=r"asks\.py: other lines of it run over shapes in this process"):
        Watch(held).check()
    Watch(msgspec.structs.replace(held, lines_sha256=f"2.7 {there.partition(' ')[2]}")).check()


def test_the_first_calls_of_evidence_are_looked_at(
    trial_of: Any, fake: Path, fakes_options: dict[str, str], tmp_path: Path
) -> None:
    """The step's first outputs, gradients and step run while lines are noted, and then they are checked."""
    spec = msgspec.json.decode((trial_of(fake, **fakes_options) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    engine = import_engine(fake).Engine()
    engine.configure(spec.contender.options)
    step = engine.build(make_model(spec), spec.scenario, spec.contender.options)
    seen: list[str] = []
    ran = type(step).run

    class Looking(Watch):
        @contextmanager
        def noting(self) -> Iterator[None]:
            seen.append("from")
            yield
            seen.append("to")

        def check(self) -> None:
            seen.append("checked")

    class Noted(type(step)):  # type: ignore[misc]
        def run(self, batch: Any) -> None:
            seen.append("step")
            ran(self, batch)

    step.__class__ = Noted
    gather(engine, step, make_model(spec), spec, Batches(Path(spec.inputs_path)), tmp_path, watch=Looking(spec))
    assert seen == ["from", "step", "to", *["step"] * spec.certify_steps, "checked"]


@pytest.mark.parametrize("changes", [{"pass_steps": 3}, {"ready_made": True}])
def test_what_has_other_lines_for_a_reason_is_passed_over(
    trial: TrialSpec, loaded: LoadedWorkload, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    """Batches of many shapes, which a file may treat each in its own way, and models that are not the file's."""
    if changes.pop("ready_made", False):
        monkeypatch.setattr(lines, "ready_made_name", lambda _: "resnet18")
    watched(msgspec.structs.replace(trial, **changes), loaded, "more").check()


@pytest.mark.parametrize("is_own", [True, False])
def test_another_batch_may_run_other_lines(
    trial: TrialSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_own: bool
) -> None:
    """What was fixed is of the size's own batch, and is held to that one's lines."""
    (tmp_path / "asks.py").write_text(FILE.replace('KIND == ["more"]', "size.batch_size == 3"))
    loaded = load(tmp_path / "asks.py")
    monkeypatch.setattr(lines, "loaded_of", lambda _: loaded)
    own = loaded.size("full")
    size = own if is_own else msgspec.structs.replace(own, batch_size=3)
    fixed = lines_sha256(loaded, size, "train")
    watch = Watch(msgspec.structs.replace(trial, batch_size=3, lines_sha256=fixed))
    with nullcontext() if is_own else pytest.raises(ModelFileError, match="other lines of it run over shapes"):
        watch.check()


def test_a_timed_trial_looks_at_lines_behind_its_steps(
    trial_of: Any, fake: Path, fakes_options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not while what is timed is built or runs for the first time."""
    seen: list[str] = []

    class Looking(Watch):
        @contextmanager
        def noting(self) -> Iterator[None]:
            seen.append("noting")
            yield

        def check(self) -> None:
            seen.append("checked")

    monkeypatch.setattr(built, "Watch", Looking)
    worker = TrialProcess(trial_of(fake, **fakes_options), started_ns=123)
    worker.start()
    worker.obey(protocol.Build())
    worker.obey(protocol.Warm(steps=2))
    assert seen == []
    worker.obey(protocol.Fence(lead=1, steps=2, seconds=0.0, limit=2))
    assert seen == ["noting", "checked"]
