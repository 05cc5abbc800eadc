"""The value that an option has in a process."""

from __future__ import annotations

from bakeoff.frameworks.in_force import InForce


def test_another_choice_forgets_what_was_computed() -> None:
    """What is read back is what was computed since the last choice: None where nothing was, and of no other holder."""
    lstm, other = InForce("fused", "lstm", "lengths"), InForce("segment", "lstm")
    lstm.computed["lstm"] = "cell"
    assert lstm.settings() == {"lstm": "cell", "lengths": None}
    lstm.choose("block")
    assert lstm.value == "block"
    assert lstm.settings() == {"lstm": None, "lengths": None}
    assert (other.value, other.settings()) == ("segment", {"lstm": None})


def test_what_was_read_back_stays() -> None:
    """A record's settings do not change with what is computed behind them."""
    held = InForce("fused", "lstm")
    read = held.settings()
    held.computed["lstm"] = "cell"
    assert read == {"lstm": None}
