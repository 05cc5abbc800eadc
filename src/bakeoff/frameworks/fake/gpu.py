"""A pretended GPU: a folder in which processes note how much of its memory they hold; what is not there is refused.

The folder that BAKEOFF_PRETENDED_GPUS names has one folder for each GPU, named by its index: gpu.txt with its facts,
and processes/PID with the bytes that a process holds, as decimal text, changed under an exclusive lock of `lock`.
What processes that are gone have noted does not count.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.frameworks.fake.exhaustion import TEXTS, FakeGpuError
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.record import DeviceMemory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GPUS = "BAKEOFF_PRETENDED_GPUS"
"""The variable that names the folder of the pretended GPUs."""

VISIBLE = "CUDA_VISIBLE_DEVICES"
"""Indices or UUIDs, separated by commas; the first that is none of the GPUs ends the list, as CUDA has it."""

BACKING_OFF = 0.9
"""Where a pool does not fit, XLA's allocator tries one smaller by this factor, again and again, until it fits or is
smaller than what is asked for (BFCAllocator::Extend in tsl/framework/bfc_allocator.cc)."""

PROHIBITED, EXCLUSIVE_PROCESS = "2", "3"
"""Compute modes, as NVML counts them (nvmlComputeMode_t), in which no process gets a context, or no second one."""


def visible_gpus() -> list[Path]:
    """Return the folders of the GPUs that this process may use, in its order; empty where none is pretended."""
    place = os.environ.get(GPUS, "")
    every = sorted((path for path in Path(place).iterdir() if path.name.isdigit()), key=_index) if place else []
    wanted = os.environ.get(VISIBLE)
    if wanted is None:
        return every
    named = {path.name: path for path in every} | {facts(path).get("uuid", path.name): path for path in every}
    found: list[Path] = []
    for name in map(str.strip, wanted.split(",")):
        if name not in named:
            break
        found.append(named[name])
    return found


def facts(gpu: Path) -> dict[str, str]:
    """Return what gpu.txt says, by key."""
    lines = (line.partition("=") for line in (gpu / "gpu.txt").read_text().splitlines() if "=" in line)
    return {key.strip(): value.strip() for key, _, value in lines}


class PretendedGpu:
    """The first GPU that this process may use, with the context, the pool and the arrays that it holds there."""

    def __init__(self, options: Mapping[str, str], limit_bytes: int | None = None) -> None:
        """Make the context and, with device_memory=pool, take the pool; raise UnsupportedError where there is no GPU.

        With a limit, no more than so many bytes are reserved beside the context.
        """
        gpus = visible_gpus()
        if not gpus:
            where = f"{GPUS} names no folder with one" if not os.environ.get(GPUS) else f"{VISIBLE} shows none of them"
            msg = f"no CUDA device: the scripted framework has pretended GPUs only, and {where}"
            raise UnsupportedError(msg)
        self._gpu = gpus[0]
        told = facts(self._gpu)
        self.name, self.uuid = told.get("name", "a pretended GPU"), told.get("uuid")
        self._total_bytes = int(told["memory_total_bytes"])
        self._text = TEXTS[options["oom_text"]]
        self.policy = options["device_memory"]
        self._share = float(options["pool_share"])
        self._limit_bytes = limit_bytes
        self._context_bytes = int(options["context_kib"]) << 10
        self._model_bytes = int(options["gpu_kib"]) << 10
        self._reserved_bytes = self._peak_bytes = 0
        mode = told.get("compute_mode")
        if mode == PROHIBITED or (mode == EXCLUSIVE_PROCESS and self._others()):
            msg = "CUDA error: all CUDA-capable devices are busy or unavailable"
            raise FakeGpuError(msg)
        self._hold(self._context_bytes)
        if self.policy == "pool":
            self._take_pool()

    def take(self, step_bytes: int) -> None:
        """Hold what a step needs beside the model; what was reserved stays so, as allocators of frameworks have it."""
        needed_bytes = self._model_bytes + step_bytes
        if needed_bytes > self._reserved_bytes:
            if self.policy == "pool" or (self._limit_bytes is not None and needed_bytes > self._limit_bytes):
                raise self._exhausted(needed_bytes)
            self._hold(self._context_bytes + needed_bytes)
            self._reserved_bytes = needed_bytes
        self._peak_bytes = max(self._peak_bytes, needed_bytes)

    def reading(self) -> DeviceMemory:
        """Return what the allocator has held."""
        pool = f"{self._share:g} of the GPU; allocator scripted"
        return DeviceMemory(
            peak_bytes=self._peak_bytes,
            reserved_bytes=self._reserved_bytes,
            preallocation=pool if self.policy == "pool" else "none; allocator scripted",
        )

    def _take_pool(self) -> None:
        """Take a share of the GPU, backing off where it does not fit."""
        pool_bytes = int(self._share * self._total_bytes) if self._limit_bytes is None else self._limit_bytes
        while True:
            try:
                self._hold(self._context_bytes + pool_bytes)
            except FakeGpuError:
                smaller_bytes = int(BACKING_OFF * pool_bytes)
                if smaller_bytes < max(1, self._model_bytes):
                    raise
                pool_bytes = smaller_bytes
            else:
                self._reserved_bytes = pool_bytes
                return

    def _hold(self, held_bytes: int) -> None:
        """Note what this process holds; raise an error in the chosen words where the GPU has not so much."""
        with self._locked():
            if held_bytes + sum(self._others().values()) > self._total_bytes:
                raise self._exhausted(held_bytes)
            (self._gpu / "processes" / str(os.getpid())).write_text(str(held_bytes))

    def _others(self) -> dict[int, int]:
        """Return the bytes that other living processes hold, by process."""
        held = {}
        for file in (self._gpu / "processes").glob("[0-9]*"):
            pid = int(file.name)
            if not _lives(pid):
                file.unlink(missing_ok=True)  # Another process may get this number.
            elif pid != os.getpid():
                with suppress(FileNotFoundError, ValueError):
                    held[pid] = int(file.read_text())
        return held

    def _exhausted(self, asked_bytes: int) -> FakeGpuError:
        """Return the error."""
        return FakeGpuError(self._text.format(asked=f"{asked_bytes >> 10} KiB", total=f"{self._total_bytes >> 10} KiB"))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes from changing what they hold."""
        (self._gpu / "processes").mkdir(exist_ok=True)
        with (self._gpu / "lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _index(gpu: Path) -> int:
    """Return the index that a folder is named by."""
    return int(gpu.name)


def _lives(pid: int) -> bool:
    """Return whether a process lives; one that has ended and waits for its parent holds nothing."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in ("Z", "X")


def on_gpu(gpu: PretendedGpu | None) -> dict[str, str | int | float | bool | None]:
    """Return what is in force on a pretended GPU."""
    if gpu is None:
        return {"device_memory": None}
    return {"device_memory": gpu.policy, "device_name": gpu.name, "device_uuid": gpu.uuid}
