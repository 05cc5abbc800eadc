"""Whether a time budget can buy a verdict: said before anything starts, by the least that a comparison takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.stats.boundaries import LOOKS

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Comparison

PROCESS_S = 1.5
"""The least that a fresh process of a framework takes to start, import and build, where others do so beside it:
found for the quickest of them on two cores (benchmarks/results/startup-2026-11-20.md)."""

TURNS_S = 2.0
"""The least that the turns of one contender take in a round, with its warm-up: 8 blocks of 0.25 s."""


def foreseen(comparison: Comparison) -> str:
    """Return that the time budget cannot buy a verdict, with what would; empty where it may, or where there is none."""
    budget_s, contenders = comparison.procedure.budget_s, len(comparison.contenders)
    if budget_s is None or contenders < 2:  # noqa: PLR2004 - one has no pair
        return ""
    certificates_s = PROCESS_S * 2 * contenders
    round_s = (PROCESS_S + TURNS_S) * contenders
    least_s = certificates_s + LOOKS[0] * round_s
    if budget_s >= least_s:
        return ""
    rounds = max(1, int((budget_s - certificates_s) / round_s))
    return (
        f"a budget of {budget_s:g} s buys about {rounds} of the {LOOKS[0]} rounds that a verdict needs: sizes may get "
        f"their intervals, and no difference is decided; --budget {10 * round(least_s / 10 + 0.5)}s and more can"
    )
