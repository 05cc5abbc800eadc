"""How much memory a worker holds on NVIDIA GPUs, read by the parent: context, kernels and reserves included."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.measure import nvml
from bakeoff.measure.gpu_facts import COMPUTE_MODES, Device
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

PERIOD_S = 0.02
"""Time between two readings: allocators keep what they have taken from the device, so that a peak lasts far longer."""

UNLISTED = "NVML does not tell what its processes hold, as in many containers"
"""Why the peak is unknown where NVML answers, but names none of the processes or no size for them."""


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What a GPU has for processes that are to be on it together."""

    free_bytes: int | None = None
    """None: not known, for `reason`."""
    total_bytes: int | None = None
    exclusive: str = ""
    """The compute mode, where it admits no second process."""
    reason: str = ""


def room_of(uuid: str = "") -> Room:
    """Return the room on the GPU that has this UUID, or on the first."""
    try:
        with nvml.opened() as pynvml:
            device = Device(pynvml, uuid)
            memory, mode = pynvml.nvmlDeviceGetMemoryInfo(device.handle), device.compute_mode()
    except UnavailableError as error:
        return Room(reason=f"NVML: {error}")
    exclusive = mode if mode is not None and mode != COMPUTE_MODES[0] else ""
    return Room(free_bytes=memory.free, total_bytes=memory.total, exclusive=exclusive)


class GpuMemoryPeak:
    """The most memory that some processes held together, over all readings: of each GPU, and of the fullest."""

    def __init__(self, *uuids: str) -> None:
        """Start without a reading, of the GPUs with these UUIDs, or of all GPUs together."""
        self._uuids = uuids or ("",)
        self._peaks: dict[str, int] = {}
        self.readings = 0
        self.reason = UNLISTED
        """Why the peak is unknown; of several GPUs it is where that of any of them is."""

    @property
    def each_bytes(self) -> list[int] | None:
        """The peak of each GPU, in bytes and in their order; None where one is unknown."""
        return [self._peaks[uuid] for uuid in self._uuids] if len(self._peaks) == len(self._uuids) else None

    @property
    def peak_bytes(self) -> int | None:
        """The peak of the fullest GPU; None: unknown, for `reason`."""
        return max(self.each_bytes or (), default=None)

    def read(self, pynvml: Any, pids: Collection[int]) -> None:
        """Read once what the processes `pids` hold, and keep the peaks."""
        self.readings += 1
        for uuid in self._uuids:
            held = held_bytes(pynvml, pids, uuid)
            if held is not None:
                self._peaks[uuid] = max(held, self._peaks.get(uuid, 0))
        if self.each_bytes:
            self.reason = ""


def held_bytes(pynvml: Any, pids: Collection[int], uuid: str = "") -> int | None:
    """Return the memory that these processes hold on the GPU with this UUID, or on all together, in bytes.

    None where NVML lists none of them, or does not say how much one holds.
    """
    if uuid:
        gpus = [pynvml.nvmlDeviceGetHandleByUUID(uuid)]
    else:
        gpus = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
    running = [process for gpu in gpus for process in pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)]
    held = [process.usedGpuMemory for process in running if process.pid in pids]
    return None if not held or None in held else sum(held)


@contextmanager
def peak_watched(pids: Callable[[], Collection[int]], *uuids: str) -> Iterator[GpuMemoryPeak]:
    """Yield the peak of the processes that `pids` returns, which is read in a thread until the context ends."""
    peak = GpuMemoryPeak(*uuids)
    ended = threading.Event()

    def watch() -> None:
        try:
            with nvml.opened() as pynvml:
                last = False
                while not last:
                    # One reading more after the end, so that even the shortest context has a reading.
                    last = ended.wait(PERIOD_S)
                    peak.read(pynvml, pids())
        except UnavailableError as error:
            peak.reason = f"NVML: {error}"

    watcher = threading.Thread(target=watch, name="gpu-memory", daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()
