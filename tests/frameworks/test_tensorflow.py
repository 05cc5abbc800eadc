from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from asking import answer

from bakeoff.environments.declared import frameworks

SHARED = ("settings", "traces", "collecting", "passes", "float64")
"""Tasks that one process does, in this order: the last ones switch what is global."""


def ask(*tasks: str, **variables: str) -> Any:
    """Do tasks of the child in TensorFlow's interpreter, with a worker's variables; return the result of each."""
    declared = frameworks()["tensorflow"].info.variables
    return answer("tensorflow", "tensorflow_child.py", *tasks, **variables | {one.name: one.value for one in declared})


@functools.cache
def told() -> Any:
    """Return the results of the tasks that share a process."""
    return ask(*SHARED)


def test_a_step_is_traced_once() -> None:
    """However many batches are rotated, a step is traced once, and not at all in eager mode."""
    assert told()["traces"] == {
        f"{mode} {scenario}": None if mode == "eager" else 1
        for mode in ("eager", "graph", "compiled")
        for scenario in ("train", "infer")
    }


@pytest.mark.by_turns
def test_a_gpu_that_is_not_there_is_told_with_its_reason() -> None:
    """The processor's build says that it has no CUDA."""
    assert ask("cuda")["cuda"].endswith("here is its build for processors, without CUDA")


@pytest.mark.by_turns
def test_a_users_keras_settings_change_nothing(tmp_path: Path) -> None:
    """Another backend, layout or precision in the user's keras.json has no part in what is computed."""
    users = {"backend": "jax", "floatx": "float16", "image_data_format": "channels_first", "epsilon": 0.5}
    (tmp_path / "keras.json").write_text(json.dumps(users))
    assert ask("settings", KERAS_HOME=str(tmp_path))["settings"] == told()["settings"]


@pytest.mark.by_turns
def test_optimizers_are_exact_in_float64() -> None:
    """In float64 no constant of an optimiser passes through float32, as plain floats do in Keras."""
    corrected = 1 / (1 + 0.1)  # with gradients of one, both corrected moments are one at every step
    first, second = (1 - 0.99) ** 0.5, (1 - 0.99**2) ** 0.5
    decayed = 1 - 0.1 * 0.3
    velocity = 1 + 0.3
    then = 1 - 0.1 * velocity
    assert told()["float64"] == {
        "sgd": pytest.approx(then - 0.1 * (0.9 * velocity + 1 + 0.3 * then), rel=1e-14),
        "adam": pytest.approx(1 - 2 * 0.1 * corrected, rel=1e-14),
        "adamw": pytest.approx((decayed - 0.1 * corrected) * decayed - 0.1 * corrected, rel=1e-14),
        "rmsprop": pytest.approx(1 - 0.1 / (first + 0.1) - 0.1 / (second + 0.1), rel=1e-14),
    }


@pytest.fixture(scope="module")
def passes() -> Any:
    """Give a small step with each of Grappler's passes switched off and alone."""
    return told()["passes"]


def test_a_pass_that_is_said_to_be_off_and_is_on_is_read_back(passes: Any) -> None:
    """Every value of `grappler` is in force as asked, and one that something has turned on again is not told as off."""
    assert {word: told for word, (told, _) in passes["options"].items()} == {word: word for word in passes["options"]}
    assert passes["planted"] == "folding"


def test_a_pass_that_is_off_leaves_another_graph(passes: Any) -> None:
    """The step that runs without the four has more nodes than with them, and folding alone fewer than none."""
    nodes = {word: count for word, (_, count) in passes["options"].items()}
    assert nodes["default"] < nodes["none"]
    assert nodes["folding"] < nodes["none"]
    assert len(set(nodes.values())) > 2


def test_grapplers_passes_are_counted_one_by_one(passes: Any) -> None:
    """The graph before, after passes behind each other, each alone and each left out; what is gone was there before."""
    stages = {tuple(names): (nodes, removed) for names, nodes, removed in passes["stages"]}
    every = ("pruning", "constant folding", "arithmetic", "dependency")
    assert {every[:length] for length in range(5)} <= stages.keys()
    assert {(name,) for name in every} | {tuple(o for o in every if o != name) for name in every} <= stages.keys()
    before, nothing = stages[()]
    after, removed = stages[every]
    assert sum(nothing.values()) == 0
    assert sum(after.values()) < sum(before.values())
    assert all(removed[name] <= before[name] for name in before)
    # A convolution and a product, forward and backward, and no pass may take one away.
    assert before["expensive"] == after["expensive"] + removed["expensive"] >= 5
    assert removed["no op"] > 0


def test_both_functions_of_a_step_that_collects_are_read_or_none_is() -> None:
    """As graphs both are known; compiled, where two programs have the same names, there is no profile, and why."""
    found = told()["collecting"]
    graph, compiled = found["graph"], found["compiled"]
    assert graph == ["layers", "", True, True]
    assert compiled[0] == "none"
    assert "a step that collects is two programs" in compiled[1]
