"""Processes that outlive the worker that started them, in a session of their own and without its environment.

Neither the worker's process group nor its mark finds those. On Linux a process may ask to become the parent of all
orphans among its descendants (prctl(2), PR_SET_CHILD_SUBREAPER). That is for a process that is bakeoff's own: the
orphans that a user's program has could not be distinguished from these.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

import psutil

_PR_SET_CHILD_SUBREAPER = 36
"""linux/prctl.h."""

_ROUNDS = 10
"""An orphan's own children become orphans when it ends; who starts others faster than that does nothing else."""

_state = {"adopting": False}

own: set[int] = set()
"""Processes in sessions of their own that bakeoff itself has started: workers while they live, and the guard."""


def adopt() -> None:
    """Become the parent of all orphans among this process's descendants, where the system has that."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            _state["adopting"] = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def end_orphans() -> None:
    """Kill every orphan that has come here, and what becomes one by that; nothing where this process adopts none."""
    if not _state["adopting"]:
        return
    for _ in range(_ROUNDS):
        if not [child for child in psutil.Process().children() if _is_ended(child)]:
            return


def _is_ended(child: psutil.Process) -> bool:
    """Kill a child unless bakeoff has started it, and take its exit code; return whether it was an orphan."""
    try:
        if child.pid in own or os.getsid(child.pid) == os.getsid(0):
            return False
        child.kill()
        child.wait()
    except (psutil.Error, OSError):
        return False  # Gone already.
    return True
