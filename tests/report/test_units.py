from __future__ import annotations

import pytest
from tests.report.conftest import TORCH, outcome

from bakeoff.report import units
from bakeoff.report.sections import energy, light
from bakeoff.spec.verdict import Interval


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.0e-7, "2e-7"), (2.1e-7, "3e-7"), (0.3, "3e-1"), (0.0, "0"), (None, "unknown"), (9.5e-5, "1e-4")],
)
def test_errors_are_bounds(value: float | None, text: str) -> None:
    """An error is rounded up to one digit, so that what is told is never less than what was found."""
    assert units.error(value) == text


@pytest.mark.parametrize(
    ("count", "text"), [(95_000_000, "95 MB"), (1_500_000_000, "1.5 GB"), (512, "510 B"), (None, "unknown"), (0, "0 B")]
)
def test_sizes_have_decimal_units(count: int | None, text: str) -> None:
    """Bytes are told in decimal units with two digits; unknown is not 0."""
    assert units.size(count) == text


PREFIXES = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0, "m": 1e-3, "\N{MICRO SIGN}": 1e-6}


@pytest.mark.parametrize(
    ("family", "base"),
    [
        *((units.SECONDS, "s"), (units.BYTES, "B"), (energy.JOULES, "J")),
        *((light.RATES, "MAC/s"), (light.MACS, "MAC"), (light.STREAMS, "B/s")),
    ],
)
def test_a_units_prefix_is_its_factor(family: tuple[units.Unit, ...], base: str) -> None:
    """A thousand kB are a MB in every family of units, the largest of which comes first."""
    factors = [PREFIXES[unit.name.removesuffix(base)] for unit in family]
    assert [1.0 / unit.per_base for unit in family] == pytest.approx(factors)
    assert factors == sorted(factors, reverse=True)


def test_a_column_has_one_unit() -> None:
    """The smallest value chooses the unit, so that none reads 0.00."""
    assert units.unit_for([0.00044, 2.0]).name == "ms"
    assert units.unit_for([0.000044, 2.0]).name == "\N{MICRO SIGN}s"
    assert units.unit_for([None]).name == "s"


def test_digits_stop_where_the_interval_stops() -> None:
    """A quantity has no digit that its interval does not carry, and thousands are parted."""
    wide = Interval(estimate=2.11e-3, low=2.0e-3, high=2.2e-3)
    assert units.quantity(wide, units.SECONDS[1]) == ("2.1", "2.0", "2.2")
    many = Interval(estimate=32_653.0, low=31_600.0, high=33_300.0)
    assert units.quantity(many, units.Unit("samples/s", 1.0)).estimate == "32,700"


@pytest.mark.parametrize(
    ("items", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists_read_as_sentences(items: list[str], text: str) -> None:
    """Items are joined as in a sentence."""
    assert units.listed(items) == text


def test_wide_intervals_keep_their_ends() -> None:
    """An interval over magnitudes rounds neither its low end nor its estimate to nothing."""
    assert units.carried(20.3, 0.0056, 71_234.0) == ("20", "0.0056", "71,000")


@pytest.mark.parametrize(("value", "text"), [(-0.0123, "-0.0123"), (-1234.0, "-1,230"), (0.5, "0.500"), (0.0, "0.00")])
def test_a_number_keeps_its_sign(value: float, text: str) -> None:
    """A loss may lie just below 0, as PPO's does: its sign is not lost with the thousands that are parted."""
    assert units.rounded(value, 3) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(99.4, "99 s"), (100, "1 min 40 s"), (125, "2 min 05 s"), (3599, "59 min 59 s"), (3600, "1 h 00 min")],
)
def test_a_time_is_told_as_a_clock_shows_it(seconds: float, text: str) -> None:
    """Up to 99 seconds as they are, then minutes with two digits of seconds, then hours with two of minutes."""
    assert units.elapsed(seconds) == text


@pytest.mark.parametrize(("share", "text"), [(-0.0004, "0.0"), (-0.0123, "-1.2"), (0.12, "12.0")])
def test_what_rounds_to_nothing_has_no_sign(share: float, text: str) -> None:
    """A share of -0.04 % reads as none, not as less than none."""
    assert units.tenths(share) == text


@pytest.mark.parametrize(("share", "text"), [(0.0123, "1.2 %"), (0.1, "10 %"), (0.123, "12 %")])
def test_a_share_has_two_digits(share: float, text: str) -> None:
    """Below a tenth with a decimal, from there on without."""
    assert units.percent(share) == text


def test_the_energy_of_a_sample_is_told_with_its_rounds_and_its_meters() -> None:
    """Estimate, interval, how many rounds, and by what it was counted."""
    (line,) = energy.energy_table(outcome([TORCH], [])).lines
    assert line.cells == ["torch", "2.0 mJ", "1.9 to 2.1 mJ", "5", "package-0"]


def test_an_interval_that_reaches_below_nothing_spans_no_magnitudes() -> None:
    """Its half-width tells its digits, as of every other one."""
    assert units.carried(2.13, -1.04, 5.02) == ("2", "-1", "5")
