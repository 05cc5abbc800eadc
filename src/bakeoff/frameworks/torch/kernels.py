"""Which layers the kernels of a compiled program come from, as Inductor notes it; pure, but for `Sources.switch_on`.

A graph's calls are noted in the order in which they run: generated kernels by names of their own, and operators of
PyTorch by theirs. Each has the nodes of the traced graph that it was made of, and a node has the path of its module.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from bakeoff.frameworks import scopes
from bakeoff.frameworks.scopes import Place
from bakeoff.frameworks.torch import operators
from bakeoff.frameworks.tracing import ALL_PASSES, LOSS, WHOLE, by_class
from bakeoff.spec.explained import GraphStage, NodeClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bakeoff.frameworks.torch.traced import Frame
    from bakeoff.frameworks.tracing import Event
    from bakeoff.spec.explained import OperationKind

COMPILED = (
    "Layers of compiled code are those that Inductor notes for its kernels; a kernel of several has that of its last "
    "node. For this its kernels open scopes of the profiler, and so are other code than the timed ones."
)
WITHOUT_FUNCTIONS = "What is within which function of the vocabulary is not known of compiled code."

_ROOT = re.compile(r"^L\['\w+'\]\.?")
"""How Dynamo begins a module's path: with the variable that holds the model."""

_MADE = (
    "full",
    "iota",
    "scalar_tensor",
    "arange",
    "expand",
    "permute",
    "reshape",
    "view",
    "unsqueeze",
    "squeeze",
    "getitem",
)
"""Nodes that a kernel does nothing for, or that stand for constants: they do not say whose it is."""


_COSTS: tuple[NodeClass, ...] = get_args(NodeClass)


class Node(NamedTuple):
    """One node of a traced graph."""

    operation: str
    """Empty for what the graph is given."""
    layer: str
    order: int


class Call(NamedTuple):
    """A kernel, or an operator, that a graph calls."""

    name: str
    nodes: tuple[Node, ...]


class Graph(NamedTuple):
    """A compiled graph: what it calls, in order."""

    region: str
    """How the profile marks its runs."""
    is_backward: bool
    calls: tuple[Call, ...]
    nodes: tuple[Node, ...] = ()
    """All that it was made of."""

    @property
    def size(self) -> int:
        """Return how many nodes are no input."""
        return sum(bool(node.operation) for node in self.nodes)


