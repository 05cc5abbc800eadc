from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakeoff.cli.parameters import counts, seconds, share
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


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


def test_counts_of_devices() -> None:
    """Numbers between commas, each once."""
    assert counts("1,2, 4,2", "--devices") == (1, 2, 4)
    assert counts(None, "--devices") == ()


@pytest.mark.parametrize("text", ["", "0", "1024", "-2", "two", "1,,2", "٣", "²", "9" * 5000, "1," + "9" * 5000])
def test_what_is_no_count_is_refused(text: str) -> None:
    """Anything else is an error that shows how to write it, however many digits it has."""
    with pytest.raises(UsageError, match=r"--devices .* is not a list of numbers of devices: write 2, or 1,2,4"):
        counts(text, "--devices")


@pytest.mark.parametrize("text", ["9" * 5000, "²", "0"])
@pytest.mark.parametrize(
    ("before", "behind"), [("fake", ["--devices", ""]), ("fake", ["--option", "devices="]), ("fake:devices=", [])]
)
def test_endless_numbers_of_devices_are_refused(cli: Cli, text: str, before: str, behind: list[str]) -> None:
    """A number that Python itself refuses to read ends in a message, wherever it stands."""
    contender = before + text if before.endswith("=") else before
    said = cli("run", "mlp-mnist", contender, *behind[:-1], *(word + text for word in behind[-1:]), "--dry-run")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("bakeoff: ")
    assert "devices" in said.err
