"""What a container or a batch system leaves of a Linux machine: the limits of this process's control groups.

Both versions of control groups are read (cgroups(7)), from the process's own group up to the root, as each limits all
below it. Everything is None where there is no limit, or none is known.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOUNT = "/sys/fs/cgroup"


def processors() -> float | None:
    """Give the processor time that may be used in a unit of time."""
    return min((quota for folder in _folders("cpu") if (quota := _quota(folder)) is not None), default=None)


def free_memory_bytes() -> int | None:
    """Give the memory that may still be taken; what the kernel would drop first of its file cache counts as free."""
    return min((free for folder in _folders("memory") if (free := _free_bytes(folder)) is not None), default=None)


def _folders(controller: str) -> Iterator[Path]:
    """Give the folders of the groups that limit this process; in a container only the root's may be there."""
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
    """Give the quota of one group, in processors."""
    words = _words(folder / "cpu.max") or _words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us")
    match words:
        case [quota, period] if quota.isdecimal() and period.isdecimal():
            return int(quota) / int(period)
    return None


def _free_bytes(folder: Path) -> int | None:
    """Give what is left of the memory of one group."""
    limit = _words(folder / "memory.max") or _words(folder / "memory.limit_in_bytes")
    used = _words(folder / "memory.current") or _words(folder / "memory.usage_in_bytes")
    if not (limit and used and limit[0].isdecimal() and used[0].isdecimal()):
        return None
    stat = _words(folder / "memory.stat")
    counts = dict(zip(stat[::2], stat[1::2], strict=False))
    cache = int(counts.get("total_inactive_file") or counts.get("inactive_file") or 0)
    return max(0, int(limit[0]) - int(used[0]) + cache)


def _words(path: Path) -> list[str]:
    """Read a small file; no words where there is none."""
    try:
        return path.read_text().split()
    except OSError:
        return []
