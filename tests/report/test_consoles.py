"""How wide everything is printed, whatever the environment says of the terminal."""

from __future__ import annotations

import io
import sys

import pytest

from bakeoff.report.forms.consoles import NARROWEST, WIDEST, console


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no terminal that could be asked."""

    def none_there(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("os.get_terminal_size", none_there)
    monkeypatch.delenv("TERM", raising=False)
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("said", "width"),
    [
        ("100", 100),
        ("0100", 100),
        ("0", 80),
        ("", 80),
        ("-5", 80),
        ("wide", 80),
        ("\N{SUPERSCRIPT TWO}", 80),
        ("3", NARROWEST),
        ("99999999", WIDEST),
        ("9" * 5000, WIDEST),
    ],
)
@pytest.mark.parametrize("lines", ["40", "0", "9" * 5000])
def test_a_width_that_can_be_read(monkeypatch: pytest.MonkeyPatch, said: str, width: int, lines: str) -> None:
    """What $COLUMNS says counts where a person can read in it, and is as if it were not set where it says nothing."""
    monkeypatch.setenv("COLUMNS", said)
    monkeypatch.setenv("LINES", lines)
    found = console(io.StringIO())
    assert found.width == width
    assert 0 < found.height <= WIDEST


def test_a_width_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not printed on a terminal has its own width."""
    monkeypatch.setenv("COLUMNS", "50")
    assert console(io.StringIO(), 120).width == 120


def test_stdout_if_not_said() -> None:
    """Reports are printed there."""
    assert console().file is sys.stdout
