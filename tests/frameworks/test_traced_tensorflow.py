"""How TensorFlow's nodes find their layers, on graphs and profiles written by hand."""

from __future__ import annotations

import pytest

from bakeoff.frameworks.origins import Origin
from bakeoff.frameworks.scopes import Place
from bakeoff.frameworks.tensorflow import eager
from bakeoff.frameworks.tensorflow.nodes import (
    BY_INPUT,
    BY_WEIGHT,
    MARK,
    Node,
    NodeOrigin,
    Seen,
    called,
    find,
    kind,
    program,
    read,
    read_compiled,
    steps,
)

LAYERS = {"net": "Module", "stage": "Module", "stage.first": "Conv2d", "stage_1": "Linear", "norm": "LayerNorm"}
WEIGHT = "L.net/L.stage/L.stage.first/conv2d/convolution/ReadVariableOp"
FUSED = "L.net/L.stage/F.relu/Relu"
GRAPH = {
    WEIGHT: Node("ReadVariableOp", ("resource",)),
    f"{WEIGHT}/Cast": Node("Cast", (WEIGHT,)),
    FUSED: Node("_MklNativeFusedConv2D", ("x", f"{WEIGHT}/Cast", "bias")),
    "gradient_tape/L.net/L.norm/mul": Node("Mul", ("dy",)),
    "AddN_3": Node("AddN", ("gradient_tape/L.net/L.norm/mul",)),
}


def test_a_fused_node_is_its_weights() -> None:
    """Grappler calls it after the last of its parts, the function in the module around: the weight says the layer."""
    found = find(FUSED, "_MklNativeFusedConv2D", GRAPH, LAYERS)
    assert found == NodeOrigin("forward", Place("stage.first"), BY_WEIGHT, mixed=True)
    assert find(FUSED, "Relu", GRAPH, LAYERS) == NodeOrigin("forward", Place("stage", "relu"))


def test_a_node_without_scopes_is_where_its_inputs_are() -> None:
    """The sum of gradients is made by no layer; the rule is told, and a node that nothing leads to has no place."""
    assert find("AddN_3", "AddN", GRAPH, LAYERS) == NodeOrigin("backward", Place("norm"), BY_INPUT)
    assert find("resource", "_Arg", GRAPH, LAYERS) == NodeOrigin()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("L.net/L.norm_1/batchnorm/mul", NodeOrigin("forward", Place("norm"))),
        ("L.net/L.stage_1/dense/MatMul", NodeOrigin("forward", Place("stage_1"))),
        ("gradient_tape/L.net/L.stage/F.relu_2/ReluGrad", NodeOrigin("backward", Place("stage", "relu"))),
        ("O.optimizer_1/mul", NodeOrigin("optimiser")),
    ],
)
def test_a_name_says_phase_layer_and_function(name: str, expected: NodeOrigin) -> None:
    """A number that TensorFlow puts behind a scope is taken off, unless a layer is called so."""
    assert find(name, "Mul", {}, LAYERS) == expected


def test_events_have_the_kind_of_the_vocabulary() -> None:
    """A product within a normalisation is normalisation; TensorFlow's own code, and whole functions, are dispatch."""
    seen = [
        Seen("python", 0.0, 100.0, MARK),
        Seen("python", 1.0, 99.0, "__inference__train_403:__inference__train_403"),
        Seen("pool", 10.0, 20.0, "L.net/L.norm/batchnorm/mul:Mul"),
        Seen("pool", 20.0, 40.0, f"{FUSED}:_MklNativeFusedConv2D"),
        Seen("pool", 40.0, 50.0, "O.optimizer/sub:AssignSubVariableOp"),
    ]
    events = read(seen, GRAPH, LAYERS)
    assert steps(seen) == [(0.0, 100.0)]
    assert [(event.kind, event.launches) for event in events] == [
        ("host dispatch", False),
        ("host dispatch", False),
        ("normalisation", True),
        ("convolution", True),
        ("optimiser", True),
    ]


def test_on_a_gpu_the_kernels_count() -> None:
    """What the host does is dispatch there; copies are told by their names."""
    seen = [
        Seen("python", 0.0, 100.0, "L.net/L.stage_1/MatMul:MatMul"),
        Seen("gpu", 10.0, 90.0, "L.net/L.stage_1/MatMul:MatMul", on_device=True),
        Seen("gpu", 90.0, 95.0, "MemcpyH2D", on_device=True),
    ]
    events = read(seen, {}, LAYERS)
    assert [event.kind for event in events] == ["host dispatch", "matrix product", "device copy"]


def test_a_copy_to_the_host_is_one_whatever_node_it_is_for() -> None:
    """The profile gives it the node's name, as it does a kernel; a copy within the GPU is a part of its node."""
    assert called("MemcpyD2H", "L.net/L.stage_1/_Send:_Send") == "MemcpyD2H"
    assert called("MemcpyD2D", "L.net/L.stage_1/MatMul:MatMul") == "L.net/L.stage_1/MatMul:MatMul"
    assert called("volta_sgemm", "") == "volta_sgemm"


