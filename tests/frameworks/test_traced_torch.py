"""How PyTorch's events find their layers, on profiles written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakeoff.frameworks.torch import operators
from bakeoff.frameworks.torch.kernels import Call, Graph, Node, Sources
from bakeoff.frameworks.torch.traced import ACCUMULATED, BACKWARD, FORWARD, MARK, Seen, program, read, steps

if TYPE_CHECKING:
    from bakeoff.frameworks.tracing import Event

LAYERS = {"net": "Module", "first": "Linear", "norm": "LayerNorm", "conv": "Conv2d"}
NODE = "autograd::engine::evaluate_function: "


def nest(*lines: tuple[str, int], **more: dict[str, object]) -> list[Seen]:
    """Return the events of one thread, of lines of indented names, each with its sequence number."""
    found: list[Seen] = []
    depths = [len(name) - len(name.lstrip()) for name, _ in lines]
    for place, (name, sequence) in enumerate(lines):
        after = [later for later in range(place + 1, len(lines)) if depths[later] <= depths[place]]
        end = (after[0] if after else len(lines)) * 10.0
        is_node = name.strip().endswith("Backward0")
        extra = more.get(name.strip(), {})
        found.append(Seen("1", place * 10.0, end, name.strip(), sequence, is_node=is_node, identity=place, **extra))  # type: ignore[arg-type]
    return found


def by_name(events: list[Event]) -> dict[str, Event]:
    """Return events by their names; of several of one name the last."""
    return {event.name: event for event in events}


def test_a_backward_operator_has_the_layer_of_the_forward_one() -> None:
    """The last operator that has noted a number has made the node of that number; others have only seen it."""
    events = by_name(
        read(
            nest(
                (MARK, -1),
                (" L.net", -1),
                ("  L.first", -1),
                ("   aten::ones", 7),
                ("  L.norm", -1),
                ("   aten::layer_norm", 7),
                ("    aten::native_layer_norm", 7),
                (f" {BACKWARD}", -1),
                (f"  {NODE}NativeLayerNormBackward0", 7),
                ("   NativeLayerNormBackward0", 7),
                ("    aten::native_layer_norm_backward", -1),
                (f"  {NODE}torch::autograd::AccumulateGrad", -1),
                ("   aten::detach", -1),
            ),
            LAYERS,
        )
    )
    backward = events["aten::native_layer_norm_backward"]
    assert (backward.layer, backward.phase, backward.kind, backward.inferred) == (
        "norm",
        "backward",
        "normalisation",
        "",
    )
    assert (events["aten::detach"].layer, events["aten::detach"].inferred) == ("norm", ACCUMULATED)


def test_all_that_a_convolution_calls_is_a_convolution() -> None:
    """Allocations within an operator are its own, and count as no further start."""
    events = by_name(
        read(
            nest((MARK, -1), (" L.conv", -1), ("  aten::conv2d", 1), ("   aten::empty", -1), ("  aten::add", 2)), LAYERS
        )
    )
    assert (events["aten::empty"].kind, events["aten::empty"].launches) == ("convolution", False)
    assert (events["aten::conv2d"].kind, events["aten::conv2d"].launches) == ("convolution", True)
    assert (events["aten::add"].kind, events["aten::add"].layer) == ("element-wise", "conv")


def test_all_of_the_update_is_the_optimisers() -> None:
    """Python's own time within the update, too; a step's time between operators is host dispatch."""
    events = by_name(read(nest((MARK, -1), (" Optimizer.step#SGD.step", -1), ("  aten::add_", -1)), LAYERS))
    assert {events[name].kind for name in ("Optimizer.step#SGD.step", "aten::add_")} == {"optimiser"}
    assert (events[MARK].kind, events[MARK].launches) == ("host dispatch", False)


def test_a_collectives_time_is_that_of_its_own_thread() -> None:
    """The backward pass starts an all-reduce; gloo runs it, and waits for the other replicas, on its own thread."""
    lines = (
        (MARK, -1),
        (f" {BACKWARD}", -1),
        (f"  {NODE}torch::autograd::AccumulateGrad", -1),
        ("   c10d::allreduce_", -1),
    )
    seen = [*nest(*lines), Seen("2", 35.0, 90.0, "gloo:all_reduce")]
    events = by_name(read(seen, LAYERS))
    started, work = events["c10d::allreduce_"], events["gloo:all_reduce"]
    assert (started.kind, started.launches) == (work.kind, not work.launches) == ("communication", True)
    assert (work.layer, work.end_ns - work.start_ns) == ("", 55.0)
    assert program(seen) == ["allreduce_"], "what runs beside a program is no part of its order"


def test_a_program_is_its_operators_in_order() -> None:
    """Scopes are no part of it, and steps are the marked ones."""
    scoped = nest((MARK, -1), (" L.first", -1), ("  aten::mm", 1), (" aten::add", 2))
    plain = nest((MARK, -1), (" aten::mm", 1), (" aten::add", 2))
    assert program(scoped) == program(plain) == ["mm", "add"]
    assert steps(scoped) == [(0.0, 40.0)]


def test_a_kernel_on_a_device_has_the_place_of_what_started_it() -> None:
    """The host's part of the operator is dispatch then; what no operator has started says its kind by its name."""
    seen = nest((MARK, -1), (" L.first", -1), ("  aten::mm", 1))
    kernels = [
        Seen("stream 7", 35.0, 90.0, "sgemm", started_by=2, on_device=True),
        Seen("stream 7", 90.0, 95.0, "Memcpy HtoD (Pinned -> Device)", started_by=2, on_device=True),
        Seen("stream 7", 95.0, 99.0, "sm80_xmma_fprop_implicit_gemm", started_by=0, on_device=True),
    ]
    events = by_name(read([*seen, *kernels], LAYERS))
    assert (events["sgemm"].kind, events["sgemm"].layer, events["sgemm"].launches) == ("matrix product", "first", True)
    assert events["Memcpy HtoD (Pinned -> Device)"].kind == "device copy"
    assert (events["sm80_xmma_fprop_implicit_gemm"].kind, events["sm80_xmma_fprop_implicit_gemm"].layer) == (
        "convolution",
        "",
    )
    assert (events["aten::mm"].kind, events["aten::mm"].launches) == ("host dispatch", False)


