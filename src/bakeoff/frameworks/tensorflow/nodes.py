"""From the names of TensorFlow's nodes to events with their layer: pure, so that every rule can be tested by itself.

A node's name has the scopes in which it was made; a gradient's has those of what it is the gradient of, behind
`gradient_tape/`. What Grappler fuses has the name of the last node of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.frameworks import scopes
from bakeoff.frameworks.origins import Origin, on_gpu
from bakeoff.frameworks.planes import copied
from bakeoff.frameworks.scopes import Place
from bakeoff.frameworks.tracing import FUNCTION, LAYER, Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bakeoff.spec.explained import OperationKind, Phase

MARK = "STEP"
"""The name under which a step is marked."""

BY_WEIGHT = "the weight that the fused operation takes"
BY_INPUT = "its inputs"

_GRADIENT = "gradient_tape"
_END = "end: "
_WEIGHT = 1
"""The place of the weight among the inputs of a convolution, a product or a normalisation."""

_READ = "ReadVariableOp"
_HOPS = 4
"""How many nodes may lie between an operation and what says its place: casts, reshapes and copies."""

_FUSED = re.compile(r"Fused.*(Conv|MatMul)|FusedBatchNormEx|FusedBatchNorm\w*Activation")
"""Operations that Grappler's remapper makes of several (tensorflow/core/grappler/optimizers/remapper.cc)."""

_NODE = re.compile(r"(?!\w+::|__inference)([^\s:]+):(\w+)$")
"""An operation in a profile: the node's name and the operation's; that of a whole function is called as it is."""

_KINDS: tuple[tuple[OperationKind, tuple[str, ...]], ...] = (
    ("host dispatch", (r"PyFunc(Stateless)?$",)),  # a call back into Python
    ("convolution", (r"Conv\dD", "DepthwiseConv")),
    ("recurrent", ("LSTM", "CudnnRNN", "GRUBlock")),
    ("normalisation", ("BatchNorm", "LayerNorm")),
    ("matrix product", ("MatMul", "Einsum")),
    ("communication", ("Collective", "Nccl")),
    (
        "data movement",
        (
            r"Transpose$|Reshape|Pad(V2)?$|Concat|Slice|Pack$|Unpack|Split|Tile|Reverse|Roll$|Squeeze|ExpandDims|Shape",
            r"Identity|Copy|Cast$|ReadVariableOp|VarHandleOp|_Retval|_Arg|ToMkl|MklToTf|TensorList|Gather|Scatter",
            r"Fill$|Const|ZerosLike|OnesLike|Range$|OneHot|BroadcastTo|BroadcastGradientArgs|InvertPermutation",
        ),
    ),
    (
        "reduction",
        (
            r"(Sum|Mean|Prod)$",
            "Pool",
            r"^(Max|Min|All|Any|ArgMax|ArgMin|L2Loss)$",
            "Cumsum",
            "BiasAddGrad",
            "TopK",
            "UnsortedSegment",
        ),
    ),
)
"""By the first that is found in an operation's name; all others work element by element."""

_NAMES = re.compile(r"%[\w.\-]+|[\w.\-]+(?=: )")
"""Of instructions, and of parameters in the heads of computations."""


_PATTERNS = [(kind, re.compile("|".join(parts))) for kind, parts in _KINDS]


class Node(NamedTuple):
    """One node of a graph."""

    operation: str
    inputs: tuple[str, ...] = ()
    """Names of nodes."""


class Seen(NamedTuple):
    """What the profiler saw of one event; times in ns."""

    thread: str
    start_ns: float
    end_ns: float
    name: str
    """On a GPU that of the node whose kernel it is, where it is one's."""
    on_device: bool = False
    instruction: str = ""
    """Of a program that XLA has compiled."""
    link: int = 0
    """By which the start of such an instruction and its end belong together."""


class NodeOrigin(NamedTuple):
    """Where a node is, and how that is known."""

    phase: Phase = ""
    where: Place = Place()
    rule: str = ""
    mixed: bool = False


def kind(operation: str) -> OperationKind:
    """Return what an operation of TensorFlow does, by its name."""
    return next((found for found, pattern in _PATTERNS if pattern.search(operation)), "element-wise")


def is_fused(operation: str) -> bool:
    """Return whether an operation was made of several."""
    return _FUSED.search(operation) is not None