def test_on_a_gpu_a_compiled_programs_kernels_count() -> None:
    """Calls that start them have their names, too; kernels of a recorded buffer are known as its own alone."""
    seen = [
        Seen("python", 0.0, 5.0, "cuLaunchKernel", instruction="convolution"),
        Seen("gpu", 10.0, 60.0, "cluster:Conv2D", on_device=True, instruction="convolution"),
        Seen("gpu", 60.0, 80.0, "cluster:Add", on_device=True, instruction="call"),
        Seen("gpu", 80.0, 90.0, "MemcpyD2H", on_device=True, instruction="while"),
    ]
    runs = Origin("host dispatch", "forward", launches=False)
    events = read_compiled(seen, {"convolution": Origin("convolution", "forward"), "call": runs, "while": runs})
    assert [(event.kind, event.phase, event.launches) for event in events] == [
        ("host dispatch", "", False),
        ("convolution", "forward", True),
        ("other", "forward", True),
        ("device copy", "forward", True),
    ]


def test_work_that_xla_has_started_ends_at_its_own_mark() -> None:
    """The event of a convolution covers its start alone: with its end in another event it runs until that."""
    seen = [
        Seen("python", 0.0, 66.0, "convolution", instruction="convolution", link=3),
        Seen("python", 70.0, 75.0, "copy", instruction="copy", link=4),
        Seen("python", 75.0, 75.0, "end: copy", link=4),
        Seen("pool", 1042.0, 1042.0, "end: convolution", link=3),
    ]
    origins = {"convolution": Origin("convolution", "backward", "stage.first"), "copy": Origin("data movement")}
    events = read_compiled(seen, origins)
    assert [(event.name, event.layer, event.done_ns) for event in events] == [
        ("convolution", "stage.first", 1042.0),
        ("copy", "", None),
    ]


def test_in_mode_eager_operations_are_told_by_scopes_and_by_time() -> None:
    """A kernel has the kind of its operation; behind the loss is the backward pass, until the update."""
    seen = [
        Seen("python", 0.0, 100.0, MARK),
        Seen("python", 1.0, 20.0, "L.net"),
        Seen("python", 2.0, 18.0, "L.norm"),
        Seen("python", 3.0, 17.0, "EagerLocalExecute: Mul"),
        Seen("python", 5.0, 16.0, "EagerKernelExecute"),
        Seen("python", 6.0, 15.0, "KernelAndDeviceFunc::Run"),
        Seen("python", 20.0, 30.0, "L.loss"),
        Seen("python", 40.0, 60.0, "EagerLocalExecute: Conv2DBackpropInput"),
        Seen("python", 45.0, 60.0, "EagerKernelExecute"),
        Seen("python", 70.0, 90.0, "O.optimizer"),
        Seen("python", 75.0, 80.0, "EagerCopyToDevice"),
    ]
    found = [(event.kind, event.phase, event.layer, event.inferred) for event in eager.read(seen, LAYERS)]
    assert found == [
        ("host dispatch", "", "", ""),
        ("host dispatch", "forward", "net", ""),
        ("host dispatch", "forward", "norm", ""),
        ("host dispatch", "forward", "norm", ""),
        ("normalisation", "forward", "norm", ""),
        ("host dispatch", "forward", "loss", ""),
        ("host dispatch", "backward", "", eager.BEHIND),
        ("convolution", "backward", "", eager.BEHIND),
        ("optimiser", "optimiser", "", ""),
        ("optimiser", "optimiser", "", ""),
    ]


def test_a_program_is_its_operations_whatever_they_are_called() -> None:
    """Names of nodes are no part of it."""
    renamed = {f"other/{name}": node for name, node in GRAPH.items()}
    assert program(GRAPH) == program(renamed)
    assert program(GRAPH) != program(dict(list(GRAPH.items())[1:]))


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("_MklNativeConv2DBackpropFilterWithBias", "convolution"),
        ("Einsum", "matrix product"),
        ("FusedBatchNormGradV3", "normalisation"),
        ("BlockLSTMGradV2", "recurrent"),
        ("AvgPoolGrad", "reduction"),
        ("BiasAddGrad", "reduction"),
        ("SparseSoftmaxCrossEntropyWithLogits", "element-wise"),
        ("Transpose", "data movement"),
        ("PyFunc", "host dispatch"),
        ("EagerPyFunc", "host dispatch"),
        ("ResourceGather", "data movement"),
    ],
)
def test_an_operations_name_says_its_kind(operation: str, expected: str) -> None:
    """By the operation's own name."""
    assert kind(operation) == expected
