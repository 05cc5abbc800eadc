"""Which stages a comparison has, and how many processes each starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.epochs import length_of
from bakeoff.race.specs import spreads_of
from bakeoff.race.stages import energy, peaks, selftest
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.stats.boundaries import LOOKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.spec.comparison import Comparison
    from bakeoff.spec.record import Record


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """One stage, with how many processes it starts."""

    stage: str
    fewest: int
    most: int | None
    """None: as many as it takes."""
    about: str
    """What the processes do."""


def planned(comparison: Comparison, certified: Mapping[str, Record]) -> list[Planned]:
    """Return the stages that start processes, in their order; by the certificates' records it shows what is known."""
    plans, procedure = comparison.contenders, comparison.procedure
    count, trains = len(plans), SCENARIOS[comparison.scenario].trains
    programs, references = len(comparison.programs()), len(comparison.references())
    behind = references if programs and "float64" not in spreads_of(comparison) else 0
    timers = count - sum(selftest.remembered(one) is not None for one in certified.values())
    unread = count - sum(peaks.remembered(one) is not None for one in certified.values())
    meters = energy.ROUNDS * count if not comparison.no_energy else 0
    repeats = procedure.repeats * count if length_of(comparison) is not None else 0
    most = None if procedure.max_rounds is None else procedure.max_rounds * count
    fewest = min(procedure.max_rounds or LOOKS[0], LOOKS[0] if count > 1 else 1) * count
    cuda = sum(plan.contender.on_cuda for plan in plans)
    cold = sum(plan.cache_kept and plan.cache_variables is not None for plan in plans)
    stages = [
        Planned(
            stage="certify",
            fewest=count,
            most=count + programs + references + behind,
            about="show that all compute the same; what is in float64 is remembered from one run to the next",
        ),
        Planned(stage="rounds", fewest=fewest, most=most, about=f"time steps, {_each(count)} in every round"),
        Planned(stage="late", fewest=0, most=count if trains else 0, about="steps late in training, beside early ones"),
        Planned(stage="epochs", fewest=min(count, repeats), most=repeats, about="whole runs, as was asked for"),
        Planned(stage="selftest", fewest=0, most=timers, about="test timers that were not tested here before"),
        Planned(stage="peaks", fewest=0, most=unread, about="the machine's peaks, as each framework reaches them"),
        Planned(stage="memory", fewest=0, most=cuda, about="peak memory on the GPU"),
        Planned(stage="compiling", fewest=0, most=cold, about="the cold start of a compiler that shares its work"),
        Planned(stage="energy", fewest=0, most=meters, about="energy of a step"),
    ]
    return [one for one in stages if one.most != 0]


def _each(count: int) -> str:
    """Return how many processes a round has."""
    return "one process" if count == 1 else f"{count} processes"
