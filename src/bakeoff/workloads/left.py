"""What a workload's file leaves in the process that runs it: processes, threads, and hooks of the process's end."""

from __future__ import annotations

import atexit
import os
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TASKS = Path("/proc/self/task")


class Left:
    """What users' files have left in this process so far."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.processes: set[int] = set()
        """Children that were new; they may have ended since. Linux alone says which there are at no cost."""
        self.threads: set[threading.Thread] = set()
        """Those that Python waits for at its end."""
        self.has_hooks = False
        """Whether anything was registered to be called at the process's end."""

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what is left by what runs within; a process that is forked there ends where it would leave it."""
        own, children, threads, hooks = os.getpid(), _children(), set(threading.enumerate()), _hooks()
        try:
            yield
        finally:
            if os.getpid() != own:  # Else it would go on as a second bakeoff.
                os._exit(1)
            self.processes |= _children() - children
            self.threads |= {one for one in set(threading.enumerate()) - threads if not one.daemon}
            self.has_hooks |= _hooks() > hooks

    def holds_the_end(self) -> bool:
        """Return whether something of it may keep this process from ending."""
        return self.has_hooks or any(thread.is_alive() for thread in self.threads)


LEFT = Left()


def _children() -> set[int]:
    """Return the children of this process, as far as the system says."""
    found: set[int] = set()
    for file in _TASKS.glob("*/children"):
        with suppress(OSError):  # A thread that has just ended.
            found |= {int(number) for number in file.read_text().split()}
    return found


def _hooks() -> int:
    """Return how many functions are to be called at the process's end."""
    return atexit._ncallbacks()  # noqa: SLF001 - nothing public counts them
