"""Verdicts seen from the side that is easiest to read; what is known stays the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.report.units import carried, rounded
from bakeoff.spec.verdict import mirrored
from bakeoff.stats.boundaries import LOOKS

if TYPE_CHECKING:
    from bakeoff.spec.verdict import Verdict

FEWEST_ROUNDS = LOOKS[0]
"""With fewer rounds nothing is decided."""


def slower_first(verdict: Verdict) -> Verdict:
    """Turn a verdict so that its ratio is at least 1: `first` takes longer, or seems to."""
    below = verdict.verdict == "faster" or (verdict.verdict != "slower" and (verdict.ratio or 1.0) < 1.0)
    return mirrored(verdict) if below else verdict


def between(verdicts: list[Verdict], first: str, second: str) -> Verdict | None:
    """Find the verdict on a pair and turn it so that it speaks of `first`."""
    for verdict in verdicts:
        if (verdict.first, verdict.second) == (first, second):
            return verdict
        if (verdict.first, verdict.second) == (second, first):
            return mirrored(verdict)
    return None


def kind(verdict: Verdict) -> str:
    """Return the word of a verdict: "slower", "equal", "undecided", or "no verdict" before the first look."""
    return verdict.verdict if verdict.rounds >= FEWEST_ROUNDS else "no verdict"


def leaders(labels: list[str], verdicts: list[Verdict]) -> list[str]:
    """Return the contenders that are not slower than any other; one alone is faster than all others."""
    slower = {slower_first(verdict).first for verdict in verdicts if verdict.verdict in ("faster", "slower")}
    return [label for label in labels if label not in slower]


def fastest(labels: list[str], verdicts: list[Verdict]) -> str | None:
    """Return the contender that is decided to be faster than every other; None where there is none."""
    for label in labels:
        others = [between(verdicts, other, label) for other in labels if other != label]
        if others and all(verdict is not None and kind(verdict) == "slower" for verdict in others):
            return label
    return None


def ratio_text(verdict: Verdict, margin: float) -> str:
    """Return "1.12 [1.06, 1.19]", with the digits that the interval carries."""
    return " ".join(part for part in ratio_parts(verdict, margin) if part)


def ratio_parts(verdict: Verdict, margin: float) -> tuple[str, str]:
    """Return "1.12" and "[1.06, 1.19]"; the second is empty where there is no interval yet.

    Rounding never carries a bound across 1 or across the margin of equality.
    """
    if verdict.ratio is None:
        return "unknown", ""
    if verdict.low is None or verdict.high is None or not math.isfinite(verdict.high):
        return rounded(verdict.ratio, 3), ""
    marks = (1.0, 1.0 + margin, 1.0 / (1.0 + margin))
    ratio, low, high = carried(verdict.ratio, verdict.low, verdict.high, apart_from=marks)
    return ratio, f"[{low}, {high}]"
