"""The peak of the memory on NVIDIA GPUs, in processes that do nothing else: reading it would disturb timed ones.

What a process holds of the host's memory, and what its own allocator says, is read in the timed trials themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.race.stages.stage import Checkpoint, RaceState, WantedTrials, alone, built_then
from bakeoff.spec.protocol import MeasureMemory

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS = 20
"""Allocators have reached their steady size."""


def wanted(state: RaceState) -> Iterator[WantedTrials | Checkpoint]:
    """Want one trial of each contender on such a GPU, while the time budget lasts."""
    for plan in state.racing():
        if plan.contender.on_cuda:
            yield Checkpoint()
            yield alone(state.specs.trial(plan, "memory"), built_then("memory", MeasureMemory(steps=STEPS)))
