from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from asking import answer

from bakeoff import data
from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import resolve_options
from bakeoff.spec.contender import Contender
from bakeoff.spec.trial import TrialSpec
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from bakeoff.spec.scenario import Scenario

pytestmark = pytest.mark.timeout(1200)  # one process for all faults of a framework

TRAINING = (
    "no-update",
    "every-second",
    "head-only",
    "half-the-rate",
    "half-the-batch-later",
    "stale-gradients",
    "bfloat16-later",
    "wrong-labels-later",
)
INFERENCE = ("nothing-later", "half-the-batch", "bfloat16")
PAIRS: dict[str, list[tuple[str, Scenario]]] = {
    "torch": [("mlp-mnist", "train"), ("resnet50", "train"), ("mlp-mnist", "infer"), ("resnet50", "infer")],
    "jax": [("mlp-mnist", "train")],
}
HONEST = [(framework, workload, scenario) for framework, pairs in PAIRS.items() for workload, scenario in pairs]


@functools.cache
def found(framework: str) -> Any:
    """Return what each fault of a framework's steps fails."""
    folder = Path(tempfile.mkdtemp())
    pairs = {
        f"{workload}/{scenario}": tuple(
            trial(framework, workload, scenario, folder, of) for of in ("float64", "float32")
        )
        for workload, scenario in PAIRS[framework]
    }
    (folder / "trials.json").write_bytes(msgspec.json.encode(pairs))
    return answer(framework, "mutants_child.py", str(folder / "trials.json"))


def trial(framework: str, workload: str, scenario: Scenario, folder: Path, precision: str) -> TrialSpec:
    """Return the trial of a certificate at reduced size."""
    loaded, declared = load(workload), frameworks()[framework]
    size = loaded.size("reduced")
    inputs = folder / workload
    if not inputs.exists():
        inputs.mkdir()
        data.prepare(None, loaded.workload, size, size.batch_size, 0, inputs)
    contender = Contender(framework=framework, label=framework, options={"precision": precision})
    return TrialSpec(
        comparison="mutants",
        name=f"{workload}-{scenario}-{precision}",
        purpose="certify",
        contender=msgspec.structs.replace(contender, options=resolve_options(declared.info, contender, {}, 2)),
        framework_path=str(declared.path),
        workload_path=str(loaded.path),
        workload_name=workload,
        scenario=scenario,
        size="reduced",
        batch_size=size.batch_size,
        seed=0,
        inputs_path=str(inputs),
        spreads=("float32",) if precision == "float64" else (),
    )


@pytest.mark.parametrize(("framework", "workload", "scenario"), HONEST)
def test_a_faultless_step_is_certified_with_room(framework: str, workload: str, scenario: Scenario) -> None:
    """What a step does and keeps is within a tenth of what is allowed."""
    honest = found(framework)[f"{workload}/{scenario}"]["honest"]
    assert honest["failed"] == []
    assert honest["room"] >= 10


@pytest.mark.parametrize("fault", TRAINING)
@pytest.mark.parametrize("workload", ["mlp-mnist", "resnet50"])
def test_a_training_step_that_does_something_else_is_refused(workload: str, fault: str) -> None:
    """Where only the first loss is held, what a step does to the parameters tells each of these faults."""
    assert found("torch")[f"{workload}/train"][fault]["failed"] == ["update"]


def test_a_normalisation_without_its_decay_is_refused() -> None:
    """The optimiser that a step really uses has the declared weight decay in all its groups."""
    assert found("torch")["resnet50/train"]["no-decay-of-norms"]["failed"] == ["update"]


@pytest.mark.parametrize("fault", INFERENCE)
@pytest.mark.parametrize("workload", ["mlp-mnist", "resnet50"])
def test_an_inference_step_that_does_something_else_is_refused(workload: str, fault: str) -> None:
    """What a timed step keeps is compared: the outputs that are returned when asked may be right."""
    assert found("torch")[f"{workload}/infer"][fault]["failed"] == ["ran"]


def test_a_step_that_forgets_its_parameters_is_refused() -> None:
    """A step of JAX whose new parameters are dropped, so that XLA drops the backward pass, is told by its updates."""
    assert found("jax")["mlp-mnist/train"]["parameters-not-kept"]["failed"] == ["update"]
