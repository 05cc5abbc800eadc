"""How contenders stand: who is ranked, in which times, and each verdict from the side that is easiest to read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.report.units import UNKNOWN, Unit, carried, percent, quantity, rounded, unit_for
from bakeoff.spec.verdict import Interval, between, mirrored
from bakeoff.stats.intervals import MIN_VALUES

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.verdict import Verdict

THROUGHPUT = Unit("samples/s", 1.0)

WIDEST = 10.0
"""An interval whose ends are further apart than this ratio is not shown: not even the magnitude is known."""


def ranked(outcome: Outcome) -> list[ContenderOutcome]:
    """Return the contenders that are ranked, the shortest step first."""
    found = [contender for contender in outcome.contenders if contender.status == "ranked"]
    return sorted(found, key=lambda contender: contender.median_step_s or float("inf"))


def step_unit(outcome: Outcome) -> Unit:
    """Return the unit of all step times."""
    return unit_for(contender.median_step_s for contender in ranked(outcome))


def step_parts(contender: ContenderOutcome, unit: Unit) -> tuple[str, str]:
    """Return the step time with its unit, and its interval without: "0.98 ms" and "0.96 to 1.01"."""
    interval = shown_interval(contender)
    if interval is not None:
        digits = quantity(interval, unit)
        is_known = interval.high <= WIDEST * interval.low
        return f"{digits.estimate} {unit.name}", f"{digits.low} to {digits.high}" if is_known else "too noisy to say"
    step_s = contender.median_step_s
    return f"{rounded(step_s * unit.per_base)} {unit.name}" if step_s else UNKNOWN, ""


def step_numbers(contender: ContenderOutcome, unit: Unit) -> tuple[str, str]:
    """Return the step time and its interval, both without the unit."""
    step, interval = step_parts(contender, unit)
    return step.removesuffix(f" {unit.name}"), interval


def shown_interval(contender: ContenderOutcome) -> Interval | None:
    """Return the interval of the step time; None with too few rounds for one."""
    return contender.step_s if contender.rounds >= MIN_VALUES else None


def throughput(contender: ContenderOutcome, batch_size: int) -> Interval | None:
    """Return the samples a second with their interval; None where there is none."""
    step_s = shown_interval(contender)
    if contender.samples_per_s is None or step_s is None or step_s.low <= 0:
        return None
    if contender.plan.devices > 1 and contender.median_step_s:  # a step has more samples than one device's batch
        batch_size = round(contender.samples_per_s * contender.median_step_s)
    return Interval(estimate=contender.samples_per_s, low=batch_size / step_s.high, high=batch_size / step_s.low)


def throughput_parts(contender: ContenderOutcome, batch_size: int, number: int = 1) -> tuple[str, str]:
    """Return the samples a second with the digits that the step time's interval carries, and that interval.

    Or, `number` times as much, of what a sample has so many of.
    """
    interval = throughput(contender, batch_size)
    if interval is not None:
        digits = quantity(interval, THROUGHPUT._replace(per_base=float(number)))
        return digits.estimate, f"{digits.low} to {digits.high}"
    return UNKNOWN if contender.samples_per_s is None else rounded(number * contender.samples_per_s), ""


def bounds(interval: Interval | None) -> list[float] | None:
    """Return an interval as [low, high]."""
    return None if interval is None else [interval.low, interval.high]


# --- Pairs --------------------------------------------------------------------------------------------------------


def slower_first(verdict: Verdict) -> Verdict:
    """Turn a verdict so that its ratio is at least 1: `first` takes longer, or seems to."""
    below = verdict.verdict == "faster" or (verdict.verdict != "slower" and (verdict.ratio or 1.0) < 1.0)
    return mirrored(verdict) if below else verdict


def kind(verdict: Verdict) -> str:
    """Return the word of a verdict: "slower", "equal", "undecided", or "no verdict" before the first look."""
    return verdict.verdict if verdict.rounds >= verdict.fewest else "no verdict"


def is_disturbed(pair: Verdict) -> bool:
    """Return whether other processes have left no turn to compare a pair on."""
    return bool(pair.flagged_blocks) and pair.ratio_unflagged is None


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
    """Return "1.12 (1.06 to 1.19)", with the digits that the interval carries."""
    ratio, interval = ratio_parts(verdict, margin)
    return f"{ratio} ({interval})" if interval else ratio


def ratio_with_level(verdict: Verdict, margin: float) -> str:
    """Return "1.12 (95 % CI 1.06 to 1.19)"; intervals by the boundaries have no level of their own."""
    ratio, interval = ratio_parts(verdict, margin)
    level = f"{percent(verdict.level)} CI " if verdict.level is not None else ""
    return f"{ratio} ({level}{interval})" if interval else ratio


def times_text(verdict: Verdict, margin: float, of: str = "", *, names_level: bool = True) -> str:
    """Return "1.66x torch (95 % CI 1.64 to 1.68)": how many times as fast as `of`, for a ratio of at least 1."""
    ratio, interval = ratio_parts(verdict, margin)
    level = f"{percent(verdict.level)} CI " if names_level and verdict.level is not None else ""
    return f"{ratio}x {of}".rstrip() + (f" ({level}{interval})" if interval else " (no interval yet)")


def ratio_parts(verdict: Verdict, margin: float) -> tuple[str, str]:
    """Return "1.12" and "1.06 to 1.19"; the second is empty where there is no interval yet.

    Rounding never carries a bound across 1 or across the margin of equality.
    """
    if verdict.ratio is None:
        return "unknown", ""
    if verdict.low is None or verdict.high is None or not math.isfinite(verdict.high):
        return rounded(verdict.ratio, 3), ""
    marks = (1.0, 1.0 + margin, 1.0 / (1.0 + margin))
    ratio, low, high = carried(verdict.ratio, verdict.low, verdict.high, apart_from=marks)
    return ratio, f"{low} to {high}"
