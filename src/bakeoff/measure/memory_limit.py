"""End a process that takes more memory than it may, before the machine swaps or the kernel ends other processes.

A limit on the address space (setrlimit(2), RLIMIT_AS) would not do: frameworks reserve far more of it than they use, so
that it would refuse what needs little memory.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psutil

from bakeoff.measure.machine import available_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

PERIOD_S = 0.01
"""Time between two readings. The kernel clears new pages at some GB/s, so that a process can be 100 MB beyond its limit
before that is seen."""

FLOOR_BYTES = 256 << 20
"""When the machine has less than this left, the process is ended whatever its own limit is: others need memory, too."""


class MemoryLimit:
    """Watches one process, and ends it above a limit."""

    reason = ""
    """Why the process was ended; empty: it was not."""

    def __init__(self, pid: int) -> None:
        """Take a process that has imported its framework and waits: what it holds now is the baseline."""
        self._process = psutil.Process(pid)
        self._baseline_bytes = self._process.memory_info().rss

    @contextmanager
    def within(self, ceiling_bytes: int) -> Iterator[None]:
        """Within the context, end the process as soon as it holds more than this beyond the baseline."""
        ended = threading.Event()

        def watch() -> None:
            with suppress(psutil.NoSuchProcess):  # It has ended by itself: its worker reports how.
                while not ended.wait(PERIOD_S):
                    self.reason = self._why_end(ceiling_bytes)
                    if self.reason:
                        self._process.kill()
                        return

        watcher = threading.Thread(target=watch, name="memory-watch", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def _why_end(self, ceiling_bytes: int) -> str:
        """Return why the process cannot go on; empty while it can."""
        held_bytes = self._process.memory_info().rss - self._baseline_bytes
        if held_bytes > ceiling_bytes:
            return f"ended when it held {held_bytes / 1e6:,.0f} MB beyond its import"
        left_bytes = available_memory_bytes()
        if left_bytes is not None and left_bytes < FLOOR_BYTES:
            return f"ended when the machine had {left_bytes / 1e6:.0f} MB left; it held {held_bytes / 1e6:,.0f} MB"
        return ""
