"""How long work takes that was measured here at another size alone: its steps by the operations counted in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.likeness import hardware_of
from bakeoff.race.forecast import MOST_READ, ContenderCost, Forecast, known_costs, within
from bakeoff.race.stages.rounds import round_steps
from bakeoff.spec.per_sample import clipping_words

if TYPE_CHECKING:
    from bakeoff.race.forecast import Earlier
    from bakeoff.spec.comparison import Comparison


def by_other_size(told: Forecast, before: Earlier) -> Forecast | None:
    """Return a forecast by what the same contenders took with other sizes of the same model; None where none did.

    A step takes in proportion to its multiply-accumulates, as `Work` counts them, and so do certificates where it is
    larger: most of their time is the reference's.
    """
    costs: dict[str, ContenderCost] = {}
    sources = []
    for folder, other in [one for one in before if _is_other_size(told.comparison, one[1])][:MOST_READ]:
        found, source, _ = known_costs(told.comparison, [(folder, other)])
        ratio = _macs(told.comparison) / _macs(other)
        new = {label: _resized(cost, ratio) for label, cost in found.items() if label not in costs}
        costs |= new
        sources += source if new else []
    if any(label not in costs for label in told.labels):
        return None
    return within(
        msgspec.structs.replace(
            told,
            certificates_s=sum(one.certificates_s for one in costs.values()),
            round_s=sum(one.round_s for one in costs.values()),
            behind_s=sum(one.behind_s for one in costs.values()),
            sources=[msgspec.structs.replace(one, rounds=None) for one in sources],
            costs=costs,
            unknown=[],
            least=None,
            resized=True,
        )
    )


def _is_other_size(comparison: Comparison, other: Comparison) -> bool:
    """Return whether another comparison is of the same model and scenario on this machine, with operations counted."""
    same = all(
        of(comparison) == of(other)
        for of in (hardware_of, lambda one: (one.workload.name, one.scenario, clipping_words(one.per_sample)))
    )
    return same and bool(_macs(comparison)) and bool(_macs(other))


def _macs(comparison: Comparison) -> int:
    """Return the multiply-accumulates of a step; 0 where they were not counted."""
    return 0 if comparison.work is None else comparison.work.macs


def _resized(cost: ContenderCost, ratio: float) -> ContenderCost:
    """Return what a contender takes where a step has so many times the operations."""
    step_s = cost.step_s * ratio
    # Blocks hold as many steps as fill their time: longer steps are fewer, down to the least number.
    steps_s = max(cost.steps_s, round_steps(step_s) * step_s)
    return msgspec.structs.replace(
        cost,
        certificates_s=cost.certificates_s * max(1.0, ratio),
        round_s=cost.round_s - cost.steps_s + steps_s,
        steps_s=steps_s,
        step_s=step_s,
    )
