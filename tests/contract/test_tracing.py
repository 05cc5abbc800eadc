"""What each framework's profile tells of a step: scopes change nothing, and every layer has its time."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest
from contract_cases.traced import TRACES
from contract_run import DECLARED, LIMIT_S, WORKLOADS, computed
from numpy.typing import NDArray

from bakeoff.frameworks.scopes import KINDS_OF_LAYERS
from bakeoff.spec.explained import GraphStage, Share
from bakeoff.workloads import plan

pytestmark = pytest.mark.timeout(LIMIT_S)

PRESENT = {name: found for name, found in DECLARED.items() if (found.path / "tracing.py").exists()}
"""Frameworks whose profiles are read."""

TOLD = [name for name in PRESENT if name in ("torch", "tensorflow", "jax")]
"""Those that tell layers, in their default modes."""

COMPILED = [(name, "compiled") for name in ("torch", "tensorflow") if name in PRESENT]
"""Other modes that tell them, by other means."""

MOST_UNPLACED = 0.05
"""Of the time of operations, in no layer and not the optimiser's: the prototype found 0 to 2.3 %."""


def spent(found: dict[str, NDArray[Any]]) -> list[Share]:
    """Return what the steps of a trace spend, as a framework's own interpreter has written it."""
    assert str(found["level"]) == "layers", str(found["reason"])
    return msgspec.json.decode(str(found["shares"]), type=list[Share])


def layers(workload: str) -> set[str]:
    """Return the paths of a workload's layers that have weights; an array that is trained by itself is no layer."""
    loaded = WORKLOADS[workload]
    names = plan.parameters(loaded.build, loaded.size("reduced"))
    return {name.rpartition(".")[0] for name in names} - {""}


def placed(rows: list[Share], workload: str) -> None:
    """Assert that every layer has time in both passes, and that little time of operations has no place."""
    for phase in ("forward", "backward"):
        assert layers(workload) <= {row.layer for row in rows if row.phase == phase and row.share > 0}
    work = [row for row in rows if row.kind not in ("host dispatch", "idle", "optimiser")]
    lost = sum(row.share for row in work if not row.layer)
    assert lost <= MOST_UNPLACED * sum(row.share for row in work)
    assert any(row.kind == "optimiser" and row.share > 0 for row in rows)


@pytest.mark.parametrize("framework", TOLD)
def test_scopes_change_neither_numbers_nor_the_program(framework: str) -> None:
    """Steps with scopes give the same losses and parameters, bit for bit, by the same program but for its names."""
    found = computed(framework).traced("cnn-cifar10", compared=True)
    names = [name.removeprefix("plain/") for name in found if name.startswith("plain/")]
    assert len(names) > 1
    for name in names:
        np.testing.assert_array_equal(found[f"plain/{name}"], found[f"scoped/{name}"])
    plain, scoped = found["programs"]
    assert plain
    assert plain == scoped


@pytest.mark.parametrize("framework", TOLD)
def test_every_layer_has_its_time(framework: str) -> None:
    """All layers of a convolutional network have time forward and backward, and hardly any of the time has no layer."""
    rows = spent(computed(framework).traced("cnn-cifar10", compared=True))
    placed(rows, "cnn-cifar10")
    convolved = {(row.layer, row.phase) for row in rows if row.kind == "convolution"}
    assert {(layer, phase) for layer in layers("cnn-cifar10") for phase in ("forward", "backward")} <= convolved


@pytest.mark.parametrize("framework", TOLD)
@pytest.mark.parametrize("workload", ["vit-b16"])
def test_kinds_come_from_the_vocabulary_first(framework: str, workload: str) -> None:
    """In a transformer, attention and normalisation are what they are called, whatever they are computed by."""
    rows = spent(computed(framework).traced(workload))
    placed(rows, workload)
    known = {"attention_norm", "dense_norm", "norm"}
    normalised = [row for row in rows if row.layer.rpartition(".")[2] in known and row.kind != "host dispatch"]
    assert {row.kind for row in normalised} <= {*KINDS_OF_LAYERS.values(), "data movement"}
    assert {row.layer for row in rows if row.kind == "attention"} == {"layers.0.attention", "layers.1.attention"}
    assert {row.phase for row in rows if row.kind == "attention"} == {"forward", "backward"}


