from __future__ import annotations

from typing import Any

import pytest
from asking import answer


@pytest.fixture(scope="module")
def told() -> Any:
    """Give what a small residual network's step is in JAX, with and without scopes."""
    return answer("jax", "hlo_child.py")


def test_scopes_leave_the_program_as_it_is(told: Any) -> None:
    """A step that is traced runs the program of the step that is timed, line by line, but for names."""
    assert not told["different"]
    plain, scoped = told["lines"]
    assert plain == scoped > 1000
    plain, scoped = told["named"]
    assert plain == 0 < scoped


@pytest.mark.by_turns
def test_a_weights_gradient_is_no_part_of_the_optimiser(told: Any) -> None:
    """XLA drops the names of most gradients of weights: they are the layer's backward pass, and told as inferred."""
    products = {name: told["origins"][name] for name in told["products"]}
    assert {one["kind"] for one in products.values()} == {"convolution", "matrix product"}
    assert {one["phase"] for one in products.values()} == {"forward", "backward"}
    backward = [one["layer"] for one in products.values() if one["phase"] == "backward"]
    for path, layer in told["layers"].items():
        if layer in ("Conv2d", "Linear"):  # the gradients of the weight and, but for the first layer, of the input
            assert backward.count(path) == (1 if path == "stem.conv" else 2), path
    rules = [one["inferred"] for one in products.values()]
    assert rules.count("the weight that it updates") >= 3


def test_each_kind_is_found_where_it_is(told: Any) -> None:
    """Normalisation is the layers of that name, the update the optimiser, copies without a name are data movement."""
    for name, one in told["origins"].items():
        if one["kind"] == "normalisation":
            assert told["layers"][one["layer"]] == "BatchNorm", name
        assert (one["kind"] == "optimiser") == (one["phase"] == "optimiser"), name
        assert one["phase"], name
    assert {"normalisation", "optimiser", "data movement", "element-wise"} <= {
        one["kind"] for one in told["origins"].values()
    }


def test_work_that_ends_after_its_event_is_waited_for(told: Any) -> None:
    """XLA starts a convolution and goes on: its work ends at the mark that names it, and the time is not idle."""
    (event,) = told["asynchronous"]
    _, start_ns, end_ns, _, kind, *_, done_ns, _, _, _ = event
    assert (start_ns, end_ns, done_ns, kind) == (10, 76, 976, "convolution")


def test_a_batch_that_the_pool_copies_is_a_copy(told: Any) -> None:
    """JAX returns from `device_put` while a thread copies: the step that waits for it is not idle."""
    assert told["copied"] == [
        ["shard_args", "host dispatch", False],
        ["DevicePutWithSharding", "host dispatch", False],
        ["H2D Dispatch", "device copy", True],
    ]


def test_on_a_gpu_kernels_and_copies_count(told: Any) -> None:
    """The call that starts a kernel has the instruction's name, too; what a loop copies to the host is a copy."""
    assert told["on_a_gpu"] == [
        ["sm80_xmma_fprop", "convolution", True],
        ["loop_add_fusion", "other", True],
        ["MemcpyD2H", "device copy", True],
    ]


def test_a_trace_of_steps_is_read(told: Any) -> None:
    """Every marked step is in the trace, with events of operations and of the host, facts, and raw files."""
    traced = told["traced"]
    assert len(traced["steps"]) == 4
    assert all(start < end for start, end in traced["steps"])
    assert traced["level"] == "layers"
    assert [note for note in traced["notes"] if "placed by rules" in note] == traced["notes"]
    assert traced["notes"]
    kinds = {event[4] for event in traced["events"]}
    assert {"convolution", "normalisation", "optimiser", "host dispatch"} <= kinds
    assert {event[4] for event in traced["events"] if not event[-1]} == {"host dispatch"}
    assert any(name.endswith(".xplane.pb") for name in traced["files"])
    assert traced["are_there"]
    facts = traced["facts"]
    assert facts["instructions_before"] > 100
    assert facts["fusions"] > 10
    assert len(facts["program_sha256"]) == 64
