"""Whether workers can be resident together: their memory on the host and on the GPU, by what was measured of them.

What a worker takes is known from its last rounds or, before the first, from its certificate's trial, which computes the
same steps and more. On a GPU no memory is ever swapped, and a process that finds too little fails: there, what is not
known is taken for too much. Run by us on one GPU, which had room for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.measure import gpu_memory
from bakeoff.measure.gpus import uuid_in, uuids_for
from bakeoff.measure.machine import available_memory_bytes
from bakeoff.spec.contender import Contender
from bakeoff.spec.group import devices_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.measure.gpu_memory import Room
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.record import Memory

HOST_SHARE = 0.7
"""Workers are resident together only if their peaks fit in this share of the available memory: the rest is for other
processes, and for peaks that were not seen."""

GPU_SHARE = 0.8
"""The same of what is free of a GPU's memory: the rest is for what allocators take in larger pieces beside others."""

CONTEXT_BYTES = 1_000_000_000
"""Of a process on a GPU, where NVML does not say what it holds: a context with its kernels and libraries' buffers
took 0.3 to 0.6 GB in public reports, and some take more."""

SMALL_MACS = 10**9
"""A step of so few multiply-accumulates is small: it holds under a gigabyte, whatever its layers, since each value that
it keeps came from 9 of them at least in a convolution, and from far more in a linear layer."""

SMALL_BYTES = 1_000_000_000
"""What a worker with small steps holds at most beside its context."""

SAVED_COPIES = 3
"""Of parameters and the optimiser's state, beside its own: an early and a late one, and one while it is put back."""

BYTES_OF_A_NUMBER = 4


class MemoryNeed(msgspec.Struct, frozen=True, kw_only=True):
    """What a contender's workers hold at most, in bytes, of several GPUs on the fullest; None is not known."""

    contender: Contender
    host_bytes: int | None
    gpu_bytes: int | None = None


def need_of(comparison: Comparison, plan: ContenderPlan, memories: Sequence[Memory]) -> MemoryNeed:
    """Return what a contender's workers need, by what was measured of them, with the state that they save."""
    work = comparison.work
    saved = 0 if work is None else SAVED_COPIES * BYTES_OF_A_NUMBER * (work.parameters + work.state)
    host, gpu = max((one.peak_bytes or 0 for one in memories), default=0), _gpu_bytes(memories)
    return MemoryNeed(
        contender=plan.contender,
        host_bytes=host + saved if host else None,
        gpu_bytes=None if gpu is None else gpu + saved,
    )


def small_need(contender: Contender) -> MemoryNeed:
    """Return what a contender needs whose steps are small, before anything of it is measured."""
    return MemoryNeed(contender=contender, host_bytes=0, gpu_bytes=CONTEXT_BYTES + SMALL_BYTES)


def why_apart(comparison: Comparison, needs: Sequence[MemoryNeed]) -> str:
    """Return why workers with these needs cannot be resident together; empty where they can."""
    return _why_not_on_the_host(needs) or why_apart_on_the_gpu(
        comparison, [one for one in needs if one.contender.on_cuda]
    )


def why_apart_on_the_gpu(comparison: Comparison, needs: Sequence[MemoryNeed]) -> str:
    """Return why workers on NVIDIA GPUs cannot be resident together; empty where they can."""
    if len(needs) < 2:  # noqa: PLR2004 - a single one is beside nobody
        return ""
    pools = [one.contender.label for one in needs if one.contender.options.get("device_memory") == "pool"]
    if pools:
        return f"device_memory=pool: {_listed(pools)} takes a large share of the GPU at the start"
    room = _least_room(comparison, needs)
    if room.free_bytes is None:
        return f"how much of the GPU's memory is free is not known: {room.reason}"
    if room.exclusive:
        return (
            f"the GPU's compute mode, {room.exclusive}, admits no second process (nvidia-smi -c 0 sets the default one)"
        )
    return _why_too_much(needs, room.free_bytes)


def _least_room(comparison: Comparison, needs: Sequence[MemoryNeed]) -> Room:
    """Return the room on that GPU of those that a contender is on which admits the least."""
    most = max(devices_of(one.contender.options) for one in needs)
    rooms = [gpu_memory.room_of(uuid) for uuid in uuids_for(uuid_in(comparison.machine), most)]
    return min(rooms, key=lambda one: (not one.exclusive, one.free_bytes or 0))


def _why_too_much(needs: Sequence[MemoryNeed], free_bytes: int) -> str:
    """Return why workers do not fit in what is free of a GPU; empty where they do."""
    unknown = [one.contender.label for one in needs if one.gpu_bytes is None]
    if unknown:
        return f"how much of the GPU {_listed(unknown)} holds is not known"
    held = sum(one.gpu_bytes or 0 for one in needs)
    if held <= GPU_SHARE * free_bytes:
        return ""
    free = f"{_share(GPU_SHARE)} of the {_size(free_bytes)} that are free"
    return f"together they hold about {_size(held)} of the GPU, more than {free}"


def _why_not_on_the_host(needs: Sequence[MemoryNeed]) -> str:
    """Return why workers do not fit in the host's memory together; empty where they do."""
    free_bytes = available_memory_bytes()
    if free_bytes is None:
        return "this system does not tell how much memory is available"
    unknown = [one.contender.label for one in needs if one.host_bytes is None]
    if unknown:
        return f"the memory of {_listed(unknown)} is not known"
    held = sum(one.host_bytes or 0 for one in needs)
    if held <= HOST_SHARE * free_bytes:
        return ""
    return (
        f"together they hold about {_size(held)}, more than {_share(HOST_SHARE)} of the {_size(free_bytes)} available"
    )


def _gpu_bytes(memories: Sequence[Memory]) -> int | None:
    """Return the most that a process was seen to hold of a GPU; by its allocator's reserve where NVML did not say.

    The reserve is without the context, which is taken from a process of which both are known.
    """
    both = [
        one.device_process_bytes - one.device_reserved_bytes
        for one in memories
        if one.device_process_bytes is not None and one.device_reserved_bytes is not None
    ]
    context = max(0, *both) if both else CONTEXT_BYTES
    held = [one.device_process_bytes for one in memories if one.device_process_bytes is not None]
    held += [one.device_reserved_bytes + context for one in memories if one.device_reserved_bytes is not None]
    return max(held, default=None)


def _listed(labels: Sequence[str]) -> str:
    """Return labels in a row."""
    return ", ".join(dict.fromkeys(labels))


def _size(count: int) -> str:
    """Return bytes in GB, with a tenth."""
    return f"{count / 1e9:.1f} GB"


def _share(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.0f} %"
