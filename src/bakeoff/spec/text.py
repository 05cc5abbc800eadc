"""Text that others wrote, made fit to be shown: it can neither steer a terminal nor reorder what stands beside it."""

from __future__ import annotations


def plain(text: str, keep: str = "") -> str:
    """Return text in which characters that are not to be seen are escaped, but for those to keep.

    These are control characters (C1 too), those that turn the direction of writing, and those that no text has.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    """Return the character as Python writes it in a text."""
    return char.encode("unicode_escape").decode()


MOST_SHOWN = 8000
"""Characters of a message: more than any of bakeoff's own has, and no more than a screen or two."""


def shortened(text: str) -> str:
    """Return a message that is read whole, or its begin and its end where it repeats endless input."""
    left_out = len(text) - MOST_SHOWN
    if left_out <= 0:
        return text
    half = MOST_SHOWN // 2
    return f"{text[:half]} ... ({left_out:,} characters left out) ... {text[-half:]}"


def three_digits(value: float) -> str:
    """Return a number with three digits, and large ones whole: "0.0123", "4.56", "1,180"."""
    return f"{value:,.0f}" if abs(value) >= WHOLE_FROM else f"{value:.3g}"


WHOLE_FROM = 99.95
"""From here on three digits are a whole number."""


def count(number: int, noun: str) -> str:
    """Return a number with its noun: "1 round", "7 rounds"."""
    return f"{number:,} {noun if number == 1 else noun + ('es' if noun.endswith('s') else 's')}"
