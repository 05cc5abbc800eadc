"""What this machine is: the facts that must agree for records to be compared, and how much of it may be used."""

from __future__ import annotations

import math
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.measure import devices, group, hidden
from bakeoff.measure.meminfo import meminfo_bytes

if TYPE_CHECKING:
    from bakeoff.measure.hidden import Facts


def usable_cores() -> int:
    """Give the processors that this process may use: affinity, clamped to the control groups' quota."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = group.processors()
    return max(1, min(allowed, math.floor(quota))) if quota is not None else allowed


def describe() -> Facts:
    """Give the machine's facts; None is not known here."""
    return {
        "processor": devices.processor(),
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "memory_bytes": _total_memory_bytes(),
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "hypervisor": _hypervisor(),
        **hidden.settings(),
        **devices.gpu(),
    }


def available_memory_bytes() -> int | None:
    """Give the memory that new processes could take without swapping; None where it is not known."""
    known = [free for free in (meminfo_bytes("MemAvailable"), group.free_memory_bytes()) if free is not None]
    return min(known, default=None)


def _total_memory_bytes() -> int | None:
    """Give the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _hypervisor() -> str | None:
    """Tell whether the kernel sees itself on a hypervisor: "yes", or None where it does not tell."""
    try:
        return "yes" if " hypervisor" in Path("/proc/cpuinfo").read_text() else None
    except OSError:
        return None