@pytest.mark.parametrize(("framework", "mode"), COMPILED)
def test_compiled_code_is_given_back_to_its_layers(framework: str, mode: str) -> None:
    """A compiler's kernels have the layers that they come from, without a hook in the model or another program."""
    found = computed(framework, mode).traced("cnn-cifar10", compared=True)
    plain, scoped = found["programs"]
    assert plain == scoped
    assert int(found["hooks"]) == 0, "Dynamo would trace them"
    np.testing.assert_array_equal(found["plain/loss"], found["scoped/loss"])
    rows = spent(found)
    placed(rows, "cnn-cifar10")
    assert json.loads(str(found["facts"]))["fusions"] > 0
    assert any(row.mixed for row in rows)


def test_a_layer_that_sleeps_is_found() -> None:
    """Time that Python spends in a layer's forward pass is that layer's, and the most of the step."""
    rows = [row for row in spent(computed("torch").of("sleeping")) if row.share > 0]
    assert (rows[0].kind, rows[0].layer) == ("host dispatch", "slow")


PLANTED = {
    "sleep": {"host dispatch"},
    "float64": {"matrix product", "data movement"},
    "transposed": {"data movement"},
}
"""By what benchmarks/planted plants in a layer, the kinds of operation that it may be by."""

GRAPPLER_UNDOES = ("tensorflow", "transposed")
"""Two transpositions of which one takes back the other: planted_causes.py has it with graph_optimization=off."""


@pytest.mark.parametrize(
    ("framework", "plant"),
    [(name, plant) for name in TOLD for plant in PLANTED if (name, plant) != GRAPPLER_UNDOES],
)
def test_a_cause_that_is_planted_in_a_layer_is_row_one(framework: str, plant: str) -> None:
    """Of all that traces without it and with it differ in, by time, the planted layer's row is the first."""
    found = computed(framework).of(f"planted/{plant}")
    before, after = (least(found, name) for name in ("without", "with"))
    layer, kind = max(after, key=lambda place: after[place] - before.get(place, 0.0))
    assert (layer, kind in PLANTED[plant]) == ("body", True), (kind, before, after)


def least(found: dict[str, NDArray[Any]], name: str) -> dict[tuple[str, str], float]:
    """Return the least time of each layer's operations over traces, in ns; none of what is in no layer.

    A loaded machine makes longer what a framework does between operations.
    """
    times: dict[tuple[str, str], list[float]] = {}
    for number in range(TRACES):
        trace = {key: found[f"{name}/{number}/{key}"] for key in ("level", "reason", "shares", "step_ns")}
        summed: dict[tuple[str, str], float] = {}
        for row in spent(trace):
            place = (row.layer, row.kind)
            summed[place] = summed.get(place, 0.0) + row.share * float(trace["step_ns"])
        for place, time_ns in summed.items():
            times.setdefault(place, []).append(time_ns)
    return {place: min(one) for place, one in times.items() if place[0] and len(one) == TRACES}


def stages_of(found: dict[str, NDArray[Any]]) -> list[GraphStage]:
    """Return what a framework's compiler has made of the step's graph."""
    return msgspec.json.decode(str(found["stages"]), type=list[GraphStage])


@pytest.mark.parametrize(("framework", "mode"), [*COMPILED, ("jax", None), ("tensorflow", None)])
@pytest.mark.by_turns
def test_a_compiler_tells_its_graph_before_and_after(framework: str, mode: str | None) -> None:
    """Nodes by class: before and after all passes, or pass by pass; convolutions are expensive, and stay."""
    if framework not in PRESENT:
        pytest.skip(f"{framework} is not declared")
    shared = computed(framework, mode) if mode else computed(framework)
    found = shared.traced("cnn-cifar10", compared=True)
    before, *others = stages_of(found)
    assert before.passes == ()
    # Forward and backward; some frameworks have one node for both gradients.
    convolutions = 2 * len([layer for layer in layers("cnn-cifar10") if layer.startswith("stages.")])
    assert before.nodes["expensive"] >= convolutions
    whole = max(others, key=lambda one: len(one.passes))
    assert whole.nodes["expensive"] > 0
    assert sum(before.nodes.values()) > 0
    if framework == "torch":
        facts = json.loads(str(found["facts"]))
        assert facts["graphs"] == 1
        assert facts["graph_breaks"] == 0


@pytest.mark.parametrize("framework", TOLD)
def test_operations_that_a_step_starts_are_counted(framework: str) -> None:
    """Each layer's convolution is started at least once forward and once backward."""
    rows = spent(computed(framework).traced("cnn-cifar10", compared=True))
    started = sum(row.launches for row in rows if row.kind == "convolution")
    assert started >= 2 * len({row.layer for row in rows if row.kind == "convolution"})
