"""Which processors share a core, how they are shared out, and binding to some of them."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

from bakeoff.measure.machine import CPUS, usable_cores

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def usable() -> list[int]:
    """Return the numbers of the processors that this thread may use; none where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def one_of_each_core(cpus: Path = CPUS) -> str:
    """Return usable processors of which no two share a core, as taskset takes them; empty where that is not known."""
    return ranges([core[0] for core in _by_core(usable(), cpus)])


def whole_cores(cpus: Path = CPUS) -> int:
    """Return how many cores the usable processors are on; as many as processors where that is not known.

    Two threads of one core, of which each counts as a processor, are one.
    """
    return min(usable_cores(), len(_by_core(usable(), cpus)) or usable_cores())


def shares(count: int, numbers: Sequence[int], cpus: Path = CPUS) -> list[tuple[int, ...]]:
    """Return so many disjoint sets of as many processors each; none where there are fewer processors than sets.

    They are of whole cores where these are enough for sets of that size.
    """
    each = len(numbers) // count
    if not each:
        return []
    cores = _by_core(numbers, cpus) or [[number] for number in numbers]
    per_set = len(cores) // count
    sets = [list(chain.from_iterable(cores[index * per_set :][:per_set])) for index in range(count)]
    if any(len(one) < each for one in sets):
        in_order = list(chain.from_iterable(cores))
        sets = [in_order[index * each :] for index in range(count)]
    return [tuple(sorted(one[:each])) for one in sets]


def bind(numbers: Sequence[int]) -> None:
    """Have this thread, and all that it starts from now on, run on these processors alone.

    Nothing changes where there are none, and where the system has no way for it: what is in force is read back.
    """
    if numbers and hasattr(os, "sched_setaffinity"):
        with suppress(OSError):  # Such as a processor that was taken away meanwhile.
            os.sched_setaffinity(0, numbers)


def ranges(numbers: Sequence[int]) -> str:
    """Return numbers in ascending order as ranges: "0-3,8"."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ",".join(f"{one[0]}-{one[-1]}" if len(one) > 1 else f"{one[0]}" for one in found)


def _by_core(numbers: Sequence[int], cpus: Path) -> list[list[int]]:
    """Return processors by the core that they share; none where that is not known."""
    cores: dict[str, list[int]] = {}
    try:
        for number in numbers:
            siblings = (cpus / f"cpu{number}" / "topology" / "thread_siblings_list").read_text().strip()
            cores.setdefault(siblings, []).append(number)
    except OSError:
        return []
    return list(cores.values())
