"""How much other processes use the processors while a block runs; what only Linux reports is None elsewhere."""

from __future__ import annotations

import os
import resource
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.record import Signals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOREIGN_LIMIT = 0.05
"""The share of all processor time from which on other processes count as disturbing a block (docs/timing.md)."""

FOREIGN_TICKS = 3
"""The number of clock ticks that their time must also exceed: /proc/stat counts in ticks of 10 ms, and a block lasts
some 100 ms and more, so that a tick or two may be rounding."""


class Counters(msgspec.Struct, frozen=True):
    """The values of all counters at one moment; None where the system has no such counter."""

    at_ns: int
    cpu_ns: int
    busy_ticks: int | None
    steal_ticks: int | None
    pressure_us: int | None
    involuntary_switches: int
    minor_faults: int
    major_faults: int


def read(loaders: Iterable[int] = ()) -> Counters:
    """Return all counters as they are now; takes about 50 microseconds, so it is called outside every timed part.

    `loaders` are the processes that load data for this one: their processor time counts as its own.
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
    """Return what happened between two readings of the counters."""
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
        cores=_cores(),
    )


def is_flagged(*blocks: Signals) -> bool:
    """Return whether others disturbed these blocks, taken together; blocks of unknown share do not count.

    Others are other processes and, on a virtual machine, the time that the hypervisor gave to other machines.
    """
    available_ns = taken_ns = 0.0
    for signals in blocks:
        if signals.foreign_share is not None:
            # Of the machine that they ran on: a record may be read on another one.
            whole_ns = (signals.cores or _cores()) * signals.wall_ns
            available_ns += whole_ns
            taken_ns += _taken(signals) * whole_ns
    return taken_ns > max(FOREIGN_LIMIT * available_ns, FOREIGN_TICKS * _tick_ns())


def is_disturbed(turn: Sequence[Signals]) -> bool:
    """Return whether others disturbed a turn: one of its blocks, or all together, whose longer time shows less."""
    return any(map(is_flagged, turn)) or is_flagged(*turn)


def _taken(signals: Signals) -> float:
    """Return the share of all processor time that went to others, or to other machines."""
    return (signals.foreign_share or 0.0) + (signals.steal_share or 0.0)


def _foreign_share(before: Counters, after: Counters, wall_ns: int, cpu_ns: int) -> float | None:
    """Return the share of all processor time that went to other processes; None where it is unknown."""
    busy = _difference(before.busy_ticks, after.busy_ticks)
    if busy is None or wall_ns == 0:
        return None
    # Our own time is exact and the machine's in whole ticks, so that the difference can be just below zero.
    return max(0.0, busy * _tick_ns() - cpu_ns) / (_cores() * wall_ns)


def _share(before: int | None, after: int | None, wall_ns: int) -> float | None:
    """Return the ticks between two readings as a share of all processor time; None where they are unknown."""
    ticks = _difference(before, after)
    return None if ticks is None or wall_ns == 0 else ticks * _tick_ns() / (_cores() * wall_ns)


def _difference(before: int | None, after: int | None) -> int | None:
    """Return after - before; None where one of them is unknown."""
    return None if before is None or after is None else after - before


def _machine_ticks() -> tuple[int | None, int | None]:
    """Return the machine's busy and stolen clock ticks since it booted (proc(5), /proc/stat); None where unknown."""
    try:
        with Path("/proc/stat").open() as file:
            user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return None, None
    return user + nice + system + irq + softirq, steal


def _cpu_ns(pid: int) -> int:
    """Return the processor time of another process, user and system (proc(5), /proc/pid/stat); 0 once it has ended."""
    try:
        # The program's name, in parentheses, may hold spaces: fields are counted from behind it.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) * _tick_ns()


def _pressure_us() -> int | None:
    """Return the total of `some` in /proc/pressure/cpu, in microseconds; None where the kernel does not count it."""
    try:
        with Path("/proc/pressure/cpu").open() as file:
            return int(file.readline().rpartition("=")[2])
    except (OSError, ValueError):
        return None


def _tick_ns() -> int:
    """Return the length of a clock tick of /proc, in nanoseconds."""
    return 1_000_000_000 // os.sysconf("SC_CLK_TCK")


@cache
def _cores() -> int:
    """Return the number of the machine's processors, usable or not: /proc/stat counts all of them.

    Python asks the system anew each time, and the verdict of a round asks for each block of all rounds before it.
    """
    return os.cpu_count() or 1
