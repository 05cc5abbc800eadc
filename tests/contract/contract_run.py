"""Every framework and workload that is found, by location; what each computes, in its own interpreter."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from contract_cases.holes import HOLES

import bakeoff
from bakeoff import data
from bakeoff.certify.certificate import Exhibit
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.environments.options import resolve_options, variables_of
from bakeoff.measure.machine import usable_cores
from bakeoff.spec.contender import Contender, parse_contender
from bakeoff.spec.record import Evidence
from bakeoff.spec.trial import TrialSpec
from bakeoff.workloads import plan
from bakeoff.workloads.load import load, names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bakeoff.spec.scenario import Scenario

HERE = Path(__file__).parent
LIMIT_S = 900  # the compilers of all frameworks on one slow processor; Jittor compiles every operator by g++
DECLARED = {name: found for name, found in frameworks().items() if found.info.listed}
MODES = [(name, mode) for name, found in DECLARED.items() for mode in found.info.options["mode"].values]
EXAMPLES = sorted((HERE.parents[1] / "examples").glob("*.py"))
WORKLOADS = {loaded.workload.name: loaded for loaded in map(load, [*names(), *EXAMPLES])}
SUBJECTS: list[tuple[str, Scenario]] = [
    (name, scenario) for name, loaded in WORKLOADS.items() for scenario in loaded.workload.scenarios
]
MANY = 20
"""Of the arrays of a model: one with more has a compiler work for minutes, and is computed in the default mode only."""
REFERENCE = min(DECLARED, key=lambda name: DECLARED[name].info.reference_rank)


class Found(msgspec.Struct, frozen=True):
    """What one framework computed in one mode: arrays by name, and what failed, with its traceback."""

    arrays: dict[str, Any] = {}
    faults: dict[str, str] = {}
    crash: str = ""
    """How the whole process failed; kept, so that it fails every test without being started again."""
    holes: dict[str, str] = {}
    """The reason of each piece of work that the framework lacks."""
    known: frozenset[str] = frozenset()
    """The holes that are expected of this framework."""

    def of(self, name: str) -> dict[str, NDArray[Any]]:
        """Give the arrays of one piece of work; its failure is the test's, and a known hole is nothing to test."""
        if name in self.known & self.holes.keys():
            pytest.skip(f"a hole: {self.holes[name]}")
        if name in self.holes:
            pytest.fail(f"{name} is refused, and is no known hole: {self.holes[name]}", pytrace=False)
        if self.crash or name in self.faults:
            pytest.fail(self.crash or self.faults[name], pytrace=False)
        arrays = {
            key.removeprefix(f"{name}/"): value for key, value in self.arrays.items() if key.startswith(f"{name}/")
        }
        assert arrays, f"nothing was computed for {name}"
        return arrays

    def exhibit(self, label: str, workload: str, scenario: Scenario) -> Exhibit:
        """Give the evidence of a workload in a scenario."""
        arrays = self.of(f"{workload}/{scenario}")
        arrays.pop("settings")
        evidence = msgspec.json.decode(str(arrays.pop("evidence")), type=Evidence)
        return Exhibit(label=label, evidence=evidence, arrays=arrays)

    def settings(self, workload: str, scenario: Scenario) -> dict[str, Any]:
        """Give what was read back after a workload in a scenario."""
        settings: dict[str, Any] = json.loads(str(self.of(f"{workload}/{scenario}")["settings"]))
        return settings


@functools.cache
def is_deep(workload: str) -> bool:
    """Tell whether a workload has many arrays at reduced size."""
    loaded = WORKLOADS[workload]
    return len(plan.parameters(loaded.build, loaded.size("reduced"))) > MANY


def subjects_in(name: str, mode: str | None) -> list[tuple[str, Scenario]]:
    """Give the workloads that a framework computes in a mode: all in its default one and as the reference."""
    every = mode in (None, DECLARED[name].info.options["mode"].default)
    return [(workload, scenario) for workload, scenario in SUBJECTS if every or not is_deep(workload)]


@functools.cache
def computed(name: str, mode: str | None) -> Found:
    """Give what a framework computes in a mode, or as the reference in float64 where the mode is None."""
    info = DECLARED[name].info
    options = {"mode": mode} if mode else dict(info.reference or {})
    default = mode == info.options["mode"].default
    contender = Contender(framework=name, label=name, options=options)
    return _computed(
        contender,
        subjects_in(name, mode),
        vocabulary=default,
        optimizers=mode is not None,
        learn=default or mode is None,
    )


