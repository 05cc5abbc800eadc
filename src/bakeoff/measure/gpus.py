"""Which NVIDIA GPUs there are, and which of them work on CUDA runs on; the parent asks NVML."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.measure import cuda, nvml
from bakeoff.spec.errors import UnavailableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VISIBLE, ORDER, BY_BUS = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "PCI_BUS_ID"
"""By which CUDA hides devices and orders them (CUDA C++ Programming Guide, "CUDA Environment Variables")."""

HIDING = ("", "-1", "nodevfiles", "none", "void")
"""Words of CUDA_VISIBLE_DEVICES that hide all that stands from there on (ibid.; the last ones are of containers)."""

ASKING_LIMIT_S = 30.0
"""Time limit of CUDA's initialisation, which takes seconds where no process keeps the driver's state alive."""

LEAST_PREFIX = len("GPU-1")
"""Of a UUID that is abbreviated: as CUDA does, any beginning is taken that is one device's alone."""


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU, or a part of one that MIG has made a device of."""

    place: str
    """Its index in NVML's order, which is that of nvidia-smi: "0"; of a MIG device "0:1"."""
    uuid: str
    name: str
    free_bytes: int | None

    @property
    def text(self) -> str:
        """The GPU as it is named to people: "1 (NVIDIA L4, GPU-7f3a91c2-...)"."""
        return f"{self.place} ({self.name}, {self.uuid})"


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The GPU that work on CUDA runs on, and why this one."""

    gpu: Gpu
    why: str


def all_gpus() -> list[Gpu]:
    """Return every GPU that can be used, MIG devices in place of the GPU that they are parts of.

    Raises UnavailableError where NVML does not answer.
    """
    with nvml.opened() as pynvml:
        found = []
        for index in range(pynvml.nvmlDeviceGetCount()):
            # One that is lost, or may not be opened, hides no other.
            with suppress(pynvml.NVMLError):
                found += _gpus_at(pynvml, index)
        return found


def choose(asked: str | None = None, environment: Mapping[str, str] | None = None) -> Chosen | None:
    """Return the GPU that work on CUDA runs on; None where none is asked for and NVML knows none.

    That is the one that is asked for, by index or UUID; else the first that CUDA_VISIBLE_DEVICES shows; else the one
    with the most free memory. Raises UsageError for one that there is not, with those that there are.
    """
    variables = os.environ if environment is None else environment
    try:
        known = all_gpus()
    except UnavailableError as error:
        if asked is None:
            return None
        msg = f"--gpu {asked}: NVML, by which GPUs are found, does not answer: {error}"
        raise UsageError(msg) from error
    if asked is not None:
        return Chosen(gpu=_named(asked, known, f"--gpu {asked}"), why="asked for")
    if not known:
        return None
    if VISIBLE in variables:
        return Chosen(gpu=_shown(known, variables)[0], why=f"the first that {VISIBLE} shows")
    most = max(known, key=lambda gpu: -1 if gpu.free_bytes is None else gpu.free_bytes)
    return Chosen(gpu=most, why="the only one" if len(known) == 1 else f"the most free memory of {len(known)}")


def visible_count(environment: Mapping[str, str] | None = None) -> int:
    """Return how many GPUs work on CUDA may take: those that NVML knows, or CUDA_VISIBLE_DEVICES shows of them."""
    variables = os.environ if environment is None else environment
    try:
        known = len(all_gpus())
    except UnavailableError:
        return 0
    shown = [word for word in variables.get(VISIBLE, "").split(",") if word.strip().lower() not in HIDING]
    return min(known, len(shown)) if VISIBLE in variables else known


def visible() -> list[Gpu]:
    """Return the GPUs that work on CUDA may take: all that NVML knows, or those that CUDA_VISIBLE_DEVICES shows.

    Raises UnavailableError where NVML does not answer, and UsageError where that variable shows none.
    """
    known = all_gpus()
    return _shown(known, os.environ) if VISIBLE in os.environ else known


def uuids_for(uuid: str, count: int) -> list[str]:
    """Return the UUIDs of so many GPUs, this one first and then the others that are visible; [uuid] for one."""
    if count == 1 or not uuid:
        return [uuid]
    return [uuid, *(gpu.uuid for gpu in visible() if gpu.uuid != uuid)][:count]


def variables_for(uuid: str) -> dict[str, str]:
    """Return the variables by which a worker sees this device and no other, or these with commas between."""
    return {ORDER: BY_BUS, VISIBLE: uuid} if uuid else {}


def uuid_in(facts: Mapping[str, Any] | None) -> str:
    """Return the UUID of the GPU that workers on CUDA run on, by a machine's facts; "" where it is not known."""
    return str((facts or {}).get("gpu_uuid") or "")


