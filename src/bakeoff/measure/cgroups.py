"""How much of a Linux machine a container or a batch system allows: the limits of this process's control groups.

Both versions of control groups are read (cgroups(7)), from the process's own group up to the root, because each group
limits all groups below it. Everything is None where there is no limit, or where it cannot be read.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from bakeoff.measure.meminfo import meminfo_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

MOUNT = "/sys/fs/cgroup"


def processors() -> float | None:
    """Return the number of processors that may be kept busy, as a fraction; None: no limit."""
    return min((quota for folder in _folders("cpu") if (quota := _quota(folder)) is not None), default=None)


def free_memory_bytes() -> int | None:
    """Return the memory that may still be taken, in bytes; None: no limit.

    Inactive file cache counts as free, because the kernel drops it first.
    """
    return min((free for folder in _folders("memory") if (free := _free_bytes(folder)) is not None), default=None)


def _folders(controller: str) -> Iterator[Path]:
    """Yield the folders of the groups that limit this process; in a container only the root's folder may exist."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mount = f"{MOUNT}/{controller}" if controllers else MOUNT  # Only version 1 names controllers.
        own = PurePosixPath(group.lstrip("/"))
        for path in (own, *own.parents):
            yield Path(f"{mount}/{path}")


def _quota(folder: Path) -> float | None:
    """Return the quota of one group, in processors; None where it has none."""
    words = _words(folder / "cpu.max") or _words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us")
    match words:
        case [quota, period] if quota.isdecimal() and period.isdecimal():
            return int(quota) / int(period)
    return None


def _free_bytes(folder: Path) -> int | None:
    """Return how much memory one group has left, in bytes; None where it has no limit."""
    limit = _words(folder / "memory.max") or _words(folder / "memory.limit_in_bytes")
    used = _words(folder / "memory.current") or _words(folder / "memory.usage_in_bytes")
    if not (limit and used and limit[0].isdecimal() and used[0].isdecimal()):
        return None
    total_bytes = meminfo_bytes("MemTotal")
    if total_bytes is not None and int(limit[0]) > total_bytes:
        return None  # The first version says "no limit" by a number that no machine has.
    stat = _words(folder / "memory.stat")
    counts = dict(zip(stat[::2], stat[1::2], strict=False))
    cache = int(counts.get("total_inactive_file") or counts.get("inactive_file") or 0)
    return max(0, int(limit[0]) - int(used[0]) + cache)


def _words(path: Path) -> list[str]:
    """Return the words of a small file; an empty list where it cannot be read."""
    try:
        return path.read_text().split()
    except OSError:
        return []