def read(seen: Sequence[Seen], graph: Mapping[str, Node], layers: Mapping[str, str]) -> list[Event]:
    """Return the events of a profile; `graph` is what ran, `layers` has the vocabulary's class of each layer's path."""
    on_device = any(one.on_device for one in seen)
    places: dict[str, NodeOrigin] = {}
    events = []
    for one in seen:
        node = _NODE.match(one.name)
        if not node or on_device != one.on_device:
            events.append(_without_node(one))
            continue
        name, operation = node.groups()
        found = places[name] if name in places else places.setdefault(name, find(name, operation, graph, layers))
        own = scopes.kind(kind(operation), found.phase, found.where, layers)
        event = Event(one.thread, one.start_ns, one.end_ns, one.name, own, found.phase, *found.where)
        events.append(event._replace(inferred=found.rule, mixed=found.mixed))
    return events


def read_compiled(seen: Sequence[Seen], origins: Mapping[str, Origin]) -> list[Event]:
    """Return the events of a profile of a program that XLA has compiled, by what is known of its instructions.

    XLA starts some on its pool and goes on: such a one is done where the event `end: NAME` with the same link begins.
    """
    done_ns = {(one.name, one.link): one.start_ns for one in seen if one.name.startswith(_END)}
    on_device = any(one.on_device for one in seen)
    events = []
    for one in seen:
        if not one.instruction or on_device != one.on_device:
            if not one.name.startswith(_END):
                events.append(_without_node(one))
            continue
        end_ns = done_ns.get((_END + one.name, one.link), one.end_ns)
        origin = origins.get(one.instruction, Origin("other"))
        origin = on_gpu(origin, one.name) if one.on_device else origin
        event = Event(one.thread, one.start_ns, one.end_ns, one.name, **origin._asdict())
        events.append(event._replace(done_ns=end_ns if end_ns > one.end_ns else None))
    return events


def _without_node(one: Seen) -> Event:
    """Return an event that is no node's: on a GPU a copy or an unknown kernel, on the host TensorFlow's own code."""
    event = Event(one.thread, one.start_ns, one.end_ns, one.name, "host dispatch", launches=False)
    if not one.on_device:
        return event
    return event._replace(kind=copied(one.name) or "other", launches=True)


def called(name: str, operation: str) -> str:
    """Return what an event of a GPU is known by: the node whose kernel it is; a copy to or from the host, by itself."""
    return operation if operation and copied(name) != "device copy" else name


def steps(seen: Iterable[Seen]) -> list[tuple[float, float]]:
    """Return start and end of each marked step, in order."""
    return sorted((one.start_ns, one.end_ns) for one in seen if one.name == MARK)


def program(graph: Mapping[str, Node]) -> list[str]:
    """Return the operations of a graph without their names, in an order of their own."""
    return sorted(node.operation for node in graph.values())


def nameless(text: str) -> list[str]:
    """Return the lines of a program of XLA's in an order of their own, without names: they come from those of nodes."""
    return sorted(_NAMES.sub("", line) for line in text.splitlines())


def find(name: str, operation: str, graph: Mapping[str, Node], layers: Mapping[str, str]) -> NodeOrigin:
    """Return where a node is: by its own name, else by what it takes."""
    own = _named(name, layers)
    if is_fused(operation) and own.phase != "optimiser":
        return _of_fused(name, own, graph, layers)
    if own.phase:
        return own
    for near in _sources(name, graph):
        if (theirs := _named(near, layers)).phase:
            return theirs._replace(rule=BY_INPUT)
    return own


def _named(name: str, layers: Mapping[str, str]) -> NodeOrigin:
    """Return where a node is by its name alone."""
    parts = name.split("/")
    if scopes.is_optimizer(parts):
        return NodeOrigin("optimiser")
    where = scopes.place(parts, layers)
    if _GRADIENT in parts:
        return NodeOrigin("backward", where)
    return NodeOrigin("forward" if any(part.startswith((LAYER, FUNCTION)) for part in parts) else "", where)


def _of_fused(name: str, own: NodeOrigin, graph: Mapping[str, Node], layers: Mapping[str, str]) -> NodeOrigin:
    """Return where a fused operation is: in the layer whose weight it takes, and not where its last part was."""
    inputs = graph[name].inputs if name in graph else ()
    if len(inputs) <= _WEIGHT:
        return own
    weight = inputs[_WEIGHT]
    for near in (weight, *_sources(weight, graph)):
        if near in graph and graph[near].operation == _READ and (where := _named(near, layers).where).layer:
            has_moved = where != own.where
            phase: Phase = own.phase or "forward"
            return NodeOrigin(phase, Place(where.layer), BY_WEIGHT if has_moved else "", mixed=has_moved)
    return own


def _sources(name: str, graph: Mapping[str, Node]) -> Iterator[str]:
    """Go through the nodes that one takes, the nearest first, as far as a place may be looked for."""
    seen: set[str] = {name}
    level: Sequence[str] = [name]
    for _ in range(_HOPS):
        level = [one for near in level if near in graph for one in graph[near].inputs if one not in seen]
        seen.update(level)
        yield from dict.fromkeys(level)
