"""The timer self-test: what a worker reads, and what it amounts to."""

from __future__ import annotations

from typing import Literal

import msgspec

TimerOutcome = Literal["passed", "failed", "untold", "unavailable"]
"""untold: the machine was too busy to tell.  unavailable: the framework has nothing to ask."""


class Profiled(msgspec.Struct, frozen=True):
    """What a framework's own profiler tells of some steps."""

    ns: int | None
    """From the start of the first thing it saw to the end of the last one; None where it cannot tell."""
    means: str
    """What was read, or why nothing could be: "torch.profiler, first operator to last"."""


class TimerTest(msgspec.Struct, frozen=True, kw_only=True):
    """The readings of one pass; the lists belong together pair by pair."""

    steps: int
    """Of a single block."""
    single_ns: list[int]
    double_ns: list[int]
    """Blocks of `steps` and of twice as many, interleaved in mirrored orders; streamed."""
    fetch_ns: list[int]
    """After the wait of each block, in the order in which they ran: to fetch the last step's result ..."""
    again_ns: list[int]
    """... and to fetch it once more, when nothing can be pending."""
    block_ns: list[int]
    """These blocks, in that order."""
    profiled_steps: int
    fenced_ns: list[int]
    """`profiled_steps` fenced steps in a row by bakeoff's clock ..."""
    profiled_ns: list[int]
    """... and the same steps by the framework's profiler; empty where it cannot tell."""
    profiler: str
    """What was read from it, or why nothing could be."""


class TimerCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One of the three checks."""

    name: Literal["doubling", "profiler", "fetching"]
    outcome: TimerOutcome
    detail: str


class TimerVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the clock can be trusted with one contender."""

    contender: str
    outcome: Literal["passed", "failed", "untold"]
    reason: str = ""
    """Why it is not passed, in a sentence."""
    checks: tuple[TimerCheck, ...] = ()
    tested_at: str = ""
    """UTC, ISO 8601; before the comparison where the test had been made already."""
    comparison: str = ""
    """The one in which it was made."""
