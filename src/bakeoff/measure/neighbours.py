"""Which other processes take processor time now, by name: what a user can end before a comparison."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEAST_SHARE = 0.02
"""Of one processor: what takes less disturbs no block (a block is disturbed from 5 % of all processors on)."""

MOST = 5
"""Named at most: whoever is busier than the sixth explains the noise."""


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """Other processes of one name that were busy."""

    name: str
    pids: list[int]
    """The busiest first."""
    share: float
    """Of one processor, of all of them together, while they were watched."""


@contextmanager
def watched() -> Iterator[list[Neighbour]]:
    """Yield a list that holds, once the block has ended, who was busy during it: the busiest first."""
    found: list[Neighbour] = []
    before, began_s = _times(), time.monotonic()
    yield found
    passed_s = max(time.monotonic() - began_s, 1e-9)
    after = _times()
    found += busiest({one: (after[one] - before[one]) / passed_s for one in after if one in before})


def busiest(shares: Mapping[tuple[int, str], float]) -> list[Neighbour]:
    """Return who is busy, by name, from each process's share of a processor."""
    by_name: dict[str, list[tuple[int, float]]] = {}
    for (pid, name), share in sorted(shares.items(), key=lambda one: -one[1]):
        if share > 0:
            by_name.setdefault(name, []).append((pid, share))
    all_of_them = [
        Neighbour(name=name, pids=[pid for pid, _ in mine], share=sum(share for _, share in mine))
        for name, mine in by_name.items()
    ]
    busy = [one for one in all_of_them if one.share >= LEAST_SHARE]
    return sorted(busy, key=lambda one: -one.share)[:MOST]


def _times() -> dict[tuple[int, str], float]:
    """Return the processor time of every other process that is visible, in seconds; a number may be used again."""
    found = {}
    for process in psutil.process_iter(["pid", "name", "cpu_times"]):
        times, pid = process.info["cpu_times"], process.info["pid"]
        if times is not None and pid != os.getpid():
            found[pid, str(process.info["name"])] = times.user + times.system
    return found
