"""Step times and throughputs of contenders, and who is ranked, as all pages and pictures show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.pairs import FEWEST_ROUNDS
from bakeoff.report.units import UNKNOWN, Unit, quantity, rounded, unit_for
from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

THROUGHPUT = Unit("samples/s", 1.0)


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
        return f"{digits.estimate} {unit.name}", f"{digits.low} to {digits.high}"
    step_s = contender.median_step_s
    return f"{rounded(step_s * unit.per_base)} {unit.name}" if step_s else UNKNOWN, ""


def shown_interval(contender: ContenderOutcome) -> Interval | None:
    """Return the interval of the step time; None with too few rounds to decide anything by it."""
    return contender.step_s if contender.rounds >= FEWEST_ROUNDS else None


def throughput(contender: ContenderOutcome, batch_size: int) -> Interval | None:
    """Return the samples a second with their interval; None where there is none."""
    step_s = shown_interval(contender)
    if contender.samples_per_s is None or step_s is None or step_s.low <= 0:
        return None
    return Interval(estimate=contender.samples_per_s, low=batch_size / step_s.high, high=batch_size / step_s.low)


def throughput_parts(contender: ContenderOutcome, batch_size: int) -> tuple[str, str]:
    """Return the samples a second with the digits that the step time's interval carries, and that interval."""
    interval = throughput(contender, batch_size)
    if interval is not None:
        digits = quantity(interval, THROUGHPUT)
        return digits.estimate, f"{digits.low} to {digits.high}"
    return UNKNOWN if contender.samples_per_s is None else rounded(contender.samples_per_s), ""


def bounds(interval: Interval | None) -> list[float] | None:
    """Return an interval as [low, high]."""
    return None if interval is None else [interval.low, interval.high]
