"""From what PyTorch's profiler saw to events with their layer: pure, so that every rule can be tested by itself.

A forward operator lies within the scopes of its layer. A backward one lies within its autograd node, whose sequence
number is that of the forward operator which has made it.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.frameworks import scopes
from bakeoff.frameworks.scopes import Place
from bakeoff.frameworks.torch import operators
from bakeoff.frameworks.tracing import FUNCTION, LAYER, LOSS, Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bakeoff.frameworks.torch.kernels import Sources
    from bakeoff.spec.explained import OperationKind, Phase

MARK = "STEP"
"""The name under which a step is marked."""

FORWARD, BACKWARD = "O.forward", "O.backward"
"""Scopes around a forward pass without scopes of its own, and around the backward pass."""

_PASSES: dict[str, Phase] = {FORWARD: "forward", BACKWARD: "backward"}

_NODE = "autograd::engine::evaluate_function"
_OPTIMIZERS = ("Optimizer.step#", "Optimizer.zero_grad#")
"""How the names begin that torch.optim gives its own scopes."""

ACCUMULATED = "after the gradient that it takes"
"""The rule for what puts a gradient into its parameter, which autograd gives no number: it runs right behind."""


class Seen(NamedTuple):
    """What the profiler saw of one event; times in ns."""

    thread: str
    start_ns: float
    end_ns: float
    name: str
    sequence: int = -1
    """Of autograd: what an operator would make next, or what a node was made as; -1 for none."""
    is_node: bool = False
    """Whether it is a node of autograd's, in the backward pass."""
    identity: int = 0
    """By which events of a device name what has started them."""
    started_by: int = 0
    on_device: bool = False
    is_scope: bool = False
    """Whether it is a scope's span on a device, from its first kernel to its last: Kineto has it among the kernels."""


class Frame(NamedTuple):
    """What holds within an event: what it inherits from those around it, changed by what it is itself."""

    seen: Seen
    phase: Phase = ""
    where: Place = Place()
    sequence: int = -1
    """Of the autograd node that runs."""
    whole: OperationKind | None = None
    """The kind of the operator around it, where that has all that it calls."""
    within: bool = False
    """Whether it is inside of an operator."""
    region: str = ""
    """The compiled graph that runs."""


def read(seen: Sequence[Seen], layers: Mapping[str, str], sources: Sources | None = None) -> list[Event]:
    """Return the events of a profile; `layers` has the vocabulary's class of each layer's path.

    `sources` says which nodes of the model a compiled program's kernels come from.
    """
    frames = [frame for _, group in _by_thread(seen) for frame in _nested(group, layers)]
    made = _makers(frames)
    events, last = [], Place()
    for frame in frames:
        where, rule = frame.where, ""
        last = Place(LOSS) if frame.seen.name == BACKWARD else last
        if frame.phase == "backward" and where == Place():
            last = made.get(frame.sequence, Place()) if frame.sequence >= 0 else last
            where, rule = last, "" if frame.sequence >= 0 or last == Place() else ACCUMULATED
        events.append(_event(frame, where, rule, layers))
    if sources:
        events = sources.placed(frames, events)
    if not any(one.on_device for one in seen):
        return events
    # What an operator has called, CUPTI numbers anew: only numbers of operators, which nothing has started, are named.
    pairs = zip(frames, events, strict=True)
    by_identity = {frame.seen.identity: event for frame, event in pairs if not frame.seen.started_by}
    started = [_kernel(one, by_identity.get(one.started_by)) for one in seen if one.on_device and not one.is_scope]
    return [_launching(event) for event in events] + started


def steps(seen: Sequence[Seen]) -> list[tuple[float, float]]:
    """Return start and end of each marked step, in order."""
    return sorted((one.start_ns, one.end_ns) for one in seen if one.name == MARK and not one.on_device)


def program(seen: Sequence[Seen]) -> list[str]:
    """Return the operators of the last marked step in the order in which they were called, without any scope."""
    start_ns, end_ns = steps(seen)[-1]
    called = sorted(
        (one.start_ns, -one.end_ns, one.name) for one in seen if not one.on_device and start_ns <= one.start_ns < end_ns
    )
    names = [operators.operation(name) for _, _, name in called]
    return [name for name in names if name]


