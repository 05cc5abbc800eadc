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
