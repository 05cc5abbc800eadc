"""The energy of a sample, from trials of their own."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.verdict import Interval
from bakeoff.stats.intervals import absolute_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.record import Record


class Energy(msgspec.Struct, frozen=True, kw_only=True):
    """What a contender's steps cost."""

    joules_per_sample: float
    interval: Interval | None
    """95 % over rounds, from 3 on."""
    rounds: int
    source: str
    """The meters: "package-0 + GPU 0"."""


def energy(records: Sequence[Record]) -> Energy | None:
    """Return the energy of a sample from a contender's records; None where it was not measured."""
    known = [record.energy for record in records if record.energy is not None and record.outcome == "done"]
    if not known:
        return None
    batch_size = records[0].trial.batch_size
    values = [reading.joules / (reading.steps * batch_size) for reading in known]
    interval = absolute_interval(values) if min(values) > 0 else None
    estimate = interval.estimate if interval else statistics.median(values)
    return Energy(joules_per_sample=estimate, interval=interval, rounds=len(values), source=known[0].source)