class Sources:
    """The graphs that were compiled since `switch_on`."""

    def __init__(self, layers: Mapping[str, str], graphs: Sequence[Graph] = ()) -> None:
        """Take the vocabulary's class of each layer's path."""
        self._layers = layers
        self.graphs: list[Graph] = list(graphs)

    def switch_on(self) -> str:
        """Have Inductor mark its kernels and note where they come from; return why not, where it has no such switch."""
        try:
            from bakeoff.frameworks.torch import inductor
        except ImportError as error:
            return f"this PyTorch's compiler does not say where its kernels come from: {error}"
        return inductor.watch(self._noted)

    def placed(self, frames: Sequence[Frame], events: Sequence[Event]) -> list[Event]:
        """Return the events, those of compiled graphs in the layers that they come from."""
        found = list(events)
        ahead: dict[tuple[str, bool], list[Call]] = {}
        call: Call | None = None
        for place, frame in enumerate(frames):
            key = frame.region, frame.phase == "backward"
            if frame.region == frame.seen.name:
                graphs = [graph for graph in self.graphs if (graph.region, graph.is_backward) == key]
                ahead[key] = [one for graph in graphs for one in graph.calls]
            elif frame.region and (name := operators.operation(frame.seen.name)):
                if not frame.within:
                    call = _next(ahead.get(key, []), name)
                if call is not None:
                    found[place] = self._placed(events[place], call, name)
        return found

    def notes(self) -> list[str]:
        """Return what a reader has to know."""
        return [COMPILED, WITHOUT_FUNCTIONS] if self.graphs else []

    def facts(self) -> dict[str, float | int | str]:
        """Return what the compiler has made."""
        if not self.graphs:
            return {}
        calls = [call for graph in self.graphs for call in graph.calls]
        made = [call for call in calls if operators.is_generated(call.name)]
        return {
            "instructions_before": sum(graph.size for graph in self.graphs),
            "instructions_after": len(calls),
            "fused_kernels": len(made),
            "fusions": sum(len(_working(call)) > 1 for call in made),
        }

    def stages(self) -> list[GraphStage]:
        """Return the nodes of all traced graphs by class, and what is called in their place, by its dearest node."""
        if not self.graphs:
            return []
        nodes = [operators.node_class(node.operation) for graph in self.graphs for node in graph.nodes]
        calls = [call for graph in self.graphs for call in graph.calls]
        after = [_of_call(call) for call in calls]
        return [GraphStage(nodes=by_class(nodes)), GraphStage(passes=ALL_PASSES, nodes=by_class(after))]

    def _placed(self, event: Event, call: Call, name: str) -> Event:
        """Return an event in the layer that a call comes from."""
        working = _working(call)
        same = [node for node in working if node.operation == name]
        root = max(same or working, key=lambda node: node.order, default=None)
        if root is None:
            return event
        layer = root.layer
        own: OperationKind = event.kind
        is_generated = operators.is_generated(call.name)
        if is_generated:
            own = operators.kind(root.operation) if root.operation else "data movement"
        kinds = {operators.kind(node.operation) for node in working}
        mixed = is_generated and (len(kinds) > 1 or len({node.layer for node in working}) > 1)
        return event._replace(
            kind=scopes.kind(own, event.phase, Place(layer), self._layers), layer=layer, function="", mixed=mixed
        )

    def _noted(
        self, region: str, calls: Mapping[str, Iterable[str]], nodes: Iterable[Any], *, is_backward: bool
    ) -> None:
        """Note one graph that was compiled."""
        known = dict(self._nodes(nodes))
        found = tuple(
            Call(name.rpartition(":")[0] or name, tuple(known[one] for one in made_of if one in known))
            for name, made_of in calls.items()
        )
        self.graphs.append(Graph(region, is_backward, found, tuple(known.values())))

    def _nodes(self, nodes: Iterable[Any]) -> Iterator[tuple[str, Node]]:
        """Go through the nodes of a traced graph; what it is given has the layer that first takes it."""
        for order, node in enumerate(nodes):
            told = node if node.op == "call_function" else next(iter(node.users), node)
            operation = str(node.target).split(".")[1] if str(node.target).count(".") else str(node.target)
            yield node.name, Node(operation if node.op == "call_function" else "", self._layer(told.meta), order)

    def _layer(self, meta: Mapping[str, Any]) -> str:
        """Return the layer of a node by its module's path; what is in no module is the loss's."""
        stack = meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack") or {}
        paths = [_ROOT.sub("", str(path)) for path, _ in stack.values()]
        if not paths:
            return LOSS
        return next((path for path in reversed(paths) if path in self._layers), WHOLE)


def _working(call: Call) -> list[Node]:
    """Return the nodes that a call computes: a generated kernel also notes those that take what it makes.

    Those of convolutions and products are operators of PyTorch's, never a part of it.
    """
    if not operators.is_generated(call.name):
        return list(call.nodes)
    light = [node for node in call.nodes if operators.kind(node.operation) not in operators.WHOLE]
    own = [node for node in light if not node.operation.startswith(_MADE)]
    return own or light or list(call.nodes)


def _next(ahead: list[Call], name: str) -> Call | None:
    """Take the next call of this name from those that are still to come; None for what is no call of the graph's."""
    for place, one in enumerate(ahead):
        if _is_of(one, name):
            del ahead[: place + 1]
            return one
    return None


def _is_of(call: Call, name: str) -> bool:
    """Return whether an operation of a profile is a call, by its name: `extern_kernels.addmm` is aten::addmm."""
    return call.name == name if operators.is_generated(call.name) else name in call.name.split(".")


def _of_call(call: Call) -> NodeClass:
    """Return what a call costs: as the dearest node that it was made of, by the order of the classes."""
    classes: set[NodeClass] = {operators.node_class(node.operation) for node in call.nodes}
    return next((name for name in _COSTS if name in classes), "cheap")