def _by_thread(seen: Sequence[Seen]) -> Iterator[tuple[str, Iterator[Seen]]]:
    """Go through the host's threads, each with its events, the outer ones first."""
    on_host = (one for one in seen if not one.on_device)
    return groupby(sorted(on_host, key=lambda one: (one.thread, one.start_ns, -one.end_ns)), lambda one: one.thread)


def _nested(events: Iterator[Seen], layers: Mapping[str, str]) -> Iterator[Frame]:
    """Go through one thread's events, each with what it inherits."""
    stack: list[Frame] = []
    for one in events:
        while stack and stack[-1].seen.end_ns <= one.start_ns:
            stack.pop()
        frame = _entered(stack[-1] if stack else None, one, layers)
        stack.append(frame)
        yield frame


def _entered(outer: Frame | None, one: Seen, layers: Mapping[str, str]) -> Frame:
    """Return what holds within an event, by what held outside."""
    if outer is None:
        outer = Frame(one)
    frame = _inside(outer)._replace(seen=one)
    if one.name.startswith(_OPTIMIZERS) or scopes.is_optimizer([one.name]):
        return frame._replace(phase="optimiser")
    if one.name in _PASSES:
        return frame._replace(phase=_PASSES[one.name])
    if one.name.startswith(_NODE) or one.is_node:
        return frame._replace(phase="backward", sequence=one.sequence)
    if one.name.startswith((LAYER, FUNCTION)):
        return frame._replace(where=scopes.entered(frame.where, one.name, layers), phase=frame.phase or "forward")
    return frame._replace(region=one.name) if operators.is_region(one.name) else frame


def _inside(outer: Frame) -> Frame:
    """Return what an event hands on to those within it, if it is an operator."""
    name = operators.operation(outer.seen.name)
    if not name:
        return outer
    found = operators.kind(name)
    return outer._replace(within=True, whole=outer.whole or (found if found in operators.WHOLE else None))


def _makers(frames: Iterable[Frame]) -> dict[int, Place]:
    """Return for each of autograd's numbers the place of the operator that made a node of this number.

    An operator notes the number that comes next, whether it takes it or not: the last one that has noted it, took it.
    """
    scoped = (frame for frame in frames if frame.where != Place() and not frame.seen.is_node)
    return {frame.seen.sequence: frame.where for frame in scoped if frame.seen.sequence >= 0}


def _event(frame: Frame, where: Place, rule: str, layers: Mapping[str, str]) -> Event:
    """Return an event in the words that all frameworks share."""
    name = operators.operation(frame.seen.name)
    native: OperationKind = (frame.whole or operators.kind(name)) if name else "host dispatch"
    if operators.is_work(frame.seen.name):
        native = "communication"
    found = scopes.kind(native, frame.phase, where, layers)
    is_start = bool(name) and not frame.within
    return Event(
        thread=frame.seen.thread,
        start_ns=frame.seen.start_ns,
        end_ns=frame.seen.end_ns,
        name=frame.seen.name,
        kind=found,
        phase=frame.phase,
        layer=where.layer,
        function=where.function,
        inferred=rule if name else "",
        launches=is_start,
    )


def _launching(event: Event) -> Event:
    """Return the event of an operator that has a device do its work: the host's own part of it is dispatch."""
    return event._replace(kind="host dispatch", launches=False)


def _kernel(one: Seen, started: Event | None) -> Event:
    """Return what ran on a device, in the place of the operator that has started it."""
    kind = operators.kernel_kind(one.name)
    if started is None or started.kind == "host dispatch":
        return Event(one.thread, one.start_ns, one.end_ns, one.name, kind or "other")
    own = kind if kind in scopes.KEPT else started.kind
    return started._replace(
        thread=one.thread, start_ns=one.start_ns, end_ns=one.end_ns, name=one.name, kind=own, launches=True
    )
