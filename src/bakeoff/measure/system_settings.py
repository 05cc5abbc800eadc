"""How the kernel and the processor are set, and their state now: every step depends on it, no program asks for it."""

from __future__ import annotations

import statistics
from pathlib import Path

from bakeoff.measure.meminfo import meminfo_bytes

Facts = dict[str, str | int | float | None]

ADDR_NO_RANDOMIZE = 0x0040000
"""The bit of <linux/personality.h> for a process with a fixed layout (setarch --addr-no-randomize)."""

LAYOUTS = {"0": "fixed", "1": "random but for the heap", "2": "random"}
"""Values of /proc/sys/kernel/randomize_va_space: proc_sys_kernel(5)."""


def settings() -> Facts:
    """Return the settings that must agree for records to be compared; None is unknown here."""
    return {
        "huge_pages": _chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        "numa_nodes": len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or None,
        "numa_balancing": _switch("/proc/sys/kernel/numa_balancing"),
        "governor": _governor(),
        "turbo": _turbo(),
        "sibling_threads": _switch("/sys/devices/system/cpu/smt/active"),
        "address_layout": _layout(),
    }


def weather() -> Facts:
    """Return what may change on the same machine: the processors' mean clock, swap; None is unknown here."""
    total, free = meminfo_bytes("SwapTotal"), meminfo_bytes("SwapFree")
    return {
        "clock_mhz": _clock_mhz(),
        "swap_bytes": total,
        "swap_used_bytes": None if total is None or free is None else total - free,
    }


def _read(path: str) -> str | None:
    """Return the text of one of the kernel's files; None where it cannot be read."""
    return _text(Path(path))


def _text(path: Path) -> str | None:
    """Return a file's text; None where it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return None


def _chosen(path: str) -> str | None:
    """Return the word in brackets, which the kernel has chosen: "always [madvise] never"."""
    text = _read(path) or ""
    return text.partition("[")[2].partition("]")[0] or None


def _switch(path: str, *, inverted: bool = False) -> str | None:
    """Return "on" for a file that holds a positive number and "off" for 0, or `inverted`; None for all else."""
    text = _read(path)
    if text is None or not text.isdigit():
        return None
    return "on" if (int(text) > 0) is not inverted else "off"


def _governor() -> str | None:
    """Return the governor that sets the processors' clock; all of them where processors differ."""
    governors = {_text(path) for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")}
    return ", ".join(sorted(name for name in governors if name)) or None


def _turbo() -> str | None:
    """Return "on" where processors may run above their base clock, else "off"; None is unknown."""
    by_intel = _switch("/sys/devices/system/cpu/intel_pstate/no_turbo", inverted=True)
    return by_intel if by_intel is not None else _switch("/sys/devices/system/cpu/cpufreq/boost")


def _layout() -> str | None:
    """Return how the addresses of this process are laid out, one of LAYOUTS' values; None is unknown."""
    personality = _read("/proc/self/personality")
    try:
        if personality is not None and int(personality, 16) & ADDR_NO_RANDOMIZE:
            return "fixed"
    except ValueError:
        pass  # Of another form: the system's own setting below is what is left.
    return LAYOUTS.get(_read("/proc/sys/kernel/randomize_va_space") or "")


def _clock_mhz() -> float | None:
    """Return the mean clock of all processors in MHz, as the kernel last read it; None is unknown."""
    try:
        lines = (_read("/proc/cpuinfo") or "").splitlines()
        clocks = [float(line.partition(":")[2]) for line in lines if line.startswith("cpu MHz")]
    except ValueError:
        return None
    return round(statistics.fmean(clocks)) if clocks else None
