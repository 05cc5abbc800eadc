"""Plain text in columns, as wide as the terminal and 80 columns where there is none."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDEST = 120
"""Longer lines of prose are hard to read."""

NARROWEST = 20
"""Of the last column: below it words would be broken."""

GAP = "  "


def width() -> int:
    """Return how many columns there are to write in."""
    return min(WIDEST, max(40, shutil.get_terminal_size((80, 24)).columns))


def wrapped(text: str, start: str = "", *, indent: str | None = None) -> list[str]:
    """Return a paragraph in lines that fit: the first behind `start`, the others below its end or behind `indent`."""
    below = " " * _cells(start) if indent is None else indent
    return textwrap.wrap(
        plain(text),
        width(),
        initial_indent=start,
        subsequent_indent=below,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [start.rstrip()]


def columns(rows: Iterable[Sequence[str]], *, indent: str = "") -> list[str]:
    """Return rows with their cells below each other; the last column goes on in lines of its own where it is long."""
    table = [[plain(cell) for cell in row] for row in rows]
    if not table:
        return []
    widths = [max(map(_cells, column)) for column in zip(*table, strict=True)]
    lines: list[str] = []
    for *firsts, last in table:
        start = indent + "".join(
            f"{cell}{' ' * (wide - _cells(cell))}{GAP}" for cell, wide in zip(firsts, widths, strict=False)
        )
        if width() - _cells(start) < NARROWEST:
            lines += [start.rstrip(), *wrapped(last, indent + GAP + GAP)]
        else:
            lines += wrapped(last, start)
    return lines


def names(words: Iterable[str], *, indent: str = "") -> list[str]:
    """Return words one after another, with a gap between, in as few lines as hold them."""
    lines = [indent]
    for word in map(plain, words):
        gap = GAP if lines[-1].strip() else ""
        if _cells(lines[-1] + gap + word) > width() and lines[-1].strip():
            lines.append(indent)
            gap = ""
        lines[-1] += gap + word
    return lines


def _cells(text: str) -> int:
    """Return how many columns a text takes on a terminal."""
    from rich.cells import cell_len

    return cell_len(text)
