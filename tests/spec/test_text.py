from __future__ import annotations

import pytest

from bakeoff.spec.text import count


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(1, "round", "1 round"), (0, "block", "0 blocks"), (2, "pass", "2 passes"), (12_345, "step", "12,345 steps")],
)
def test_a_number_has_its_noun(number: int, noun: str, text: str) -> None:
    """A count is said with its noun in the right number, thousands parted."""
    assert count(number, noun) == text
