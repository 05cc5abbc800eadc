"""Every framework and workload that is found, by location; what each computes, in its own interpreter."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import filelock
import msgspec
import numpy as np
import pytest
from child_process import Child
from contract_cases.messages import Answer, Job, Request
from tests.drawn import later_steps

from bakeoff import data
from bakeoff.certify.checks import Exhibit
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.environments.options import resolve_options, variables_of
from bakeoff.measure.machine import usable_cores
from bakeoff.spec.contender import Contender, parse_contender
from bakeoff.spec.evidence import Evidence
from bakeoff.spec.per_sample import OPTION, PLAIN, PerSample
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.trial import CERTIFY_STEPS, FEW_CERTIFY_STEPS, FIXED, Inputs, TrialSpec
from bakeoff.workloads import plan
from bakeoff.workloads.load import LoadedWorkload, load, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.trial import Purpose

HERE = Path(__file__).parent
LIMIT_S = 900  # the compilers of all frameworks on one slow processor; Jittor compiles every operator by g++
DECLARED = {name: found for name, found in frameworks().items() if found.info.listed}
MODES = [(name, mode) for name, found in DECLARED.items() for mode in found.info.options["mode"].values]
EXAMPLES = HERE.parents[1] / "examples"


def _by_name(files: Iterable[Path | str]) -> dict[str, LoadedWorkload]:
    """Return workloads by their names."""
    return {loaded.workload.name: loaded for loaded in map(load, files)}


WORKLOADS = _by_name([*names(), *sorted(EXAMPLES.glob("*.py"))])
PUBLIC = _by_name(sorted((EXAMPLES / "models").glob("*.py")))
"""Public models, as a user writes them."""
MODELS = PUBLIC | _by_name(sorted((HERE / "contract_cases" / "models").glob("*.py")))
"""What each run certifies a part of: those, and models of the tests."""
KNOWN = WORKLOADS | MODELS
SUBJECTS: list[tuple[str, Scenario]] = [
    (name, scenario)
    for name, loaded in WORKLOADS.items()
    for scenario in loaded.workload.scenarios
    if not SCENARIOS[scenario].per_sample
]
"""Per-sample gradients have a file of their own: test_per_sample.py."""

CLIPPED = {
    "mnist-cnn": PerSample(max_norm=30.0),
    "cnn-cifar10": PerSample(max_norm=7.0),
    "imdb-embed": PerSample(max_norm=0.9, noise_multiplier=1.1),
    "imdb-lstm": PerSample(max_norm=0.83),
    "text-transformer": PerSample(max_norm=3.0),
    "gnn-molecules": PerSample(max_norm=2.7),
}
"""How workloads with per-sample gradients are clipped: about half of the samples are, at reduced size and with seed 0
(looked up in PyTorch), so that a factor that is always 1 is seen, and one that never is. The cheapest one has noise."""


def clipped(workload: str, scenario: str) -> PerSample | None:
    """Return how gradients are clipped; None in scenarios without per-sample gradients."""
    return CLIPPED.get(workload, PerSample()) if scenario == "per-sample-gradients" else None


PADDINGS = ("longest", "buckets:4")
"""Ways in which batches of sequences have different lengths."""

MANY = 20
"""Arrays of a model: with more, a compiler works for minutes, and the model is computed in the default mode only."""
REFERENCE = min(DECLARED, key=lambda name: DECLARED[name].info.reference_rank)

THE_REFERENCE = "the reference"
"""The label of the one that measures how far others may be off."""

IN_EVERY_PRECISION = ("mlp-mnist", "cnn-cifar10")
"""Workloads that are computed with each value of each option."""

WITH_ATTENTION = "text-transformer"
"""The one that is computed with each value of the option `attention`, in the precisions that stand beside it."""

LIVING = 3
"""How many processes are kept waiting for more work: a certificate takes a framework's, the same framework's in float64
and the reference's, of which each holds up to 2 GB. With fewer each of them is started anew for every certificate."""


LATER_STEPS = later_steps(CERTIFY_STEPS, FEW_CERTIFY_STEPS)
"""Steps of a certificate behind its first: those of small models, or those of large ones in every second version of the
sources, so that honest contenders pass and planted faults are caught with either."""


