"""How much of NVIDIA GPUs a worker holds, seen from outside: context, kernels and an allocator's reserve included.

This path was not run on a GPU by us.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bakeoff.measure import nvml
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

PERIOD_S = 0.02
"""Between two readings: allocators keep what they have taken from the device, so that a peak lasts far longer."""

UNLISTED = "NVML does not tell what its processes hold, as in many containers"


class GpuMemoryPeak:
    """The most that processes held, over all readings."""

    def __init__(self) -> None:
        """Start without a reading."""
        self.readings = 0
        self.peak_bytes: int | None = None
        """None: unknown, for this reason."""
        self.reason = UNLISTED

    def read(self, pynvml: Any, pids: Collection[int]) -> None:
        """Weigh once."""
        self.readings += 1
        held = held_bytes(pynvml, pids)
        if held is not None:
            self.peak_bytes, self.reason = max(held, self.peak_bytes or 0), ""


def held_bytes(pynvml: Any, pids: Collection[int]) -> int | None:
    """Give what these processes hold of all GPUs together; None where NVML lists none of them, or not how much."""
    gpus = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
    running = [process for gpu in gpus for process in pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)]
    held = [process.usedGpuMemory for process in running if process.pid in pids]
    return None if not held or None in held else sum(held)


@contextmanager
def peak_watched(pids: Callable[[], Collection[int]]) -> Iterator[GpuMemoryPeak]:
    """Give a scale on which the processes that `pids` names stand until the end."""
    peak = GpuMemoryPeak()
    ended = threading.Event()

    def weigh() -> None:
        try:
            with nvml.opened() as pynvml:
                last = False
                while not last:
                    # What is there in the end is read, too, so that even the shortest time has a reading.
                    last = ended.wait(PERIOD_S)
                    peak.read(pynvml, pids())
        except UnavailableError as error:
            peak.reason = f"NVML: {error}"

    weigher = threading.Thread(target=weigh, name="gpu-memory", daemon=True)
    weigher.start()
    try:
        yield peak
    finally:
        ended.set()
        weigher.join()
