"""From a trace to shares: each instant of a step is divided among what is active then. Pure.

On a thread the innermost event is active. Host dispatch counts only while no operation is active, a layer's own before
that of none, and idle is what is left, so that the parts of a step have the step's own length as their sum. Work that
was only started on a thread, and ends later, runs beside what follows there: such works share the threads that are
left.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.spec.explained import OperationKind, Phase, Share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bakeoff.frameworks.tracing import Event, Trace


class Key(NamedTuple):
    """What time is summed by."""

    kind: OperationKind
    phase: Phase = ""
    layer: str = ""
    function: str = ""


class Amount:
    """What one step spends on one key."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.ns = self.inferred_ns = self.mixed_ns = 0.0
        self.launches = 0

    def add(self, ns: float, event: Event | None) -> None:
        """Add time of an event, or of none."""
        self.ns += ns
        if event is not None and event.inferred:
            self.inferred_ns += ns
        if event is not None and event.mixed:
            self.mixed_ns += ns


class SweptStep:
    """One step: how long it is, and what its time goes to."""

    def __init__(self, length_ns: float) -> None:
        """Begin with nothing known of its time."""
        self.length_ns = length_ns
        self.events = 0
        self.amounts: defaultdict[Key, Amount] = defaultdict(Amount)

    def waited(self, ns: float) -> None:
        """Take so much of what is idle for waiting on the next batch, which no profiler names."""
        waited_ns = min(ns, self.amounts[IDLE].ns)
        self.amounts[IDLE].ns -= waited_ns
        self.amounts[INPUT].ns += waited_ns


IDLE, INPUT = Key("idle"), Key("input wait")
DISPATCH: OperationKind = "host dispatch"
COMMUNICATION: OperationKind = "communication"


class _Mark(NamedTuple):
    """A moment at which something begins or ends; ends come first, and of what begins at once the longest."""

    at_ns: float
    begins: bool
    first: float
    number: int
    """Of the event; of a step, its number counted from -1 downwards."""
    beside: bool = False
    """The part of an event in which it runs beside what follows on its thread."""


def swept(trace: Trace, threads: int) -> list[SweptStep]:
    """Return what each marked step of a trace spends, with so many threads at most at work."""
    spans = sorted(trace.steps)
    steps = [SweptStep(end - start) for start, end in spans]
    _count(steps, [start for start, _ in spans], spans, trace.events)
    stacks: defaultdict[str, list[int]] = defaultdict(list)
    beside: list[int] = []
    now: SweptStep | None = None
    last_ns = 0.0
    for mark in sorted(chain(_of_events(trace.events), _of_steps(spans))):
        if now is not None and mark.at_ns > last_ns:
            tops = [trace.events[stack[-1]] for stack in stacks.values() if stack]
            _divide(now, mark.at_ns - last_ns, tops, [trace.events[one] for one in beside], threads)
        last_ns = mark.at_ns
        if mark.number < 0:
            now = steps[-1 - mark.number] if mark.begins else None
        else:
            active = beside if mark.beside else stacks[trace.events[mark.number].thread]
            (active.append if mark.begins else active.remove)(mark.number)
    return steps


def _of_events(events: Sequence[Event]) -> Iterator[_Mark]:
    """Yield when events begin and end; what takes no time has no marks."""
    for index, event in enumerate(events):
        if event.end_ns > event.start_ns:
            yield _Mark(event.start_ns, True, -event.end_ns, index)  # noqa: FBT003 - it begins
            yield _Mark(event.end_ns, False, 0.0, index)  # noqa: FBT003 - it ends
        if event.done_ns is not None and event.done_ns > event.end_ns:
            yield _Mark(event.end_ns, True, 0.0, index, beside=True)  # noqa: FBT003 - it begins
            yield _Mark(event.done_ns, False, 0.0, index, beside=True)  # noqa: FBT003 - it ends


def _of_steps(spans: Iterable[tuple[float, float]]) -> Iterator[_Mark]:
    """Yield when steps begin and end."""
    for number, (start, end) in enumerate(spans):
        yield _Mark(start, True, 0.0, -1 - number)  # noqa: FBT003 - it begins
        yield _Mark(end, False, 0.0, -1 - number)  # noqa: FBT003 - it ends


def _count(
    steps: Sequence[SweptStep], starts: Sequence[float], spans: Sequence[tuple[float, float]], events: Iterable[Event]
) -> None:
    """Count each event, and what was launched, in the step that it begins in."""
    for event in events:
        number = bisect_right(starts, event.start_ns) - 1
        if number < 0 or event.start_ns >= spans[number][1]:
            continue
        steps[number].events += 1
        if event.launches:
            steps[number].amounts[_key(event)].launches += 1


def _divide(step: SweptStep, ns: float, tops: Sequence[Event], beside: Sequence[Event], threads: int) -> None:
    """Divide a stretch of time, in which nothing begins or ends, among what is active in it."""
    work = [event for event in tops if event.kind != DISPATCH]
    left = max(0, threads - len(work)) if beside else 0
    if work or left:
        whole = ns / (len(work) + left)
        parts = [(event, whole) for event in work] + [(event, whole * left / len(beside)) for event in beside]
    else:
        # A layer that calls back into the host is what the threads without a layer wait for.
        told = [event for event in tops if event.layer] or tops
        parts = [(event, ns / len(told)) for event in told]
    for event, share_ns in parts:
        step.amounts[_key(event)].add(share_ns, event)
    if not parts:
        step.amounts[IDLE].add(ns, None)


def _key(event: Event) -> Key:
    """Return what an event's time is summed by; host dispatch has no phase, which some frameworks do not tell.

    A collective is of all layers whose gradients it takes, in whatever phase the framework starts it.
    """
    if event.kind == COMMUNICATION:
        return Key(COMMUNICATION)
    if event.kind in (DISPATCH, IDLE.kind):
        return Key(event.kind, "", event.layer, event.function)
    return Key(event.kind, event.phase, event.layer, event.function)


def typical(steps: Sequence[SweptStep]) -> list[SweptStep]:
    """Return the middle half of steps by length: a single stalled step would be the first row else."""
    ordered = sorted(steps, key=lambda step: step.length_ns)
    cut = len(ordered) // 4
    return ordered[cut : len(ordered) - cut]


def shares(kept: Sequence[SweptStep]) -> list[Share]:
    """Return what these steps spend, as shares of their time, the largest first; empty where no time has passed."""
    length_ns = sum(step.length_ns for step in kept)
    if not length_ns:
        return []
    totals: defaultdict[Key, list[Amount]] = defaultdict(list)
    for step in kept:
        for key, amount in step.amounts.items():
            totals[key].append(amount)
    found = [
        Share(
            **key._asdict(),
            share=sum(one.ns for one in amounts) / length_ns,
            launches=sum(one.launches for one in amounts) / len(kept),
            inferred=sum(one.inferred_ns for one in amounts) / length_ns,
            mixed=sum(one.mixed_ns for one in amounts) / length_ns,
        )
        for key, amounts in totals.items()
    ]
    return sorted(found, key=lambda one: -one.share)