def test_a_scopes_span_on_a_device_is_no_kernel() -> None:
    """Kineto lays a scope from its first kernel to its last, over the time between them, too: nothing ran then."""
    seen = nest((MARK, -1), (" L.conv", -1), ("  aten::conv2d", 1))
    kernels = [
        Seen("stream 7", 35.0, 95.0, "L.conv", started_by=1, on_device=True, is_scope=True),
        Seen("stream 7", 35.0, 40.0, "sm80_xmma_fprop", started_by=2, on_device=True),
        Seen("stream 7", 90.0, 95.0, "cudnn::ops::scale", started_by=2, on_device=True),
    ]
    found = [event.name for event in read([*seen, *kernels], LAYERS) if event.thread == "stream 7"]
    assert found == ["sm80_xmma_fprop", "cudnn::ops::scale"]
    late = [kernel._replace(start_ns=kernel.start_ns - 70.0) for kernel in kernels]
    assert program([*seen, *kernels]) == program([*seen, *late]) == ["conv2d"], "a device's kernels are in no order"


def test_a_call_of_cudas_runtime_is_no_operator_of_the_same_number() -> None:
    """PyTorch numbers its operators and CUPTI the calls that these make: a kernel names the number of an operator."""
    seen = nest((MARK, -1), (" L.first", -1), ("  aten::mm", 1), (" L.norm", -1), ("  aten::add", 2))
    call = Seen("1", 42.0, 43.0, "cudaLaunchKernel", identity=2, started_by=4)
    kernel = Seen("stream 7", 45.0, 50.0, "gemm", started_by=2, on_device=True)
    assert by_name(read([*seen, call, kernel], LAYERS))["gemm"].layer == "first"