class Session:
    """What all contenders of one run of the tests share; tests/contract/conftest.py sets the folder and ends it."""

    folder: ClassVar[Path]
    """For answers, arrays and batches; the same in all processes of a run with `pytest -n`."""
    living: ClassVar[list[Computed]] = []
    """Whose process waits for more work; the last one is the one that worked last."""

    at_end: ClassVar[list[Callable[[], None]]] = []
    """What else is to be ended."""

    @classmethod
    def end(cls) -> None:
        """End all processes."""
        while cls.living:
            cls.living.pop().end()
        while cls.at_end:
            cls.at_end.pop()()


def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Share one folder among all processes of this run of the tests, and leave no process running."""
    base = tmp_path_factory.getbasetemp()
    Session.folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "contract"
    Session.folder.mkdir(exist_ok=True)
    yield
    Session.end()


class Computed:
    """What one contender computes: each piece of work when a test asks for it first, all of it in one process.

    Answers are kept on disk, so that the reference's are computed once for all processes of a run with `pytest -n`.
    """

    def __init__(self, contender: Contender, *, is_mode: bool = False, purpose: Purpose = "certify") -> None:
        """Take the contender, what its evidence is for, and whether it is of MODES: of those compiling is looked at."""
        self._contender = contender
        self._is_mode = is_mode
        self._purpose: Purpose = purpose
        self._is_reference = purpose == "reference"
        self._info = DECLARED[contender.framework].info
        self._options = resolve_options(self._info, contender, {}, usable_cores())
        usual = msgspec.structs.replace(contender, options={"threads": "1"})
        self._learns = self._is_reference or self._options == resolve_options(self._info, usual, {}, usable_cores())
        identity = msgspec.json.encode([contender.framework, self._options, purpose], order="sorted")
        self._folder = Session.folder / f"{contender.framework}-{hashlib.sha256(identity).hexdigest()[:16]}"
        self._folder.mkdir(exist_ok=True)
        self._child: Child | None = None

    def of(self, name: str, trial: TrialSpec | None = None, folder: Path | None = None) -> dict[str, NDArray[Any]]:
        """Return the arrays of one piece of work; its failure is the test's, and so is a refusal.

        `folder` is a copy of the framework's with a planted fault, in a folder of its own.
        """
        answer = self._answer(name, trial, folder)
        if answer.hole:
            pytest.fail(f"{name} is refused: {answer.hole}", pytrace=False)
        if answer.fault:
            pytest.fail(answer.fault, pytrace=False)
        with np.load(self._path(name, "npz", folder), allow_pickle=False) as file:
            arrays = dict(file)
        assert arrays, f"nothing was computed for {name}"
        return arrays

    def exhibit(
        self, label: str, workload: str, scenario: Scenario, path: Path | None = None, folder: Path | None = None
    ) -> Exhibit:
        """Return the evidence of a workload in a scenario, or of a file that stands for the workload.

        `folder` is a copy of the framework's with a planted fault.
        """
        return self._exhibit(label, self._workload(workload, scenario, path, folder))

    def padded(self, label: str, workload: str, padding: str) -> Exhibit:
        """Return the evidence of a workload's training on batches that `--padding` makes of different lengths."""
        trial = msgspec.structs.replace(self._trial(workload, "train"), inputs_path=str(_inputs(workload, padding)))
        return self._exhibit(label, self.of(f"{workload}/train/{padding}", trial))

    def _exhibit(self, label: str, arrays: dict[str, NDArray[Any]]) -> Exhibit:
        """Return what was computed of a workload as evidence."""
        arrays.pop("settings")
        evidence = msgspec.json.decode(str(arrays.pop("evidence")), type=Evidence)
        return Exhibit(label=label, evidence=evidence, arrays=arrays, precision=self._options["precision"])

    def steady(self, workload: str, folder: Path | None = None) -> dict[str, NDArray[Any]]:
        """Return what steps from a snapshot give, and again after `restore`; `folder` as in `exhibit`."""
        trial = msgspec.structs.replace(self._trial(workload, "train"), purpose="time")
        return self.of(f"steady/{workload}", trial, folder)

    def lowered(self, workload: str, precision: str, folder: Path | None = None) -> list[str]:
        """Return the products in a training step as a GPU's compiler gets it; `folder` as in `exhibit`."""
        trial = self._trial(workload, "train")
        asked = msgspec.structs.replace(trial.contender, options=self._options | {"precision": precision})
        trial = msgspec.structs.replace(trial, contender=asked)
        return [str(product) for product in self.of(f"lowered/{workload}/{precision}", trial, folder)["products"]]

    def traced(self, workload: str, *, compared: bool = False) -> dict[str, NDArray[Any]]:
        """Return the trace of a workload's steps; `compared` with what steps without scopes give."""
        name = f"{'compared' if compared else 'traced'}/{workload}"
        trial = msgspec.structs.replace(self._trial(workload, "train"), purpose="time", name=name)
        return self.of(f"traced/{name}", trial)

    def settings(self, workload: str, scenario: Scenario) -> dict[str, Any]:
        """Return what was read back after a workload in a scenario."""
        settings: dict[str, Any] = json.loads(str(self._workload(workload, scenario)["settings"]))
        return settings

    def refuses(self, name: str) -> bool:
        """Return whether the framework refuses a piece of work with a reason."""
        return bool(self.refusal(name))

    def refusal(self, name: str) -> str:
        """Return the reason with which the framework refuses a piece of work; empty where it computes it."""
        workload, _, scenario = name.rpartition("/")
        trial = self._trial(workload, scenario) if workload in KNOWN else None  # type: ignore[arg-type]
        return self._answer(name, trial).hole

    def end(self) -> None:
        """End the process; what it has computed stays."""
        if self._child is not None:
            self._child.end()

    def _workload(
        self, workload: str, scenario: Scenario, path: Path | None = None, folder: Path | None = None
    ) -> dict[str, NDArray[Any]]:
        """Return what was computed of a workload, or of the file that stands for it."""
        trial = self._trial(workload, scenario, path)
        if folder:
            trial = msgspec.structs.replace(trial, learning_steps=0)
        return self.of(f"{path.stem if path else workload}/{scenario}", trial, folder)

    def _answer(self, name: str, trial: TrialSpec | None, folder: Path | None = None) -> Answer:
        """Return how a piece of work has ended, in whichever process of this run it was asked for first."""
        if self._is_mode and self._child is None and name != "compilation":
            # A framework may compile less for a process that has compiled already: this comes first in every one.
            self._answer("compilation", None)
        kept = self._path(name, "json", folder)
        with filelock.FileLock(self._path(name, "lock", folder)):
            if not kept.exists():
                path = str(self._path(name, "npz", folder))
                asked = Request(name=name, path=path, trial=trial, folder=str(folder or ""))
                answer = self._living().ask(asked)
                kept.write_bytes(msgspec.json.encode(answer))
        return msgspec.json.decode(kept.read_bytes(), type=Answer)

    def _living(self) -> Child:
        """Return this contender's process, and end that of the contender which has been idle for longest."""
        if self._child is None:
            self._child = self._made()
        if self in Session.living:
            Session.living.remove(self)
        Session.living.append(self)
        for idle in Session.living[:-LIVING]:
            idle.end()
            Session.living.remove(idle)
        return self._child

    def _made(self) -> Child:
        """Return a process that is started by its first piece of work."""
        declared = DECLARED[self._contender.framework]
        # A framework that is not there fails here, with the remedy: a contract that was not checked does not hold.
        interpreter = resolve(self._contender, declared)
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        variables = {
            name: value.format(threads=self._options["threads"], cache=_cache(self._contender.framework))
            for name, value in variables_of(self._info, self._options).items()
        }
        job = Job(folder=str(declared.path), variables=variables, options=self._options)
        return Child(interpreter, job, folder, limit_s=LIMIT_S)

    def _path(self, name: str, kind: str, folder: Path | None = None) -> Path:
        """Return the file of one kind for one piece of work."""
        identity = f"{name} {folder.parent.name}" if folder else name
        return self._folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:16]}.{kind}"

    def _trial(self, workload: str, scenario: Scenario, path: Path | None = None) -> TrialSpec:
        """Return what is asked, as the conductor asks it; what learns has defaults, or is the reference."""
        loaded = KNOWN[workload]
        return TrialSpec(
            comparison="contract",
            name=f"{workload}/{scenario}",
            purpose=self._purpose,
            contender=msgspec.structs.replace(self._contender, options=self._options),
            framework_path=str(DECLARED[self._contender.framework].path),
            workload_path=str(path or loaded.path),
            workload_name=workload,
            scenario=scenario,
            per_sample=clipped(workload, scenario),
            size="reduced",
            batch_size=loaded.size("reduced").batch_size,
            seed=0,
            inputs_path=str(_inputs(workload)),
            certify_steps=LATER_STEPS,
            learning_steps=loaded.workload.learning_steps if self._learns and path is None else 0,
            spreads=_spreads(loaded) if self._is_reference and path is None else (),
        )


