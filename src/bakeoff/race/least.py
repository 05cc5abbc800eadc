"""The least time of a comparison by the operations of its steps, before any of them has run.

A certificate computes in float64, and of a large model that takes minutes before the first round. Counted are the
multiply-accumulates of `Work`, at the rate at which NumPy multiplies matrices on this processor: no framework is much
faster, and most take some times as long where a model is not products alone.
"""

from __future__ import annotations

import math
import time
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bakeoff.certify.spread import DRAWS
from bakeoff.environments.builds import PROCESSOR
from bakeoff.judge.light import place_of
from bakeoff.measure.machine import usable_cores
from bakeoff.race import fitting
from bakeoff.race.specs import spreads_of
from bakeoff.race.stages.rounds import round_steps
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.trial import certify_steps, is_large

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.scenario import Scenario

ENDS = 2
"""Batches whose outputs evidence has: the first and the last (`trial.inputs.Batches.ends`)."""

FORWARD = 1 / 3
"""Of a training step's products, those of its forward pass: either gradient takes as many."""

LANES = {"float64": 1, "float32": 2}
"""Numbers in the room of one in float64, and so many times as fast a processor multiplies them. Of shorter precisions
no rate is assumed: processors with units for them are far faster."""

ROWS = 1024
"""Of the matrices whose product is timed: beyond the caches of a core, and some hundredths of a second long."""

PRODUCTS = 6
"""Of which the fastest counts: the first wakes NumPy's threads."""


LESS = "with a smaller --batch-size it takes less in proportion"
"""What to do about a time that is too long."""


class Least(msgspec.Struct, frozen=True, kw_only=True):
    """The least seconds by the operations of steps, of what computes on this processor: nothing else is counted."""

    reference_s: float
    """What the reference computes, of all numbers of devices."""
    float64_spread_s: float
    """What it computes more where a program is off, to see what float64 loses: 0 where that is in `reference_s`, and
    without programs of their own."""
    longest_s: float
    """The part of a certificate that is waited for the longest at once."""
    contenders_s: float
    """What contenders compute for their certificates, in float64 and as they are timed."""
    round_s: float


def least(comparison: Comparison, macs_per_s: Callable[[], float] | None = None) -> Least | None:
    """Return the least time of a comparison; None where its steps are small, or their operations not known.

    `macs_per_s` returns how many multiply-accumulates in float64 a second has, by all usable processors.
    """
    work, scenario = comparison.work, comparison.scenario
    if work is None or work.macs <= fitting.SMALL_MACS:
        return None
    step_s = work.macs / (macs_per_s or float64_macs_per_s)()
    plans, programs = comparison.contenders, comparison.programs().values()
    exact = _slowness(comparison.references().values())
    timed_s = [step_s * share for plan in plans if (share := _product_s(plan.contender.options))]
    later = certify_steps(work)
    itself, whole = evidence_steps(scenario, later, first_alone=True), evidence_steps(scenario, later)
    measured = spreads_of(comparison)
    draws = [drawn_steps(scenario, later, one) for one in measured]
    behind = drawn_steps(scenario, later, "float64") if programs and "float64" not in measured else 0.0
    exact_s = _slowness(programs) * step_s * (itself if is_large(work) else whole)
    return Least(
        reference_s=exact * step_s * (itself + sum(draws)),
        float64_spread_s=exact * step_s * behind,
        longest_s=exact * step_s * max(itself, *draws),
        contenders_s=exact_s + sum(timed_s) * whole,
        round_s=sum(one * round_steps(one) for one in timed_s),
    )


def _slowness(plans: Iterable[ContenderPlan]) -> float:
    """Return the sum of what a product takes in each of these settings, of one in float64 by all usable processors."""
    return sum(_product_s(plan.contender.options) for plan in plans)


def _product_s(options: Mapping[str, str]) -> float:
    """Return that of one contender's options; 0 where no rate is known."""
    place, cores = place_of(options), usable_cores()
    lanes = LANES.get(place.precision)
    if lanes is None or place.device != PROCESSOR:
        return 0.0
    return max(1.0, cores / int(place.threads or cores)) / lanes


def evidence_steps(scenario: Scenario, later: int, *, first_alone: bool = False) -> float:
    """Return how many steps' operations evidence takes that has so many steps behind the first one.

    A step's gradients are computed beside it, too, or those of the first step alone.
    """
    owed = SCENARIOS[scenario]
    calls = ENDS * (1 + ("ran" in owed.evidence))
    if not owed.trains:
        return float(calls)
    steps = 1 + later
    beside = (1 if first_alone and not owed.per_sample else steps) * ("updates" in owed.evidence)
    return calls * FORWARD + steps + beside + ENDS * ("norms" in owed.evidence)


def drawn_steps(scenario: Scenario, later: int, precision: str) -> float:
    """Return how many steps' operations it takes to see how far the reference moves for a precision."""
    owed, draws = SCENARIOS[scenario], 1 if precision == "float64" else DRAWS
    if not owed.trains:
        return float(draws * ENDS)
    gradients = (owed.per_sample or precision == "float64") + ENDS * ("norms" in owed.evidence)
    return draws * (ENDS * FORWARD + gradients + 1 + later)


@cache
def float64_macs_per_s() -> float:
    """Return the multiply-accumulates of a second of NumPy's product of matrices in float64, by all usable processors.

    By processor time, which other processes do not lengthen.
    """
    matrix = np.random.RandomState(0).standard_normal((ROWS, ROWS))
    fastest_s = math.inf
    for _ in range(PRODUCTS):
        began_s = time.process_time()
        matrix @ matrix
        fastest_s = min(fastest_s, time.process_time() - began_s)
    return usable_cores() * ROWS**3 / fastest_s