def test_on_a_device_an_update_is_its_kernels() -> None:
    """What the host does for it is dispatch, as of all else: kernels of the backward pass may still run beside it."""
    seen = nest((MARK, -1), (" Optimizer.step#SGD.step", -1), ("  aten::_foreach_add_", -1))
    kernel = Seen("stream 7", 35.0, 40.0, "multi_tensor_apply_kernel", started_by=2, on_device=True)
    events = by_name(read([*seen, kernel], LAYERS))
    kinds = {name: (one.kind, one.launches) for name, one in events.items()}
    assert kinds["aten::_foreach_add_"] == kinds["Optimizer.step#SGD.step"] == ("host dispatch", False)
    assert kinds["multi_tensor_apply_kernel"] == ("optimiser", True)


REGION = "graph_0_inductor_wrapper_call"
FUSED = "cpp_fused_convolution_backward_relu_threshold_backward_0"


def compiled() -> Sources:
    """Return what a compiler notes of two graphs, one for each pass, that call operators of the same name."""
    forward = (
        Call("extern_kernels.addmm", (Node("addmm", "first", 1),)),
        Call("extern_kernels.addmm", (Node("addmm", "conv", 3),)),
    )
    backward = (
        Call(
            FUSED,
            (Node("threshold_backward", "net", 1), Node("sum", "norm", 2), Node("convolution_backward", "conv", 3)),
        ),
        Call(
            "torch.ops.aten.convolution_backward.default",
            (Node("where", "net", 1), Node("convolution_backward", "conv", 3)),
        ),
    )
    return Sources(LAYERS, [Graph(REGION, False, forward), Graph(REGION, True, backward)])  # noqa: FBT003 - the pass


def test_kernels_of_compiled_code_are_given_back_in_the_order_of_their_calls() -> None:
    """Equal operators are told by their order, whatever runs between; a fused kernel has its own last node's layer."""
    seen = nest(
        (MARK, -1),
        (f" {FORWARD}", -1),
        (f"  {REGION}", -1),
        ("   aten::addmm", -1),
        ("   aten::empty_strided", -1),
        ("   aten::addmm", -1),
        ("    aten::copy_", -1),
        (f" {NODE}CompiledFunctionBackward", 3),
        (f"  {REGION}", -1),
        (f"   graph_0_{FUSED}", -1),
        ("   aten::convolution_backward", -1),
    )
    events = read(seen, LAYERS, compiled())
    found = [(event.name, event.layer, event.kind, event.phase) for event in events if event.layer]
    assert found == [
        ("aten::addmm", "first", "matrix product", "forward"),
        ("aten::addmm", "conv", "matrix product", "forward"),
        ("aten::copy_", "conv", "matrix product", "forward"),
        (f"graph_0_{FUSED}", "norm", "normalisation", "backward"),
        ("aten::convolution_backward", "conv", "convolution", "backward"),
    ]
    assert [event.name for event in events if event.mixed] == [f"graph_0_{FUSED}"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("aten::mkldnn_convolution", "convolution"),
        ("mkldnn::_convolution_pointwise", "convolution"),
        ("aten::_thnn_fused_lstm_cell", "recurrent"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", "attention"),
        ("aten::native_group_norm_backward", "normalisation"),
        ("aten::broadcast_to", "data movement"),
        ("aten::embedding_dense_backward", "data movement"),
        ("aten::max_pool2d_with_indices_backward", "reduction"),
        ("aten::_log_softmax", "element-wise"),
        ("c10d::allreduce_", "communication"),
    ],
)
def test_an_operators_name_says_its_kind(name: str, kind: str) -> None:
    """By the operator's name without its namespace; what is no operator has none."""
    assert operators.kind(operators.operation(name)) == kind
    assert not operators.operation(f"autograd::{name}")
