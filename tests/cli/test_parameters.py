from __future__ import annotations

import pytest

from bakeoff.cli.parameters import seconds, share
from bakeoff.spec.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90.0), ("5m", 300.0), ("5min", 300.0), ("1h", 3600.0), ("150", 150.0), ("1.5m", 90.0)],
)
def test_durations(text: str, expected: float) -> None:
    """Durations are read in the units that people write."""
    assert seconds(text, "--budget") == expected


@pytest.mark.parametrize("text", ["", "0", "0s", "-5m", "five", "5 parsecs", "nan", "inf", "1e9x", "٣m"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """Anything else is an error that names the option and shows how to write it."""
    with pytest.raises(UsageError, match=r"--budget .* is not a duration: write 90s"):
        seconds(text, "--budget")


@pytest.mark.parametrize(("text", "expected"), [("0.05", 0.05), ("5%", 0.05), ("2.5 %", 0.025)])
def test_shares(text: str, expected: float) -> None:
    """A margin is a share or a percentage."""
    assert share(text, "--margin") == pytest.approx(expected)


@pytest.mark.parametrize("text", ["0", "1", "5", "100%", "-5%", "%", "nan", "wide"])
def test_what_is_no_share_is_refused(text: str) -> None:
    """Anything outside 0 to 1 is an error that shows how to write it."""
    with pytest.raises(UsageError, match=r"--margin .* write 0\.05 or 5%"):
        share(text, "--margin")
