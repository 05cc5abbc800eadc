"""Words for what comparisons were over time, and how two of them differ; the commands print them in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.change import OF_CHANGE
from bakeoff.report.standings import kind, ratio_text, ratio_with_level
from bakeoff.report.units import carried, percent, rounded
from bakeoff.stats.steps import FEWEST, LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.judge.change import Change
    from bakeoff.judge.past import RatioStep
    from bakeoff.spec.verdict import Verdict

TEST = (
    "Whether a size changed is told by Welch's test on the logarithms: two independent comparisons, each with the "
    "standard error that its own interval stands for. A change is told as one where its 99 % CI leaves 1 "
    "out: by chance about one size in a hundred does. What differs between two runs beside their rounds, such "
    "as the machine's warmth, is in no interval."
)

STEPS = (
    f"Steps are looked for where a row has {FEWEST} entries or more, by E-divisive (Matteson and James 2014) on the "
    f"logarithms: in a row without any, some step is found with a probability of at most {percent(LEVEL)}. It goes by "
    "how the entries scatter, and so by all that differs between two runs."
)


def level_of(verdicts: Iterable[Verdict]) -> str:
    """Return " (95 % CI)" where all intervals of some ratios have that level; else empty."""
    levels = {verdict.level for verdict in verdicts if verdict.low is not None}
    level = levels.pop() if len(levels) == 1 else None
    return "" if level is None else f" ({percent(level)} CI)"


def verdict_text(verdict: Verdict, margin: float, *, names_level: bool) -> str:
    """Return "1.28 (95 % CI 1.25 to 1.31) slower", or without the level where the head names it."""
    ratio = ratio_with_level(verdict, margin) if names_level else ratio_text(verdict, margin)
    return f"{ratio} {kind(verdict)}"


def change_text(change: Change | None) -> str:
    """Return "changed: x1.12 (99 % CI 1.06 to 1.19), p 0.003; the intervals overlap"; empty where none was computed."""
    if change is None:
        return ""
    # No end is rounded onto 1 or across it: that it leaves 1 out is what "changed" says.
    factor, low, high = carried(change.factor.estimate, change.factor.low, change.factor.high, apart_from=(1.0,))
    interval = f"x{factor} ({percent(OF_CHANGE)} CI {low} to {high}), p {p_text(change.p)}"
    apart = "apart" if change.is_apart else "overlap"
    return f"{'changed' if change.is_sure else 'no change shown'}: {interval}; the intervals {apart}"


def step_text(step: RatioStep) -> str:
    """Return "step: x1.25 from here on, from 1.02 to 1.28 (medians), p 0.001"."""
    factor, before, after = (rounded(value, 3) for value in (step.after / step.before, step.before, step.after))
    return f"step: x{factor} from here on, from {before} to {after} (medians), p {p_text(step.p)}"


def p_text(p: float) -> str:
    """Return a probability with one digit, and none smaller than one in a thousand."""
    return "< 0.001" if p < 0.001 else f"{p:.1g}"  # noqa: PLR2004 - smaller ones are no better known
