"""The console that everything is printed on: as wide as the terminal, whatever the environment says of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Mapping

NARROWEST, WIDEST = 20, 1000
"""In fewer columns nothing can be read, and rich prints nothing at all in 0; in millions each line takes minutes."""

_SIZES = frozenset(("COLUMNS", "LINES", "JUPYTER_COLUMNS", "JUPYTER_LINES"))
"""What rich takes the size from before it asks the terminal."""


def console(stream: TextIO | None = None, width: int | None = None) -> Console:
    """Return a console on a stream, stdout if not said; what the environment says of its size counts where it can be.

    $COLUMNS beyond what can be read in is the nearest that can; 0, and what is no number, is as if it were not set.
    """
    found = Console(file=stream, width=width, highlight=False, _environ=_usable(os.environ))
    if not NARROWEST <= found.width <= WIDEST:
        found.width = min(WIDEST, max(NARROWEST, found.width))
    return found


def _usable(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without sizes that a terminal cannot have."""
    sizes = {name: _size(environ[name]) for name in _SIZES & set(environ)}
    others = {name: value for name, value in environ.items() if name not in _SIZES}
    return others | {name: value for name, value in sizes.items() if value}


def _size(text: str) -> str:
    """Return a number of columns or lines, of large ones the largest that is used; empty for 0 and for no number."""
    number = text.lstrip("0") if text.isascii() and text.isdigit() else ""
    # Python refuses to read numbers of thousands of digits.
    return str(WIDEST) if len(number) > len(str(WIDEST)) else number
