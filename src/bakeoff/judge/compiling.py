"""From one contender's records to what it compiled, when, and how long that took."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.record import NS
from bakeoff.store.results import of_purpose

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.spec.record import Record


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """The first step and its parts; None is unknown, or not separated by the framework."""

    trace_s: float | None = None
    """From Python to what the compiler is given: tracing, differentiating, lowering."""
    compile_s: float | None = None
    """What the compiler makes of that."""
    first_step_s: float | None = None
    """All of the first step, waited for."""
    processes: int = 0


class Compiling(msgspec.Struct, frozen=True, kw_only=True):
    """What a contender compiles, and when."""

    cold: Start
    """With no cache: medians over the processes that had none; of none where all found what others had compiled, or
    where the process that had none was lost."""
    warm: Start | None = None
    """With the compiler's cache as an earlier process left it; None where nothing outlives the process."""
    count: int | None = None
    """Programs that a process compiled from its first step on: the most of all rounds."""
    again: list[str] = []
    """The timed blocks in which something was compiled: "round 3, turn 5"."""


def compiling(records: Sequence[Record]) -> Compiling | None:
    """Return what a contender compiled, from its records; None where they do not say."""
    done = [record for record in records if record.outcome == "done" and record.compilation is not None]
    timed = of_purpose(done, "time")
    cold, warm = ([record for record in done if record.trial.cache == state] for state in ("cold", "warm"))
    uncached = [record for record in timed if not record.trial.cache]
    if not timed:
        return None
    is_own = bool(uncached) and not _found_all(uncached)
    counts = [record.compilations for record in timed if record.compilations is not None]
    return Compiling(
        cold=_start(uncached if is_own else cold),
        warm=_start(warm) if warm else None,
        count=max(counts, default=None),
        again=_again(timed),
    )


def _found_all(timed: Sequence[Record]) -> bool:
    """Return whether timed processes compiled nothing, because earlier processes had left it in a cache."""
    parts = [record.compilation for record in timed if record.compilation is not None]
    return all(part.count and part.compile_ns == 0 for part in parts)


def _start(records: Sequence[Record]) -> Start:
    """Return the medians of first steps."""
    parts = [record.compilation for record in records if record.compilation is not None]
    return Start(
        trace_s=_median(part.trace_ns for part in parts),
        compile_s=_median(part.compile_ns for part in parts),
        first_step_s=_median(record.first_step_ns for record in records),
        processes=len(records),
    )


def _median(values_ns: Iterable[int | None]) -> float | None:
    """Return the median of the known durations, in seconds; None where none is known."""
    known = [value for value in values_ns if value is not None]
    return statistics.median(known) * NS if known else None


def _again(timed: Sequence[Record]) -> list[str]:
    """Return the names of the timed blocks in which something was compiled."""
    return [
        f"round {record.trial.round_number}, turn {block.turn + 1}"
        for record in timed
        for block in record.blocks
        if block.compilations
    ]
