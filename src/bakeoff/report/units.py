"""Numbers as people read them: one unit a column, a space before the unit, no digit beyond what is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.stats.digits import Digits, digits, significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.spec.verdict import Interval

UNKNOWN = "unknown"

_WIDE = 3.0
"""From this ratio of its ends on an interval is about a magnitude, not about digits."""


class Unit(NamedTuple):
    """A unit with how many of it make one SI base unit."""

    name: str
    per_base: float


SECONDS = (Unit("s", 1.0), Unit("ms", 1e3), Unit("\N{MICRO SIGN}s", 1e6))
PERCENT = Unit("%", 100.0)
BYTES = (Unit("GB", 1e-9), Unit("MB", 1e-6), Unit("kB", 1e-3), Unit("B", 1.0))


def unit_for(values: Iterable[float | None], units: tuple[Unit, ...] = SECONDS, least: float = 0.1) -> Unit:
    """Choose the largest unit in which the smallest value is at least `least`, so that a column has one unit."""
    known = [value for value in values if value]
    if not known:
        return units[0]
    return next((unit for unit in units if min(known) * unit.per_base >= least), units[-1])


def quantity(interval: Interval, unit: Unit) -> Digits:
    """Return estimate, low and high in a unit, without the unit, with the digits that the interval carries."""
    return carried(*(value * unit.per_base for value in (interval.estimate, interval.low, interval.high)))


def carried(estimate: float, low: float, high: float, *, apart_from: tuple[float, ...] = ()) -> Digits:
    """Return the digits that an interval carries, thousands parted; where it spans magnitudes, two digits of each end.

    The half-width of such an interval, from 0.01 to 700, would round its low end and its estimate to 0.
    """
    wide = low > 0 and high > _WIDE * low
    values = (estimate, low, high)
    known = [significant(value, 2) for value in values] if wide else digits(*values, apart_from=apart_from)
    return Digits(*(_grouped(text) for text in known))


def rounded(value: float, count: int = 2) -> str:
    """Return a number whose uncertainty is not known, by default with two significant digits: 0.12, 210, 33,000."""
    return _grouped(significant(value, count))


def _grouped(text: str) -> str:
    """Part the thousands: "32700" is "32,700"."""
    sign = "-" if text.startswith("-") else ""  # int("-0") has none
    whole, point, decimals = text.removeprefix("-").partition(".")
    return f"{sign}{int(whole):,}{point}{decimals}"


def duration(seconds: float | None, unit: Unit | None = None) -> str:
    """Return a time with its unit: "0.12 s"."""
    if seconds is None:
        return UNKNOWN
    unit = unit or unit_for([seconds])
    return f"{rounded(seconds * unit.per_base)} {unit.name}"


def elapsed(seconds: float) -> str:
    """Return a time as a clock shows it: "34 s", "2 min 05 s", "1 h 05 min"."""
    whole = round(seconds)
    if whole < 100:  # noqa: PLR2004 - two digits are read as they stand
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"  # noqa: PLR2004


def size(count: int | None) -> str:
    """Return a number of bytes with its unit: "210 MB"; decimal units."""
    if not count:
        return UNKNOWN if count is None else "0 B"
    unit = unit_for([count], BYTES, least=1)
    return f"{rounded(count * unit.per_base)} {unit.name}"


def column(values: Sequence[float | None], unit: Unit) -> list[str]:
    """Return numbers in one unit, without it, with the decimals that give the largest of them two digits."""
    largest = max((value * unit.per_base for value in values if value), default=0.0)
    decimals = max(0, 1 - math.floor(math.log10(largest))) if largest else 0
    return [UNKNOWN if value is None else f"{value * unit.per_base:,.{decimals}f}" for value in values]


def error(value: float | None) -> str:
    """Return a relative error with one significant digit, rounded up so that it stays a bound: "2e-07"."""
    if value is None or not math.isfinite(value):
        return UNKNOWN if value is None else f"{value:g}"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(value))
    # The slack keeps 2e-7, which is not a binary number, from becoming 3e-7.
    leading = math.ceil(value / 10**exponent - 1e-9)
    return f"{leading * 10.0**exponent:.0e}".replace("e-0", "e-")


def percent(share: float) -> str:
    """Return a share as a percentage with a space: "1 %"."""
    return f"{share * 100:.2g} %" if share < 0.1 else f"{share * 100:.0f} %"  # noqa: PLR2004 (two digits either way)


def tenths(share: float) -> str:
    """Return a share in percent with one decimal, without " %": "12.0", "-1.2"; what rounds to 0 is "0.0"."""
    return f"{round(100.0 * share, 1) + 0.0:.1f}"


def listed(items: Iterable[str], last: str = "and") -> str:
    """Join as a sentence does: "a, b and c"."""
    *rest, end = list(items) or [""]
    return f"{', '.join(rest)} {last} {end}" if rest else end
