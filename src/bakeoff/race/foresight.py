"""Whether a time budget can buy a verdict: said before anything starts, by the least that a comparison takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.stats.boundaries import LOOKS

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Comparison

CERTIFICATE_S = 2.0
"""About the least that a contender's certificate takes, what is remembered left out."""

ROUND_S = 2.5
"""About the least that a contender adds to a round: found on two cores with short steps, 5.4 s a round of two and 8.7 s
of three (benchmarks/results/answers-2026-11-22.md)."""


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
