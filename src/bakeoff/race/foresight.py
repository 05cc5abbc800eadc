"""What can be said before anything starts: whether a time budget can buy a verdict, and which contenders are alike."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

from bakeoff.race.least import LESS, least
from bakeoff.stats.boundaries import LOOKS

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Comparison

MINUTE_S = 60.0

CERTIFICATE_S = 2.0
"""About the least that a contender's certificate takes, what is remembered left out."""

ROUND_S = 2.5
"""About the least that a contender adds to a round: found on two cores with short steps, 5.4 s a round of two and 8.7 s
of three (benchmarks/results/answers-2026-11-22.md)."""


LONG_ROUND_S = MINUTE_S
"""A round that takes longer by its operations alone is told of: until it ends nothing else says how long one takes."""

FEW_S = 10.0
"""From here on a time is told in whole seconds: a budget is no better kept than that."""


def told_before(comparison: Comparison, *, begun: bool, sharing: int = 0) -> str:
    """Return all that is worth saying before the first trial; empty where there is nothing.

    `sharing` is how many comparisons share the time budget that this one has a part of; 0: it has its own.
    """
    long = "" if begun else long_rounds(comparison)
    said = against_itself(comparison), long, foreseen(comparison, begun=begun, sharing=sharing)
    return "; ".join(one for one in said if one)


def against_itself(comparison: Comparison) -> str:
    """Return which contenders are the same code in the same settings, and what that shows; empty where none are."""
    plans = comparison.contenders
    alike = [
        f"{one.contender.label} and {other.contender.label}"
        for one, other in combinations(plans, 2)
        if one.runs_as(other)
    ]
    if not alike:
        return ""
    return (
        f"an A/A test: {', '.join(alike)} run the same code in the same settings, so that any difference between them "
        "is this machine's noise"
    )


def long_rounds(comparison: Comparison) -> str:
    """Return how long a round takes at least, with what takes less; empty where that is short, or not known."""
    told = least(comparison)
    if told is None or told.round_s < LONG_ROUND_S:
        return ""
    needed = f", and a verdict needs {LOOKS[0]} of them" if len(comparison.contenders) > 1 else ""
    return (
        f"by its operations alone a round takes {told.round_s // MINUTE_S:.0f} min or more on this processor{needed}; "
        f"{LESS}"
    )


def foreseen(comparison: Comparison, *, begun: bool, sharing: int = 0) -> str:
    """Return that the time budget cannot buy a verdict, with what would; empty where it may, or where there is none.

    Of a comparison that was begun before nothing is foreseen, nor where fewer rounds are asked for than can decide.
    """
    procedure, contenders = comparison.procedure, len(comparison.contenders)
    budget_s, most = procedure.budget_s, procedure.max_rounds
    if begun or budget_s is None or contenders < 2 or (most is not None and most < LOOKS[0]):  # noqa: PLR2004 - a pair
        return ""
    told = least(comparison)
    certificates_s, round_s = CERTIFICATE_S * contenders, max(ROUND_S * contenders, told.round_s if told else 0.0)
    least_s = certificates_s + LOOKS[0] * round_s
    if budget_s >= least_s:
        return ""
    rounds = max(1, int((budget_s - certificates_s) / round_s))
    budget = f"this point's share of the time, {_time(budget_s)}," if sharing else f"a budget of {_time(budget_s)}"
    enough = f"{10 * math.ceil(max(1, sharing) * least_s / 10)}s or more" + (" for all points" if sharing else "")
    return (
        f"{budget} buys about {rounds} of the {LOOKS[0]} rounds that a verdict needs: sizes may get their intervals, "
        f"and no difference is decided; for verdicts give --budget {enough}"
    )


def _time(seconds: float) -> str:
    """Return a time with the digits that a budget is kept to: "2.9 s", "34 s"."""
    return f"{seconds:.2g} s" if seconds < FEW_S else f"{seconds:.0f} s"
