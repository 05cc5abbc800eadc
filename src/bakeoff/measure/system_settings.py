"""What no program asks for and every step feels: how the kernel and the processor are set, and their state now."""

from __future__ import annotations

import statistics
from pathlib import Path

from bakeoff.measure.meminfo import meminfo_bytes

Facts = dict[str, str | int | float | None]

ADDR_NO_RANDOMIZE = 0x0040000
"""From <linux/personality.h>: this process was started with a fixed layout (setarch --addr-no-randomize)."""

LAYOUTS = {"0": "fixed", "1": "random but for the heap", "2": "random"}
"""/proc/sys/kernel/randomize_va_space: proc_sys_kernel(5)."""


def settings() -> Facts:
    """Give what must be equal for records to be compared; None is not known here."""
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
    """Give what changes while a machine stays the same: the processors' mean clock, swap; None is not known here."""
    total, free = meminfo_bytes("SwapTotal"), meminfo_bytes("SwapFree")
    return {
        "clock_mhz": _clock_mhz(),
        "swap_bytes": total,
        "swap_used_bytes": None if total is None or free is None else total - free,
    }


def _read(path: str) -> str | None:
    """Give the text of a file of the kernel's; None where there is none."""
    return _text(Path(path))


def _text(path: Path) -> str | None:
    """Give a file's text; None where there is none."""
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return None


def _chosen(path: str) -> str | None:
    """Give the word that the kernel has put in brackets: "always [madvise] never"."""
    text = _read(path) or ""
    return text.partition("[")[2].partition("]")[0] or None


def _switch(path: str, *, inverted: bool = False) -> str | None:
    """Give "on" or "off" for a file that says 1 or 0; any other positive number is on, too."""
    text = _read(path)
    if text is None or not text.isdigit():
        return None
    return "on" if (int(text) > 0) is not inverted else "off"


def _governor() -> str | None:
    """Give what sets the processors' clock; several where processors differ."""
    found = {_text(path) for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")}
    return ", ".join(sorted(name for name in found if name)) or None


def _turbo() -> str | None:
    """Tell whether processors may run above their base clock."""
    by_intel = _switch("/sys/devices/system/cpu/intel_pstate/no_turbo", inverted=True)
    return by_intel if by_intel is not None else _switch("/sys/devices/system/cpu/cpufreq/boost")


def _layout() -> str | None:
    """Tell whether each process has an address layout of its own."""
    personality = _read("/proc/self/personality")
    try:
        if personality is not None and int(personality, 16) & ADDR_NO_RANDOMIZE:
            return "fixed"
    except ValueError:
        pass  # Of another form: the system's switch below still tells.
    return LAYOUTS.get(_read("/proc/sys/kernel/randomize_va_space") or "")


def _clock_mhz() -> float | None:
    """Give the mean clock of all processors, as the kernel last saw it."""
    try:
        lines = (_read("/proc/cpuinfo") or "").splitlines()
        clocks = [float(line.partition(":")[2]) for line in lines if line.startswith("cpu MHz")]
    except ValueError:
        return None
    return round(statistics.fmean(clocks)) if clocks else None
