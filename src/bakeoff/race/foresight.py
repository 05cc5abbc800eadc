"""What can be said before anything starts: whether a time budget can buy a verdict, and which contenders are alike."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from bakeoff.stats.boundaries import LOOKS

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Comparison

CERTIFICATE_S = 2.0
"""About the least that a contender's certificate takes, what is remembered left out."""

ROUND_S = 2.5
"""About the least that a contender adds to a round: found on two cores with short steps, 5.4 s a round of two and 8.7 s
of three (benchmarks/results/answers-2026-11-22.md)."""


def told_before(comparison: Comparison, *, begun: bool) -> str:
    """Return all that is worth saying before the first trial; empty where there is nothing."""
    return "; ".join(said for said in (against_itself(comparison), foreseen(comparison, begun=begun)) if said)


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


def foreseen(comparison: Comparison, *, begun: bool) -> str:
    """Return that the time budget cannot buy a verdict, with what would; empty where it may, or where there is none.

    Of a comparison that was begun before nothing is foreseen, nor where fewer rounds are asked for than can decide.
    """
    procedure, contenders = comparison.procedure, len(comparison.contenders)
    budget_s, most = procedure.budget_s, procedure.max_rounds
    if begun or budget_s is None or contenders < 2 or (most is not None and most < LOOKS[0]):  # noqa: PLR2004 - a pair
        return ""
    certificates_s, round_s = CERTIFICATE_S * contenders, ROUND_S * contenders
    least_s = certificates_s + LOOKS[0] * round_s
    if budget_s >= least_s:
        return ""
    rounds = max(1, int((budget_s - certificates_s) / round_s))
    return (
        f"a budget of {budget_s:g} s buys about {rounds} of the {LOOKS[0]} rounds that a verdict needs: sizes may get "
        f"their intervals, and no difference is decided; --budget {10 * round(least_s / 10 + 0.5)}s and more can"
    )
