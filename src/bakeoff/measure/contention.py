"""Who else uses the processors while a block runs; what only Linux tells is None elsewhere."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.record import Signals

if TYPE_CHECKING:
    from collections.abc import Iterable

FOREIGN_LIMIT = 0.05
"""Blocks with more foreign processor time than this share is flagged (docs/method.md)."""

FOREIGN_TICKS = 3
"""... if it is more than this many clock ticks: /proc/stat counts in ticks of 10 ms, and a block lasts some 250 ms."""


class Counters(msgspec.Struct, frozen=True):
    """The counters at one moment."""

    at_ns: int
    cpu_ns: int
    busy_ticks: int | None
    steal_ticks: int | None
    pressure_us: int | None
    involuntary_switches: int
    minor_faults: int
    major_faults: int


def read(loaders: Iterable[int] = ()) -> Counters:
    """Read all counters; about 50 microseconds, outside every timed part.

    `loaders` are processes that load for this one: their processor time counts as its own.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    busy, steal = _machine_ticks()
    return Counters(
        at_ns=time.perf_counter_ns(),
        cpu_ns=time.process_time_ns() + sum(map(_cpu_ns, loaders)),
        busy_ticks=busy,
        steal_ticks=steal,
        pressure_us=_pressure_us(),
        involuntary_switches=usage.ru_nivcsw,
        minor_faults=usage.ru_minflt,
        major_faults=usage.ru_majflt,
    )


def between(before: Counters, after: Counters) -> Signals:
    """Give what happened between two readings."""
    wall_ns = after.at_ns - before.at_ns
    cpu_ns = after.cpu_ns - before.cpu_ns
    return Signals(
        wall_ns=wall_ns,
        cpu_ns=cpu_ns,
        foreign_share=_foreign_share(before, after, wall_ns, cpu_ns),
        steal_share=_share(before.steal_ticks, after.steal_ticks, wall_ns),
        pressure_us=_difference(before.pressure_us, after.pressure_us),
        involuntary_switches=after.involuntary_switches - before.involuntary_switches,
        minor_faults=after.minor_faults - before.minor_faults,
        major_faults=after.major_faults - before.major_faults,
    )


def is_flagged(*blocks: Signals) -> bool:
    """Tell whether foreign load was seen beside these blocks, taken together."""
    known = [signals for signals in blocks if signals.foreign_share is not None]
    available_ns = _cores() * sum(signals.wall_ns for signals in known)
    foreign_ns = _cores() * sum((signals.foreign_share or 0.0) * signals.wall_ns for signals in known)
    return foreign_ns > max(FOREIGN_LIMIT * available_ns, FOREIGN_TICKS * _tick_ns())


def _foreign_share(before: Counters, after: Counters, wall_ns: int, cpu_ns: int) -> float | None:
    """Give the share of all processor time that went to other processes."""
    busy = _difference(before.busy_ticks, after.busy_ticks)
    if busy is None or wall_ns == 0:
        return None
    return max(0.0, busy * _tick_ns() - cpu_ns) / (_cores() * wall_ns)


def _share(before: int | None, after: int | None, wall_ns: int) -> float | None:
    """Give ticks as a share of all processor time."""
    ticks = _difference(before, after)
    return None if ticks is None or wall_ns == 0 else ticks * _tick_ns() / (_cores() * wall_ns)


def _difference(before: int | None, after: int | None) -> int | None:
    """Subtract where both are known."""
    return None if before is None or after is None else after - before


def _machine_ticks() -> tuple[int | None, int | None]:
    """Give the machine's busy and stolen clock ticks since it booted (proc(5), /proc/stat)."""
    try:
        with Path("/proc/stat").open() as file:
            user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return None, None
    return user + nice + system + irq + softirq, steal


def _cpu_ns(pid: int) -> int:
    """Give the processor time of another process, user and system (proc(5), /proc/pid/stat); 0 where it is not told."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) * _tick_ns()


def _pressure_us() -> int | None:
    """Give the total of `some` in /proc/pressure/cpu, in microseconds."""
    try:
        with Path("/proc/pressure/cpu").open() as file:
            return int(file.readline().rpartition("=")[2])
    except (OSError, ValueError):
        return None


def _tick_ns() -> int:
    """Give the length of a clock tick."""
    return 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def _cores() -> int:
    """Give the machine's processors: /proc/stat counts all of them."""
    return os.cpu_count() or 1
