"""What this machine is: the facts that must agree for records to be compared, and how much of it may be used."""

from __future__ import annotations

import math
import os
import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.measure import cgroups, nvml, system_settings
from bakeoff.measure.meminfo import meminfo_bytes
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from bakeoff.measure.system_settings import Facts

SYSCTL_LIMIT_S = 5.0
"""sysctl answers at once; a machine on which it does not must not hold a comparison up."""


def usable_cores() -> int:
    """Give the processors that this process may use: affinity, clamped to the control groups' quota."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cgroups.processors()
    return max(1, min(allowed, math.floor(quota))) if quota is not None else allowed


def describe() -> Facts:
    """Give the machine's facts; None is not known here."""
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
        **gpu(),
    }


def processor() -> str:
    """Give the processor's model name, such as "AMD EPYC 9R14" or "Apple M2 Pro"."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # Not Linux: the answers below are the best there are.
    return _apple_chip() or platform.processor() or platform.machine()


def _apple_chip() -> str:
    """Give the chip's name on macOS, which is processor and GPU in one; "" elsewhere. Not run by us."""
    if platform.system() != "Darwin":
        return ""
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SYSCTL_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def gpu() -> Facts:
    """Give name, capability, driver and memory of the first GPU by NVML; empty where NVML or a GPU is missing."""
    try:
        with nvml.opened() as told:
            handle = told.nvmlDeviceGetHandleByIndex(0)
            major, minor = told.nvmlDeviceGetCudaComputeCapability(handle)
            # NVML has 12080 for CUDA 12.8, the newest that the driver runs.
            cuda = int(told.nvmlSystemGetCudaDriverVersion_v2())
            return {
                "gpu": str(told.nvmlDeviceGetName(handle)),
                "gpus": int(told.nvmlDeviceGetCount()),
                "gpu_compute_capability": f"{major}.{minor}",
                "gpu_driver": str(told.nvmlSystemGetDriverVersion()),
                "gpu_driver_cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
                "gpu_memory_bytes": int(told.nvmlDeviceGetMemoryInfo(handle).total),
            }
    except UnavailableError:
        return {}


def available_memory_bytes() -> int | None:
    """Give the memory that new processes could take without swapping; None where it is not known."""
    known = [free for free in (meminfo_bytes("MemAvailable"), cgroups.free_memory_bytes()) if free is not None]
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