@functools.cache
def computed_by(text: str, subjects: tuple[tuple[str, Scenario], ...]) -> Found:
    """Give what a contender, written as its user writes it, computes of some workloads."""
    return _computed(parse_contender(text), subjects)


@functools.cache
def fed(name: str) -> Found:
    """Give what a framework's own ways of input give."""
    return _computed(Contender(framework=name, label=name), (), inputs=True)


def computed_of(files: Mapping[str, tuple[str, Path]]) -> Found:
    """Give what the reference computes of files that stand for workloads, by the names that are given to them."""
    contender = Contender(framework=REFERENCE, label=REFERENCE, options=dict(DECLARED[REFERENCE].info.reference or {}))
    return _computed(contender, (), files=files)


def _computed(  # noqa: PLR0913 - the parts of a job
    contender: Contender,
    subjects: Iterable[tuple[str, Scenario]],
    *,
    vocabulary: bool = False,
    optimizers: bool = False,
    inputs: bool = False,
    learn: bool = False,
    files: Mapping[str, tuple[str, Path]] | None = None,
) -> Found:
    """Give what a contender computes."""
    name = contender.framework
    info = DECLARED[name].info
    # A framework that is not there fails here, with the remedy: a contract that was not checked does not hold.
    interpreter = resolve(contender, DECLARED[name])
    options = resolve_options(info, contender, {}, usable_cores())
    with tempfile.TemporaryDirectory() as folder:
        job = {
            "folder": str(DECLARED[name].path),
            "variables": {
                name: value.format(threads=options["threads"], cache=folder)
                for name, value in variables_of(info, options).items()
            },
            "options": options,
            "vocabulary": vocabulary,
            "optimizers": optimizers,
            "inputs": [value for value in info.options["input"].values if value != "resident"] if inputs else [],
            "trials": [_trial(contender, options, *subject, learn=learn) for subject in subjects]
            + [
                msgspec.structs.replace(
                    _trial(contender, options, workload, "train", learn=False),
                    name=f"{name}/train",
                    workload_path=str(path),
                )
                for name, (workload, path) in (files or {}).items()
            ],
        }
        return msgspec.structs.replace(_run(interpreter, job, Path(folder)), known=HOLES.get(name, frozenset()))


def _run(interpreter: str, job: dict[str, Any], folder: Path) -> Found:
    """Run child.py in an interpreter."""
    (folder / "job.json").write_bytes(msgspec.json.encode(job))
    command = [interpreter, str(HERE / "child.py"), str(folder / "job.json"), str(folder / "out")]
    sources = os.pathsep.join(map(str, (Path(bakeoff.__file__).parents[1], HERE)))
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=os.environ | {"PYTHONPATH": sources},
    )
    if done.returncode:
        return Found(crash=f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    with np.load(folder / "out.npz", allow_pickle=False) as file:
        arrays = dict(file)
    return Found(arrays, **json.loads((folder / "out.json").read_text()))


@functools.cache
def _inputs(workload: str) -> Path:
    """Write a workload's batches of the reduced size once for all frameworks."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    loaded = WORKLOADS[workload]
    size = loaded.size("reduced")
    data.prepare(None, loaded.workload, size, size.batch_size, 0, Path(folder))
    return Path(folder)


def _trial(
    contender: Contender, options: dict[str, str], workload: str, scenario: Scenario, *, learn: bool
) -> TrialSpec:
    """Say what is asked, as the conductor does."""
    loaded = WORKLOADS[workload]
    return TrialSpec(
        comparison="contract",
        name=f"{workload}/{scenario}",
        purpose="certify",
        contender=msgspec.structs.replace(contender, options=options),
        framework_path=str(DECLARED[contender.framework].path),
        workload_path=str(loaded.path),
        workload_name=workload,
        scenario=scenario,
        size="reduced",
        batch_size=loaded.size("reduced").batch_size,
        seed=0,
        inputs_path=str(_inputs(workload)),
        learning_steps=loaded.workload.learning_steps if learn else 0,
    )
