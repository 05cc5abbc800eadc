"""The state of the GPU during one contender's blocks, round by round."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.spec.record import Record


class GpuRound(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the GPU, or of several, during one contender's blocks of one round; None is unknown."""

    round_number: int
    clock_mhz: float | None
    """Mean clock over the blocks; of several GPUs that of the slowest, which the others wait for."""
    clock_limit_mhz: int | None
    temperature_c: int | None
    """Highest temperature."""
    power_w: float | None = None
    """Mean power over the blocks, of all its GPUs together."""
    slowed: list[str]
    other_processes: int | None


def gpu_rounds(timed: Iterable[Record]) -> list[GpuRound]:
    """Return the GPU's state by round, from one contender's timed records."""
    return [
        GpuRound(
            round_number=record.trial.round_number,
            clock_mhz=min(_means(record, "clock_mhz"), default=None),
            clock_limit_mhz=max((s.clock_limit_mhz for s in record.gpu if s.clock_limit_mhz is not None), default=None),
            temperature_c=max((s.temperature_c for s in record.gpu if s.temperature_c is not None), default=None),
            power_w=sum(powers) if (powers := _means(record, "power_w")) else None,
            slowed=sorted({reason for state in record.gpu for reason in state.slowed}),
            other_processes=max((s.other_processes for s in record.gpu if s.other_processes is not None), default=None),
        )
        for record in timed
        if record.gpu
    ]


def _means(record: Record, name: str) -> list[float]:
    """Return, for each GPU of which it is known, the mean of a reading over the blocks."""
    known: dict[str, list[float]] = {}
    for state in record.gpu:
        if (value := getattr(state, name)) is not None:
            known.setdefault(state.uuid, []).append(value)
    return [statistics.fmean(values) for values in known.values()]
