"""Grappler's passes one by one: switched off for what runs, and each by itself over the graph of a step.

The four that need a graph before anything runs, as Dai et al. 2022 chose them (section 4.5). For the counts the passes
are called on the traced graph alone, by TensorFlow's own optimizer, so that nothing else of Grappler is among them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from bakeoff.frameworks.tracing import by_class
from bakeoff.spec.explained import GraphStage
from bakeoff.spec.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.explained import NodeClass


class Pass(NamedTuple):
    """One pass of Grappler."""

    title: str
    """The document's name."""
    name: str
    """The optimizer's own (tensorflow/core/grappler/optimizers/meta_optimizer.cc)."""
    switch: str
    """The key of tf.config.optimizer.set_experimental_options."""
    off: bool
    """The value of that key by which it does not run."""


PASSES = {
    "pruning": Pass("pruning", "pruning", "disable_model_pruning", off=True),
    "folding": Pass("constant folding", "constfold", "constant_folding", off=False),
    "arithmetic": Pass("arithmetic", "arithmetic", "arithmetic_optimization", off=False),
    "dependency": Pass("dependency", "dependency", "dependency_optimization", off=False),
}
"""By the words of the option `grappler`, in the order in which Grappler runs them."""

_NONE, _WITHOUT = "none", "no-"

_INLINE = "function"
"""The pass that puts functions where they are called: what comes before is a call, and no graph."""

_EXPENSIVE = re.compile(r"Conv\dD|DepthwiseConv|MatMul|Einsum|FFT|LSTM|GRU|RNN|Lstm|Gru|Rnn")
_NO_OP = re.compile(
    r"(Host)?Const|NoOp|Identity(N)?|ShapeN?|Size|Rank|Placeholder(WithDefault|V2)?|_Arg|_Retval|_DeviceArg|_DeviceRetval"
    r"|Assign(VariableOp)?|ReadVariableOp|VarHandleOp|VarIsInitializedOp|Variable(V2)?|StopGradient|PreventGradient"
    r"|Reshape|Squeeze|ExpandDims|BroadcastGradientArgs|ControlTrigger|Enter|Exit|NextIteration|Merge|Switch|LoopCond"
    r"|(Stateful)?PartitionedCall|(Stateless)?While|(Stateless)?If|(Stateless)?Case|CheckNumerics|Snapshot|EnsureShape"
)
"""The document names "Const, Assign, Identity, Shape"; with them what hands on, reshapes, or only runs other nodes."""


def off(value: str) -> set[str]:
    """Return which passes do not run with a value of the option `grappler`."""
    if value == DEFAULT:
        return set()
    if value == _NONE:
        return set(PASSES)
    return {value.removeprefix(_WITHOUT)} if value.startswith(_WITHOUT) else set(PASSES) - {value}


def switch(value: str) -> None:
    """Have these passes not run."""
    if lacking := off(value):
        tf.config.optimizer.set_experimental_options({PASSES[name].switch: PASSES[name].off for name in lacking})


def setting() -> str:
    """Read back which passes do not run, in the words of the option; their names where it has no word for them."""
    known = tf.config.optimizer.get_experimental_options()
    lacking = {name for name, one in PASSES.items() if known.get(one.switch, not one.off) == one.off}
    words = (DEFAULT, _NONE, *(_WITHOUT + name for name in PASSES), *PASSES)
    return next((word for word in words if off(word) == lacking), f"without {', '.join(sorted(lacking))}")


def stages(function: Any) -> list[GraphStage]:
    """Return a concrete function's graph before the passes and after them.

    Functions are inlined in all. The passes run one after another, then each alone, and then each left out of all four.
    """
    every = tuple(PASSES)
    chain = [every[:length] for length in range(len(every) + 1)]
    alone = [(name,) for name in every]
    without = [tuple(other for other in every if other != name) for name in every]
    exported, before = _exported(function), dict[str, "NodeClass"]()
    found = []
    for passes in dict.fromkeys([*chain, *alone, *without]):
        nodes = dict(_nodes(_optimized(exported, passes)))
        before = before or nodes
        gone = [before[name] for name in before.keys() - nodes.keys()]
        titles = tuple(PASSES[name].title for name in passes)
        found.append(GraphStage(passes=titles, nodes=by_class(nodes.values()), removed=by_class(gone)))
    return found


def _exported(function: Any) -> Any:
    """Return the graph of a function with what has to stay: its results, and what it assigns."""
    from tensorflow.core.protobuf import meta_graph_pb2  # it is no public name

    graph = function.graph
    kept = [one.name for one in (*function.inputs, *function.outputs)] + [one.name for one in graph.control_outputs]
    exported = meta_graph_pb2.MetaGraphDef()
    exported.graph_def.CopyFrom(graph.as_graph_def())
    exported.collection_def["train_op"].node_list.value.extend(dict.fromkeys(kept))
    return exported


def _optimized(exported: Any, passes: tuple[str, ...]) -> Any:
    """Return the graph after these passes."""
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.grappler import tf_optimizer  # it is no public name

    config = config_pb2.ConfigProto()
    rewriting = config.graph_options.rewrite_options
    rewriting.min_graph_nodes = -1  # small graphs, too
    rewriting.optimizers.extend([_INLINE, *(PASSES[name].name for name in passes)])
    return tf_optimizer.OptimizeGraph(config, exported, verbose=False)


def _nodes(graph: Any) -> Iterator[tuple[str, NodeClass]]:
    """Go through the nodes of a graph and of the functions that it still calls, by name."""
    for node in graph.node:
        yield node.name, _class(node.op)
    for function in graph.library.function:
        for node in function.node_def:
            yield f"{function.signature.name}/{node.name}", _class(node.op)


def _class(operation: str) -> NodeClass:
    """Return what an operation costs, by its name."""
    if _EXPENSIVE.search(operation):
        return "expensive"
    return "no op" if _NO_OP.fullmatch(operation) else "cheap"