@functools.cache
def is_deep(workload: str) -> bool:
    """Return whether a workload has many arrays at reduced size."""
    loaded = KNOWN[workload]
    return len(plan.parameters(loaded.build, loaded.size("reduced"))) > MANY


def subjects_in(name: str, mode: str) -> list[tuple[str, Scenario]]:
    """Return the workloads that a framework computes in a mode: all in its default one."""
    every = mode == DECLARED[name].info.options["mode"].default
    return [(workload, scenario) for workload, scenario in SUBJECTS if every or not is_deep(workload)]


@functools.cache
def computed(name: str, mode: str | None = None) -> Computed:
    """Return what a framework computes in a mode, its default one where none is named; on one thread.

    Several wait for each other by spinning, as `reference` says; the tests of denormals have two.
    """
    mode = mode or DECLARED[name].info.options["mode"].default
    return Computed(Contender(framework=name, label=name, options={"mode": mode, "threads": "1"}), is_mode=True)


@functools.cache
def reference() -> Computed:
    """Return what the reference computes, in float64.

    On one thread: several wait for each other by spinning, which beside other work takes ten times as long.
    """
    options = dict(DECLARED[REFERENCE].info.reference or {}) | {"threads": "1", OPTION: PLAIN}
    return Computed(Contender(framework=REFERENCE, label=THE_REFERENCE, options=options), purpose="reference")


