"""Attempts at batch sizes: one after another until each contender's largest is known, each in a fresh process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.search import attempts_of, following
from bakeoff.measure import gpu_memory
from bakeoff.measure.gpus import uuid_in
from bakeoff.measure.machine import available_memory_bytes
from bakeoff.race.progress import Event, Tried
from bakeoff.race.stages.stage import Checkpoint, RaceState, WantedTrials, alone, built_then
from bakeoff.spec.comparison import Search
from bakeoff.spec.errors import UsageError
from bakeoff.spec.protocol import MeasureMemory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.measure.gpu_memory import Room
    from bakeoff.spec.comparison import Comparison, ContenderPlan


class MemoryShares(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the memory that is available a search may take."""

    share: float = 0.7
    """Unless the user names a limit: the rest is for other processes, for what a process takes before the watch sees
    it, and for its import."""
    largest_share: float = 0.9
    """That a user may name: beyond, the machine would swap."""
    gpu_share: float = 0.9
    """Of what is free of a GPU, for each framework's allocator: the rest is for the context (0.3 to 0.6 GB in public
    reports) and the libraries' own buffers, which no framework's limit counts. A user may name no more."""


LIMITS = MemoryShares()

LEAST_BYTES = 10**6
"""Of a limit: CPython takes memory in arenas of 1 MiB, so less holds no step; who writes less has left out the unit."""

PRECISION = 0.02
"""Step times would not show a difference below it, and each halving of it costs another process."""

STEPS = 2
"""After the first: the second is the first that finds the buffers of the one before it."""

COPIES = 3
"""Of a batch's samples, that exist at once while bakeoff puts them on the device: its own, one in the framework's
layout, and the framework's. They are no part of a step, so that they must not end an attempt."""


def within(plan: Comparison, asked_bytes: int | None) -> Search:
    """Return the search of these contenders, within the limit that was asked for or a share of what is available.

    Raises UsageError for a limit that the machine cannot keep.
    """
    available = available_memory_bytes()
    devices = {one.contender.device for one in plan.contenders}
    if asked_bytes is not None and (len(devices) > 1 or "mps" in devices):
        where = ", ".join(sorted(devices))
        msg = f"a memory limit is of the host's memory or of one GPU's on CUDA, and these run on {where}: leave it out"
        raise UsageError(msg)
    room = gpu_memory.room_of(uuid_in(plan.machine)) if "cuda" in devices else None
    on_gpu = None if room is None else _on_gpu(room, asked_bytes)
    if available is None:
        msg = "this system does not tell how much memory is available, so a search for the largest batch is not safe"
        raise UsageError(msg)
    if asked_bytes is not None and room is None:
        _check(asked_bytes, LIMITS.largest_share * available, "available")
    return Search(
        plan=plan,
        limit_bytes=int(LIMITS.share * available) if asked_bytes is None or room is not None else asked_bytes,
        asked_bytes=asked_bytes,
        available_bytes=available,
        gpu_limit_bytes=on_gpu,
        gpu_free_bytes=room.free_bytes if room else None,
        gpu_total_bytes=room.total_bytes if room else None,
        precision=PRECISION,
    )


def _on_gpu(room: Room, asked_bytes: int | None) -> int | None:
    """Return the limit for each framework's allocator; None where none was asked for and NVML does not tell the room.

    Raises UsageError for a limit that the GPU cannot keep.
    """
    if room.free_bytes is None:
        if asked_bytes is None:
            return None
        msg = f"a memory limit needs to know what is free of the GPU, and that is not known: {room.reason}"
        raise UsageError(msg)
    most = int(LIMITS.gpu_share * room.free_bytes)
    if asked_bytes is not None:
        _check(asked_bytes, most, "free of the GPU")
    return most if asked_bytes is None else asked_bytes


def _check(asked_bytes: int, most_bytes: float, whereof: str) -> None:
    """Raise UsageError for a limit that is too small for any step, or more than there is."""
    if asked_bytes < LEAST_BYTES:
        msg = f"a memory limit of {asked_bytes} bytes cannot be: valid is from {LEAST_BYTES:,} bytes on, which is 1 MB"
        raise UsageError(msg)
    if asked_bytes > most_bytes:
        limit = f"a memory limit of {asked_bytes / 1e9:,.2f} GB cannot be"
        msg = f"{limit}: valid is up to {most_bytes / 1e9:,.2f} GB now, 90 % of what is {whereof}"
        raise UsageError(msg)


def ceiling_bytes(search: Search) -> int:
    """Return the most that a trial may hold beyond its import where it is no attempt and has no ceiling of its own."""
    return int(LIMITS.share * search.available_bytes)


def wanted(search: Search, state: RaceState) -> Iterator[WantedTrials | Checkpoint | Event]:
    """Want one size after another, each chosen by those before it, and report how each attempt went."""
    for plan in state.certified():
        while (batch_size := following(search, attempts_of(search, state.of("batch", plan)))) is not None:
            yield Checkpoint()
            yield _attempt(search, state, plan, batch_size)
            yield _tried(search, state, plan, batch_size)


def _attempt(search: Search, state: RaceState, plan: ContenderPlan, batch_size: int) -> WantedTrials:
    """Return the trial of one size."""
    size = state.comparison.workload.sizes[state.comparison.size]
    copies_bytes = COPIES * batch_size * size.sample.sample_bytes
    trial = state.specs.trial(plan, "batch", batch_size=batch_size, ceiling_bytes=search.limit_bytes + copies_bytes)
    if plan.contender.on_cuda:
        limits = {"gpu_limit_bytes": search.gpu_limit_bytes, "gpu_total_bytes": search.gpu_total_bytes}
        trial = trial._replace(spec=msgspec.structs.replace(trial.spec, **limits))
    return alone(trial, built_then(f"batch {batch_size}", MeasureMemory(steps=STEPS)))


def _tried(search: Search, state: RaceState, plan: ContenderPlan, batch_size: int) -> Tried:
    """Return how the attempt at one size went."""
    attempts = attempts_of(search, state.of("batch", plan))
    one = next(one for one in attempts if one.batch_size == batch_size)
    device_bytes = one.memory.device_peak_bytes if one.memory else None
    return Tried(plan.contender.label, batch_size, one.fits, one.peak_bytes, one.reason, device_bytes)
