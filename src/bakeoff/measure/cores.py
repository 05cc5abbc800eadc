"""Which processors share a core."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bakeoff.measure.machine import CPUS

if TYPE_CHECKING:
    from pathlib import Path


def one_of_each_core(cpus: Path = CPUS) -> str:
    """Return usable processors of which no two share a core, as taskset takes them; empty where that is not known."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    taken: dict[str, int] = {}
    try:
        for number in usable:
            siblings = (cpus / f"cpu{number}" / "topology" / "thread_siblings_list").read_text().strip()
            taken.setdefault(siblings, number)
    except OSError:
        return ""
    return _ranges(sorted(taken.values()))


def _ranges(numbers: list[int]) -> str:
    """Return numbers as ranges: "0-3,8"."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ",".join(f"{one[0]}-{one[-1]}" if len(one) > 1 else f"{one[0]}" for one in found)