@functools.cache
def program(name: str) -> Computed | None:
    """Return what a framework computes in float64, in its default mode; None where it has no float64."""
    if "float64" not in DECLARED[name].info.options["precision"].values:
        return None
    options = {"precision": "float64", "threads": "1"}
    return Computed(Contender(framework=name, label=name, options=options), purpose="program")


def _cache(framework: str) -> Path:
    """Return the folder in which a framework keeps what it has compiled, for all its processes in this run.

    What is compiled for `compilation` is asked for once in a mode, and occurs nowhere else.
    """
    folder = Session.folder / f"cache-{framework}"
    folder.mkdir(exist_ok=True)
    return folder


def _spreads(loaded: LoadedWorkload) -> tuple[str, ...]:
    """Return the precisions that the tests hold contenders in: short ones in the smallest workloads only."""
    short = ("tf32", "bfloat16", "float16")
    return ("float64", "float32", *(short if loaded.workload.name in (*IN_EVERY_PRECISION, WITH_ATTENTION) else ()))


@functools.cache
def computed_by(text: str) -> Computed:
    """Return what a contender computes, written as its user writes it; on one thread where it names no number."""
    asked = parse_contender(text)
    return Computed(msgspec.structs.replace(asked, options={"threads": "1"} | asked.options))


@functools.cache
def _inputs(workload: str, padding: str = FIXED) -> Path:
    """Write a workload's batches of the reduced size, padded in this way, once for all frameworks."""
    folder = Path(tempfile.mkdtemp(dir=Session.folder))
    loaded = KNOWN[workload]
    size = loaded.size("reduced")
    data.prepare(None, loaded.workload, size, size.batch_size, 0, folder, padding=padding, file=loaded.path)
    return folder


def shapes_of(workload: str, padding: str, steps: int) -> int:
    """Return how many shapes the batches of so many steps have."""
    about = msgspec.json.decode((_inputs(workload, padding) / "inputs.json").read_bytes(), type=Inputs)
    return len({tuple(one.items()) for one in about.shapes()[:steps]})
