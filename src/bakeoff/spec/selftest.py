"""The timer's self-test: what a worker measures, and what is concluded."""

from __future__ import annotations

from typing import Literal

import msgspec

TimerOutcome = Literal["passed", "failed", "untold", "unavailable"]
"""untold: inconclusive, because the machine was too busy.  unavailable: the framework has no profiler to ask,
or it cannot be read here."""


class Profiled(msgspec.Struct, frozen=True):
    """What a framework's own profiler reports of some steps."""

    ns: int | None
    """From the start of the first event that it saw to the end of the last; None where it reports neither."""
    means: str
    """What was read, or why nothing could be read: "torch.profiler, first operator to last"."""
    empty: bool = False
    """It works here, and yet saw nothing: steps of which it sees no operation have computed nothing."""
    can_fail: bool = True
    """False where such a span was never held against a clock that is right: then it proves no clock wrong."""


class TimerTest(msgspec.Struct, frozen=True, kw_only=True):
    """The readings of one pass, in nanoseconds; items at the same place of parallel lists belong together.

    doubling   single_ns, double_ns: streamed blocks of `steps` steps and of twice as many, interleaved in mirrored
               orders
    fetching   block_ns, fetch_ns, again_ns: for all these blocks in the order in which they ran, the block's time, the
               time to fetch the last step's result after the wait, and to fetch it again when nothing can be pending
    profiler   fenced_ns, profiled_ns: `profiled_steps` fenced steps in a row by bakeoff's clock, and the same steps by
               the framework's profiler; profiled_ns is empty where that reports no time
    """

    steps: int
    """Steps of a single block."""
    single_ns: list[int]
    double_ns: list[int]
    fetch_ns: list[int]
    again_ns: list[int]
    block_ns: list[int]
    profiled_steps: int
    fenced_ns: list[int]
    profiled_ns: list[int]
    profiler: str
    """What was read from the profiler, or why nothing could be read."""
    profiler_empty: bool = False
    """Every session of a profiler that works here saw no operation at all; False in records older than this field."""
    empty_sessions: int = 0
    """How many sessions of such a profiler saw no operation; 0 in records older than this field."""
    profiler_can_fail: bool = True
    """False: what the profiler says is told, and fails no timer; True in records older than this field."""


class TimerCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one of the three checks."""

    name: Literal["doubling", "profiler", "fetching"]
    outcome: TimerOutcome
    detail: str


class TimerVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the clock can be trusted with one contender."""

    contender: str
    outcome: Literal["passed", "failed", "untold"]
    reason: str = ""
    """Why the timer did not pass, in a sentence."""
    checks: tuple[TimerCheck, ...] = ()
    tested_at: str = ""
    """UTC, ISO 8601; earlier than the comparison where an earlier test still holds."""
    comparison: str = ""
    """The comparison in which the test was made."""
