"""Ends a process that takes more memory than it may, before the machine swaps or ends others.

The address space is not limited instead (setrlimit(2), RLIMIT_AS): frameworks reserve far more of it than they use, and
what a limit on it refuses says nothing about memory.
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
"""Between two readings. New pages are cleared at some GB/s, so a process can be 100 MB beyond before it is seen."""

FLOOR_BYTES = 256 << 20
"""Where the machine has less than this left, the process is ended whatever its own limit: others need it, too."""


class MemoryLimit:
    """What was seen of one process."""

    reason = ""
    """Why it was ended; empty: it was not."""

    def __init__(self, pid: int) -> None:
        """Take a process that waits, with its framework imported: what it holds now is the baseline."""
        self._process = psutil.Process(pid)
        self._baseline_bytes = self._process.memory_info().rss

    @contextmanager
    def within(self, ceiling_bytes: int) -> Iterator[None]:
        """End the process as soon as it holds more than this beyond the baseline."""
        ended = threading.Event()

        def watch() -> None:
            with suppress(psutil.NoSuchProcess):  # It has ended by itself, and how is told elsewhere.
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
        """Say why the process cannot go on; empty while it can."""
        held_bytes = self._process.memory_info().rss - self._baseline_bytes
        if held_bytes > ceiling_bytes:
            return f"ended when it held {held_bytes / 1e6:,.0f} MB beyond its import"
        left_bytes = available_memory_bytes()
        if left_bytes is not None and left_bytes < FLOOR_BYTES:
            return f"ended when the machine had {left_bytes / 1e6:.0f} MB left; it held {held_bytes / 1e6:,.0f} MB"
        return ""
