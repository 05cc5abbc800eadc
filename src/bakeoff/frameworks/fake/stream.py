"""A device that works on after a step's call has returned: the script's stream, which `wait` joins.

In virtual time it is a ledger of until when the device is busy, one for all workers of this process, as they share one
GPU. In real time it is a thread that takes one step after another.
"""

from __future__ import annotations

import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

DISPATCH = 0.1
"""Share of a step's time that its call takes before the device works on alone."""


class Stream(Protocol):
    """Work that was started and is done in its order."""

    spent_ns: int
    """What the device has worked for this stream: its own ledger."""

    def start(self, duration_ns: int) -> None:
        """Put work of so many nanoseconds behind all that was started before."""

    def join(self) -> None:
        """Wait until all of it is done."""


class _Device:
    """The one device of virtual time."""

    busy_until_ns = 0


class VirtualStream:
    """A stream in virtual time."""

    def __init__(self, now_ns: Callable[[], int], let_pass: Callable[[int], None]) -> None:
        """Take the script's clock."""
        self._now_ns, self._let_pass = now_ns, let_pass
        self._done_ns = 0
        self.spent_ns = 0

    def start(self, duration_ns: int) -> None:
        """Begin when the device is free, whoever keeps it busy."""
        self._done_ns = max(self._now_ns(), _Device.busy_until_ns) + duration_ns
        _Device.busy_until_ns = self._done_ns
        self.spent_ns += duration_ns

    def join(self) -> None:
        """Let the time pass until this stream's last work is done."""
        self._let_pass(max(0, self._done_ns - self._now_ns()))


class ThreadStream:
    """A stream that is a thread."""

    def __init__(self) -> None:
        """Start the thread, which ends with the process."""
        self._work: SimpleQueue[int] = SimpleQueue()
        self._open = 0
        self._changed = threading.Condition()
        self.spent_ns = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def start(self, duration_ns: int) -> None:
        """Hand the work to the thread."""
        with self._changed:
            self._open += 1
        self._work.put(duration_ns)

    def join(self) -> None:
        """Wait until the thread has nothing left to do."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0)

    def _serve(self) -> None:
        """Do one piece of work after another."""
        while True:
            began_ns = time.perf_counter_ns()
            time.sleep(self._work.get() / 1e9)
            with self._changed:
                self.spent_ns += time.perf_counter_ns() - began_ns
                self._open -= 1
                self._changed.notify_all()
