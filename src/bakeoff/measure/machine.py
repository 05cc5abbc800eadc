"""What this machine is: the facts that must agree for records to be compared, and how much of it may be used.

What is known of a GPU is the parent's to find out (gpu_facts.py): a framework's interpreter may not have NVML's client.
"""

from __future__ import annotations

import math
import os
import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.measure import cgroups, gpu_facts, system_settings
from bakeoff.measure.meminfo import meminfo_bytes

if TYPE_CHECKING:
    from bakeoff.measure.system_settings import Facts

SYSCTL_LIMIT_S = 5.0
"""Time limit of sysctl, which answers at once: where it does not, a comparison must not wait for it."""


def usable_cores() -> int:
    """Return how many processors this process may use: its affinity, within the control groups' quota, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cgroups.processors()
    return max(1, min(allowed, math.floor(quota))) if quota is not None else allowed


def describe(gpu: Facts | None = None) -> Facts:
    """Return the machine's facts, with the settings of its kernel and processor; None is unknown here.

    `gpu` is what is known of the GPU already; where it is None, NVML is asked for the first one.
    """
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "memory_bytes": _total_memory_bytes(),
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "hypervisor": _hypervisor(),
        **system_settings.settings(),
        **(gpu_facts.gpu() if gpu is None else gpu),
    }


def processor() -> str:
    """Return the processor's model name, such as "AMD EPYC 9R14" or "Apple M2 Pro".

    Clouds hide which it is ("AMD EPYC", "Intel(R) Xeon(R) CPU @ 2.20GHz"), and give another one on another day: such a
    name has the family and the model by number behind it.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # Not Linux: what follows is the best that other systems offer.
        return _apple_chip() or platform.processor() or platform.machine()
    parts = [line.partition(":") for line in lines]
    told = {key.strip().lower(): value.strip() for key, colon, value in parts if colon}
    name = told.get("model name") or told.get("model") or platform.processor() or platform.machine()
    keys = {"family": "cpu family", "model": "model", "stepping": "stepping"} if "cpu family" in told else {}
    numbers = [f"{word} {told[key]}" for word, key in keys.items() if key in told]
    is_hidden = not any(map(str.isdigit, name.partition("@")[0]))
    return f"{name} ({', '.join(numbers)})" if is_hidden and numbers else name


def _apple_chip() -> str:
    """Return the name of Apple's chip, processor and GPU in one; "" on other systems. Not run by us on a Mac."""
    if platform.system() != "Darwin":
        return ""
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SYSCTL_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


CPUS = Path("/sys/devices/system/cpu")


def last_level_cache_bytes() -> int | None:
    """Return the size of all last-level caches together (Linux, /sys/devices/system/cpu); None where it is unknown."""
    found: dict[int, dict[str, int]] = {}
    try:
        for index in CPUS.glob("cpu[0-9]*/cache/index*"):
            text = {name: (index / name).read_text().strip() for name in ("level", "size", "shared_cpu_list")}
            found.setdefault(int(text["level"]), {})[text["shared_cpu_list"]] = 1024 * int(
                text["size"].removesuffix("K")
            )
    except (OSError, ValueError):
        return None
    return sum(found[max(found)].values()) if found else None


def available_memory_bytes() -> int | None:
    """Return the memory that new processes could take without swapping, in bytes; None where it is unknown."""
    limits = [free for free in (meminfo_bytes("MemAvailable"), cgroups.free_memory_bytes()) if free is not None]
    return min(limits, default=None)


def _total_memory_bytes() -> int | None:
    """Return the size of the machine's memory; None where it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _hypervisor() -> str | None:
    """Return "yes" where the processor reports a hypervisor; None where it does not, or cannot be asked."""
    try:
        return "yes" if " hypervisor" in Path("/proc/cpuinfo").read_text() else None
    except OSError:
        return None
