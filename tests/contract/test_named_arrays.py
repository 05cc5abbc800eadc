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

import bakeoff
from bakeoff import data
from bakeoff.certify.certificate import Exhibit, certify
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.environments.options import resolve_options, variables_of
from bakeoff.measure.machine import usable_cores
from bakeoff.spec.contender import Contender
from bakeoff.spec.record import Evidence
from bakeoff.spec.trial import TrialSpec
from bakeoff.trial.inputs import Batches
from bakeoff.workloads import plan
from bakeoff.workloads.load import load

HERE = Path(__file__).parent
WORKLOAD = load(HERE / "contract_cases" / "named_arrays.py")
SIZE = WORKLOAD.size("full")
DECLARED = {name: found for name, found in frameworks().items() if found.info.listed}
REFERENCE = min(DECLARED, key=lambda name: DECLARED[name].info.reference_rank)
LIMIT_S = 300  # Jittor compiles every operator by g++
STEPS = 5

pytestmark = pytest.mark.timeout(2 * LIMIT_S)
FRAMEWORKS = pytest.mark.parametrize("name", sorted(DECLARED))


@functools.cache
def computed(name: str, *, reference: bool = False) -> tuple[Exhibit, dict[str, Any]]:
    """Return a framework's evidence, and what else its child has written down."""
    info = DECLARED[name].info
    asked = Contender(framework=name, label=name, options=dict(info.reference or {}) if reference else {})
    options = resolve_options(info, asked, {}, usable_cores())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data.prepare(None, WORKLOAD.workload, SIZE, SIZE.batch_size, 0, folder / "inputs")
        trial = TrialSpec(
            comparison="contract",
            name="certify",
            purpose="certify",
            contender=msgspec.structs.replace(asked, options=options),
            framework_path=str(DECLARED[name].path),
            workload_path=str(WORKLOAD.path),
            workload_name=WORKLOAD.workload.name,
            scenario="train",
            size="full",
            batch_size=SIZE.batch_size,
            seed=0,
            inputs_path=str(folder / "inputs"),
            certify_steps=STEPS,
        )
        variables = {
            key: value.format(threads=options["threads"], cache=folder / "cache")
            for key, value in variables_of(info, options).items()
        }
        inputs = [] if reference else [mode for mode in info.options["input"].values if mode != "resident"]
        (folder / "job.json").write_bytes(
            msgspec.json.encode({"variables": variables, "trial": trial, "inputs": inputs})
        )
        return run(resolve(asked, DECLARED[name]), folder, name)


def run(interpreter: str, folder: Path, name: str) -> tuple[Exhibit, dict[str, Any]]:
    """Run the child in an interpreter, and read what it has written."""
    done = subprocess.run(
        [interpreter, str(HERE / "named_arrays_child.py"), str(folder / "job.json"), str(folder)],
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=os.environ | {"PYTHONPATH": str(Path(bakeoff.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    evidence = msgspec.json.decode((folder / "evidence.json").read_bytes(), type=Evidence)
    with np.load(folder / "evidence.npz", allow_pickle=False) as arrays:
        exhibit = Exhibit(label=name, evidence=evidence, arrays=dict(arrays))
    return exhibit, json.loads((folder / "told.json").read_text())


@FRAMEWORKS
def test_the_model_gets_its_inputs_by_name(name: str, tmp_path: Path) -> None:
    """Outputs are what NumPy computes from the arrays of these names."""
    exhibit, _ = computed(name)
    data.prepare(None, WORKLOAD.workload, SIZE, SIZE.batch_size, 0, tmp_path)
    weights = plan.weights(WORKLOAD.build, SIZE, 0)
    for index in range(exhibit.evidence.outputs):
        inputs = Batches(tmp_path).at(index).inputs
        mean = weights["embedding.weight"][inputs["tokens"]].mean(axis=1) * inputs["length"]
        expected = (mean @ weights["head.weight"] + weights["head.bias"]).reshape(-1, 3, 4)
        assert exhibit.arrays[f"output/{index}"].shape == (SIZE.batch_size, 3, 4)
        assert exhibit.arrays[f"output/{index}"] == pytest.approx(expected, abs=1e-5)


@FRAMEWORKS
def test_its_certificate_passes(name: str) -> None:
    """Losses, gradients and the optimiser's steps with two targets are those of the reference in float64."""
    exhibit, _ = computed(name)
    reference, _ = computed(REFERENCE, reference=True)
    certificate = certify(exhibit, reference, workload=WORKLOAD.workload, size=SIZE, scenario="train", steps=STEPS + 1)
    assert certificate.passed, certificate.reason


@FRAMEWORKS
def test_each_way_of_input_brings_all_arrays_of_a_sample(name: str) -> None:
    """Copied or loaded, every sample comes once with its own values in every array, and steps take them so."""
    _, told = computed(name)
    for mode, seen in told["inputs"].items():
        assert (seen["missing"], seen["strange"]) == (0, 0), mode
        assert seen["in_order"] == (mode == "per-step"), mode
        assert seen["difference"] == pytest.approx(0, abs=1e-6), mode
    assert "per-step" in told["inputs"]


@FRAMEWORKS
def test_an_unknown_scenario_is_refused(name: str) -> None:
    """No engine runs a scenario that it has no step for, as training or as anything else; it says what it has."""
    _, told = computed(name)
    assert "no step for the scenario 'sideways'; it has train, infer" in told["refused"]
