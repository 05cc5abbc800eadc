"""From what TensorFlow's profiler saw of steps in mode eager to events: pure, so that rules can be tested alone.

Operations have no names there, but scopes lie around those of the forward pass, as annotations of the same profile. A
gradient's operation says its kind alone; it is known by its time, between the loss and the update.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.frameworks import scopes
from bakeoff.frameworks.scopes import Place
from bakeoff.frameworks.tensorflow import nodes
from bakeoff.frameworks.tracing import FUNCTION, LAYER, LOSS, Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bakeoff.frameworks.tensorflow.nodes import Seen
    from bakeoff.spec.explained import Phase

BEHIND = "behind the loss"
"""The rule that finds the backward pass."""

_OPERATION, _KERNEL, _WITHIN = "EagerLocalExecute: ", "EagerKernelExecute", "KernelAndDevice"
"""How the events begin of an operation with all that leads to it, of its work, and of what that does inside."""


class _Frame(NamedTuple):
    """What holds within an event."""

    end_ns: float
    phase: Phase = ""
    where: Place = Place()
    operation: str = ""


def read(seen: Iterable[Seen], layers: Mapping[str, str]) -> list[Event]:
    """Return the events of a profile; `layers` has the vocabulary's class of each layer's path."""
    ordered = sorted(seen, key=lambda one: (one.thread, one.start_ns, -one.end_ns))
    return [event for _, group in groupby(ordered, lambda one: one.thread) for event in _thread(group, layers)]


def _thread(seen: Iterable[Seen], layers: Mapping[str, str]) -> Iterator[Event]:
    """Go through one thread's events in order."""
    stack: list[_Frame] = []
    is_behind = False
    for one in seen:
        while stack and stack[-1].end_ns <= one.start_ns:
            stack.pop()
        frame = _entered(stack[-1] if stack else _Frame(one.end_ns), one, layers)
        is_behind = (is_behind or one.name == scopes.layer(LOSS)) and one.name != nodes.MARK
        stack.append(frame)
        if not one.name.startswith(_WITHIN):
            yield _event(one, frame, layers, is_behind=is_behind)


def _entered(outer: _Frame, one: Seen, layers: Mapping[str, str]) -> _Frame:
    """Return what holds within an event, by what held outside."""
    frame = outer._replace(end_ns=one.end_ns)
    if one.name.startswith((LAYER, FUNCTION)):
        return frame._replace(phase="forward", where=scopes.entered(frame.where, one.name, layers))
    if scopes.is_optimizer([one.name]):
        return frame._replace(phase="optimiser")
    if one.name.startswith(_OPERATION):
        return frame._replace(operation=one.name.removeprefix(_OPERATION))
    return frame


def _event(one: Seen, frame: _Frame, layers: Mapping[str, str], *, is_behind: bool) -> Event:
    """Return an event in the words that all frameworks share."""
    is_work = one.name == _KERNEL and bool(frame.operation)
    native = nodes.kind(frame.operation) if is_work else "host dispatch"
    is_gradient = is_behind and not frame.phase
    phase: Phase = "backward" if is_gradient else frame.phase
    own = scopes.kind(native, phase, frame.where, layers)
    event = Event(one.thread, one.start_ns, one.end_ns, one.name, own, phase, *frame.where)
    return event._replace(inferred=BEHIND if is_gradient else "", launches=is_work)
