"""Batches of several arrays, integers and real numbers of any shape, are the same to every framework as to NumPy."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

import bakeoff
from bakeoff import data
from bakeoff.certify.certificate import certify
from bakeoff.certify.checks import Exhibit
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.environments.options import resolve_options, variables_of
from bakeoff.measure.machine import usable_cores
from bakeoff.spec.batch import Batch
from bakeoff.spec.contender import Contender
from bakeoff.spec.evidence import Evidence
from bakeoff.spec.trial import TrialSpec
from bakeoff.trial.inputs import Batches
from bakeoff.workloads import plan
from bakeoff.workloads.load import load

HERE = Path(__file__).parent
WORKLOADS = {name: load(HERE / "contract_cases" / f"{name}.py") for name in ("named_arrays", "maps")}
DECLARED = {name: found for name, found in frameworks().items() if found.info.listed}
REFERENCE = min(DECLARED, key=lambda name: DECLARED[name].info.reference_rank)
LIMIT_S = 300  # Jittor compiles every operator by g++
STEPS = 5

pytestmark = pytest.mark.timeout(2 * LIMIT_S)
FRAMEWORKS = pytest.mark.parametrize("name", sorted(DECLARED))
SUBJECTS = pytest.mark.parametrize("workload", WORKLOADS)


@functools.cache
def computed(name: str, *, reference: bool = False) -> dict[str, tuple[Exhibit, dict[str, Any]]]:
    """Return a framework's evidence of each workload, and what else its child has written down."""
    info = DECLARED[name].info
    own = dict(info.reference or {}) if reference else {}
    asked = Contender(framework=name, label=name, options={"threads": "1"} | own)
    options = resolve_options(info, asked, {}, usable_cores())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        variables = {
            key: value.format(threads=options["threads"], cache=folder / "cache")
            for key, value in variables_of(info, options).items()
        }
        inputs = [] if reference else [mode for mode in info.options["input"].values if mode != "resident"]
        trials = [
            trial_of(workload, msgspec.structs.replace(asked, options=options), folder / f"inputs-{workload}")
            for workload in WORKLOADS
        ]
        if reference:
            trials = [msgspec.structs.replace(trial, spreads=("float32",)) for trial in trials]
        job = {"variables": variables, "trials": trials, "inputs": inputs}
        (folder / "job.json").write_bytes(msgspec.json.encode(job))
        run(resolve(asked, DECLARED[name]), folder)
        return {workload: read(folder / workload, name, options["precision"]) for workload in WORKLOADS}


def trial_of(name: str, contender: Contender, inputs: Path) -> TrialSpec:
    """Write a workload's batches; return what is asked of a framework."""
    loaded = WORKLOADS[name]
    size = loaded.size("full")
    data.prepare(None, loaded.workload, size, size.batch_size, 0, inputs)
    return TrialSpec(
        comparison="contract",
        name=name,
        purpose="certify",
        contender=contender,
        framework_path=str(DECLARED[contender.framework].path),
        workload_path=str(loaded.path),
        workload_name=loaded.workload.name,
        scenario="train",
        size="full",
        batch_size=size.batch_size,
        seed=0,
        inputs_path=str(inputs),
        certify_steps=STEPS,
    )


def run(interpreter: str, folder: Path) -> None:
    """Run the child in an interpreter."""
    done = subprocess.run(
        [interpreter, str(HERE / "named_arrays_child.py"), str(folder / "job.json"), str(folder)],
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=os.environ | {"PYTHONPATH": str(Path(bakeoff.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr[-4000:]


def read(folder: Path, label: str, precision: str) -> tuple[Exhibit, dict[str, Any]]:
    """Read what the child has written of one workload."""
    evidence = msgspec.json.decode((folder / "evidence.json").read_bytes(), type=Evidence)
    with np.load(folder / "evidence.npz", allow_pickle=False) as arrays:
        exhibit = Exhibit(label=label, evidence=evidence, arrays=dict(arrays), precision=precision)
    return exhibit, json.loads((folder / "told.json").read_text())


def expected(workload: str, batch: Batch) -> NDArray[Any]:
    """Return the outputs of a batch by NumPy."""
    weights = plan.weights(WORKLOADS[workload].build, WORKLOADS[workload].size("full"), 0)
    if workload == "maps":
        return batch.inputs["x"] @ weights["convolution.weight"][0, 0] + weights["convolution.bias"]
    mean = weights["embedding.weight"][batch.inputs["tokens"]].mean(axis=1) * batch.inputs["length"]
    return (mean @ weights["head.weight"] + weights["head.bias"]).reshape(-1, 3, 4)


@FRAMEWORKS
@SUBJECTS
def test_the_model_gets_its_inputs_by_name(name: str, workload: str, tmp_path: Path) -> None:
    """Outputs are what NumPy computes from the arrays of these names, feature maps with their channels last."""
    exhibit, _ = computed(name)[workload]
    trial_of(workload, Contender(framework=name, label=name), tmp_path)
    batches = Batches(tmp_path)
    for index, at in enumerate(batches.ends):
        wanted = expected(workload, batches.at(at))
        assert exhibit.arrays[f"output/{index}"].shape == wanted.shape
        assert exhibit.arrays[f"output/{index}"] == pytest.approx(wanted, abs=1e-5)


@FRAMEWORKS
@SUBJECTS
@pytest.mark.by_turns
def test_its_certificate_passes(name: str, workload: str) -> None:
    """Losses, gradients and the optimiser's steps with these targets are those of the reference in float64."""
    exhibit, _ = computed(name)[workload]
    reference, _ = computed(REFERENCE, reference=True)[workload]
    loaded = WORKLOADS[workload]
    certificate = certify(
        exhibit, reference, workload=loaded.workload, size=loaded.size("full"), scenario="train", steps=STEPS + 1
    )
    assert certificate.passed, certificate.reason


@FRAMEWORKS
@SUBJECTS
@pytest.mark.by_turns
def test_each_way_of_input_brings_all_arrays_of_a_sample(name: str, workload: str) -> None:
    """Copied or loaded, every sample comes once with its own values in every array, and steps take them so."""
    _, told = computed(name)[workload]
    for mode, seen in told["inputs"].items():
        assert (seen["missing"], seen["strange"]) == (0, 0), mode
        assert seen["in_order"] == (mode == "per-step"), mode
        assert seen["difference"] == pytest.approx(0, abs=1e-6), mode
    assert "per-step" in told["inputs"]


@FRAMEWORKS
def test_an_unknown_scenario_is_refused(name: str) -> None:
    """No engine runs a scenario that it has no step for, as training or as anything else; it says what it has."""
    _, told = computed(name)["maps"]
    assert "no step for the scenario 'sideways'; it has train, infer" in told["refused"]
