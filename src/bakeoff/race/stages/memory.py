"""The peak of the memory, in processes that do nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.race.stages.stage import State, Wanted, alone, built_then
from bakeoff.spec.protocol import MeasureMemory

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS = 20
"""Allocators have reached their steady size."""


def wanted(state: State) -> Iterator[Wanted]:
    """Want one trial of each contender."""
    for plan in state.racing():
        yield alone(state.specs.trial(plan, "memory"), built_then("memory", MeasureMemory(steps=STEPS)))
