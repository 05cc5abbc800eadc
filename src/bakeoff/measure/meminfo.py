"""The machine's memory as Linux tells it: proc_meminfo(5)."""

from __future__ import annotations

from pathlib import Path


def meminfo_bytes(key: str) -> int | None:
    """Read one line of /proc/meminfo, which counts in kibibytes; None where it is not known."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == key:
                return int(value.removesuffix("kB")) * 1024
    except (OSError, ValueError):
        return None
    return None
