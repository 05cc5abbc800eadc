"""The end of the command: nothing that a workload's file has left behind outlives it, or keeps it from ending."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bakeoff.workloads.left import Left

GRACE_S = 2.0
"""For threads and hooks that do end: most take milliseconds, and who waits for the command sees no more output."""


def leave(code: int) -> None:
    """End what users' files have left in this process, which is the command's own and is about to end with this code.

    Where no such file was run, or it has left nothing, nothing is done, and the process ends as any other.
    """
    ran = sys.modules.get("bakeoff.workloads.left")
    if ran is None:
        return
    left: Left = ran.LEFT
    _end(left.processes)
    if left.holds_the_end():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        threading.Thread(target=_end_at_last, args=(code,), daemon=True).start()


def _end(processes: set[int]) -> None:
    """Kill those of these processes that still are this one's children, and what they have started."""
    if not processes:
        return
    import psutil

    for child in psutil.Process().children():
        if child.pid in processes:
            with suppress(psutil.Error):
                family = [child, *child.children(recursive=True)]
                for one in family:
                    with suppress(psutil.Error):
                        one.kill()
                psutil.wait_procs(family, GRACE_S)


def _end_at_last(code: int) -> None:
    """End the process, unless it has ended by itself."""
    time.sleep(GRACE_S)
    os._exit(code)
