from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from asking import answer

from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import resolve_options
from bakeoff.spec.contender import Contender
from bakeoff.workloads.load import load

SCENARIOS = {"torch": "train", "tensorflow": "train", "jax": "infer"}
"""What each is asked for: compiling a whole training step takes JAX half a minute."""
PARAMETERS = {"torch": 23_528_522, "tensorflow": 23_555_082, "jax": 23_555_082}
"""keras.applications' ResNet50 has a bias in every convolution."""

MODELS = pytest.mark.parametrize("name", SCENARIOS)
pytestmark = pytest.mark.timeout(400)


@functools.cache
def told(name: str) -> Any:
    """Return what a framework's ready-made model tells."""
    # On one thread: sums over several need not be the same to the last bit while another process is computing.
    options = resolve_options(frameworks()[name].info, Contender(framework=name, label=name), {}, 1)
    return answer(name, "ready_made_child.py", name, SCENARIOS[name], json.dumps(options))


@MODELS
@pytest.mark.by_turns
def test_a_ready_made_model_computes(name: str) -> None:
    """Built at full size without anything downloaded, it gives finite outputs, and in training losses that change."""
    found = told(name)
    assert (found["shape"], found["finite"]) == ([2, 10], True)
    assert len(set(found["losses"])) == (2 if SCENARIOS[name] == "train" else 0)
    assert found["settings"]["precision"] == "float32"
    assert found["settings"].get("attention", "") is not None  # what its library attends by is not denied


@MODELS
@pytest.mark.by_turns
def test_a_ready_made_model_repeats_its_steps(name: str) -> None:
    """After `restore` it does the same steps again, and its optimiser has an array for each parameter in training."""
    found = told(name)
    assert found["again"] == found["losses"]
    assert found["optimizer"] == (PARAMETERS[name] if SCENARIOS[name] == "train" else 0)


@MODELS
@pytest.mark.by_turns
def test_its_parameters_are_its_own(name: str) -> None:
    """It has the parameters of its library's model, more than the workload's where that has other layers."""
    assert told(name)["parameters"] == PARAMETERS[name] >= load("resnet50-cifar10").size("full").parameters


@MODELS
def test_it_stands_for_one_size(name: str) -> None:
    """At another size than that of the ready-made model, the model is refused: it would be another network's time."""
    assert "stands for the size with 23,528,522 parameters; this one has" in told(name)["refused"]


@MODELS
def test_holes_have_reasons(name: str) -> None:
    """Where there is no ready-made model, the reason is told."""
    reasons = told(name)["holes"]
    assert "written by hand" in reasons["mlp-mnist"]
    assert ("KerasHub" in reasons.get("vit-b16", "")) == (name != "torch")


@MODELS
def test_layers_that_are_not_trained_are_parameters_too(name: str) -> None:
    """A body that is frozen in Keras counts, so that a certificate sees that steps leave most arrays as they were."""
    found = told(name)["frozen"]
    assert found is None if name == "torch" else found >= PARAMETERS[name]