def same_device(uuid: str, other: str) -> bool:
    """Return whether two UUIDs name the same device; CUDA's come without the "GPU-" or "MIG-" of NVML's."""
    bare, other_bare = (one.removeprefix("GPU-").removeprefix("MIG-").lower() for one in (uuid, other))
    return bare == other_bare


def _gpus_at(pynvml: Any, index: int) -> list[Gpu]:
    """Return the GPU with this index, or its MIG devices where it has been parted."""
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    parts = []
    with suppress(pynvml.NVMLError):  # MIG is not supported by most GPUs.
        if pynvml.nvmlDeviceGetMigMode(handle)[0]:
            for number in range(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
                with suppress(pynvml.NVMLError):  # Numbers may have gaps.
                    part = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
                    parts.append(_gpu(pynvml, part, f"{index}:{number}"))
            return parts
    return [_gpu(pynvml, handle, str(index))]


def _gpu(pynvml: Any, handle: Any, place: str) -> Gpu:
    """Return what identifies a device."""
    memory = None
    with suppress(pynvml.NVMLError):  # Where memory is the processor's, too, NVML tells none.
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return Gpu(
        place=place,
        uuid=str(pynvml.nvmlDeviceGetUUID(handle)),
        name=str(pynvml.nvmlDeviceGetName(handle)),
        free_bytes=None if memory is None else int(memory.free),
    )


def _named(text: str, known: Sequence[Gpu], where: str) -> Gpu:
    """Return the GPU that is named by index or UUID; raise UsageError for one that there is not."""
    found = [gpu for gpu in known if text in (gpu.place, gpu.uuid)]
    if not found and len(text) >= LEAST_PREFIX:
        found = [gpu for gpu in known if gpu.uuid.lower().startswith(text.lower())]
    if len(found) == 1:
        return found[0]
    valid = ", ".join(gpu.text for gpu in known) or "none, NVML counts no GPU"
    msg = f"{where}: no GPU, or no single one, is called {text!r}; valid: {valid}"
    raise UsageError(msg)


def _shown(known: Sequence[Gpu], variables: Mapping[str, str]) -> list[Gpu]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES shows, in its order; raise UsageError where it shows none."""
    text = variables[VISIBLE]
    words = [word.strip() for word in text.split(",")]
    words = list(takewhile(lambda word: word.lower() not in HIDING, words))
    where = f"{VISIBLE}={text}"
    if not words:
        msg = f"{where} hides every GPU: unset it, or name one by --gpu; valid: {', '.join(gpu.text for gpu in known)}"
        raise UsageError(msg)
    first = words[0]
    if first.isdecimal() and variables.get(ORDER) != BY_BUS and 1 < len(known) > int(first):
        return _by_cuda(known, variables, where)
    found = [_named(first, known, where)]
    with suppress(UsageError):  # As CUDA does: a word that names none hides all behind it.
        for word in words[1:]:
            found.append(_named(word, known, where))  # noqa: PERF401 - those before such a word are kept
    return found


def _by_cuda(known: Sequence[Gpu], variables: Mapping[str, str], where: str) -> list[Gpu]:
    """Return the devices that CUDA itself shows: its own order, the fastest first, is known to nobody else."""
    try:
        command = [sys.executable, "-P", cuda.__file__]
        done = subprocess.run(
            command, env=dict(variables), capture_output=True, text=True, check=False, timeout=ASKING_LIMIT_S
        )
        seen = done.stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        seen = []
    if found := [gpu for one in seen for gpu in known if same_device(gpu.uuid, one)]:
        return found
    msg = (
        f"{where} counts GPUs in CUDA's own order, and {cuda.LIBRARY} does not say which that is; name the GPU by its "
        f"UUID or by --gpu, or set {ORDER}={BY_BUS}; valid: {', '.join(gpu.text for gpu in known)}"
    )
    raise UsageError(msg)
