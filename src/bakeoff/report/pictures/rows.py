"""Rows of a chart, each with its name and its value in words: beside the marks where there is room, else above them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len

from bakeoff.report.pictures import FONT_SIZE, altair, drawn, is_narrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.report.pictures import Chart, Mark

CHARACTER = 0.56 * FONT_SIZE
"""Pixels that a character takes on average: names and figures in Liberation Sans take 0.5 to 0.55 of its size."""
LINE = 16
"""Pixels from one line of text to the next."""
GAP = 14
"""Pixels between two rows."""
_ABOVE = 5
"""More pixels between two rows whose names stand above their marks, so that a name is nearer to its own."""
_EDGE = 10
"""Pixels between marks and the picture's edge or a column of text."""
_LAST_LABEL = 26
"""Pixels right of the last mark along the bottom: half of the longest label, "1,000,000"."""
_NAME_SHARE = 0.36
"""Of a wide picture, for names at most."""
_MOST_LINES = 8
"""Of a name: a longer one is cut, and stands whole in the table."""
_FEWEST = 8
"""Characters of a line, however far to the right a name begins: a number and dots."""

_PIECE = re.compile(r"\s*(?:[^\s,:@/]+[,:@/]*|[,:@/]+)")
"""What is not parted."""


class Rows(NamedTuple):
    """Where the parts of rows stand, in pixels from the left and from the top."""

    left: float
    """Where the marks begin."""
    right: float
    """Where they end."""
    width: int
    height: float
    places: list[float]
    """The middle of each row's marks."""
    texts: list[Mark]
    """Names on the left."""
    values: list[Mark]
    """Values on the right."""
    bands: list[tuple[float, float]]
    """From where to where what lies behind all marks reaches: not behind names that stand above them."""

    def scale(self, low: float, high: float, *, logarithmic: bool = False) -> Any:
        """Return the scale along the bottom."""
        kind = "log" if logarithmic else "linear"
        return altair().Scale(type=kind, domain=[low, high], range=[self.left, self.right], nice=False)

    def y(self, field: str = "y") -> Any:
        """Return the encoding of pixels from the top."""
        alt = altair()
        scale = alt.Scale(domain=[0, self.height], reverse=True, nice=False, zero=False)
        return alt.Y(f"{field}:Q", scale=scale, axis=None)

    def layers(self) -> list[Chart]:
        """Return the names and the values."""
        alt = altair()
        names = drawn(self.texts).mark_text(align="left", baseline="middle", lineHeight=LINE)
        values = drawn(self.values).mark_text(align="right", baseline="middle", lineHeight=LINE)
        found = [names.encode(x=alt.value(0), y=self.y(), text="text:N")]
        return [*found, values.encode(x=alt.value(self.width), y=self.y(), text="text:N")] if self.values else found

    def chart(self, layers: Sequence[Chart], title: Any) -> Chart:
        """Return the picture of these layers with the names and values."""
        layered = altair().layer(*layers, *self.layers())
        return layered.properties(width=self.width, height=self.height, title=title)


def rows(names: Sequence[tuple[str, str]], width: int, room: float) -> Rows:
    """Return the rows of these names and values, with `room` pixels from top to bottom for the marks of each."""
    return _above(names, width, room) if is_narrow(width) else _beside(names, width, room)


def _beside(names: Sequence[tuple[str, str]], width: int, room: float) -> Rows:
    """Return rows whose names and values stand in columns of their own."""
    names_lines = [wrapped(name, int(_NAME_SHARE * width / CHARACTER)) for name, _ in names]
    left = _EDGE + CHARACTER * max((cell_len(line) for lines in names_lines for line in lines), default=0)
    right = width - _EDGE - CHARACTER * max((cell_len(value) for _, value in names), default=0)
    y, places, texts, values = 0.0, [], [], []
    for lines, (_, value) in zip(names_lines, names, strict=True):
        height = max(room, LINE * len(lines)) + GAP
        places.append(y + height / 2)
        texts.append({"y": y + height / 2 - LINE * (len(lines) - 1) / 2, "text": lines})
        values += [{"y": y + height / 2, "text": value}] if value else []
        y += height
    return Rows(left + _EDGE, right - _EDGE, width, y, places, texts, values, [(0, y)])


def _above(names: Sequence[tuple[str, str]], width: int, room: float) -> Rows:
    """Return rows whose names and values stand above their marks."""
    most = int(width / CHARACTER)
    y, places, texts, values = 0.0, [], [], []
    for name, value in names:
        lines = wrapped(name, most)
        texts.append({"y": y + LINE / 2, "text": lines})
        if value and cell_len(lines[-1]) + cell_len(value) + 2 > most:
            y += LINE
        y += LINE * len(lines)
        values += [{"y": y - LINE / 2, "text": value}] if value else []
        places.append(y + room / 2 + 2)
        y += room + GAP + _ABOVE
    bands = [(place - room / 2, place + room / 2) for place in places]
    return Rows(_EDGE, width - _LAST_LABEL, width, y, places, texts, values, bands)


def wrapped(name: str, most: int) -> list[str]:
    """Return a name in lines of at most so many characters, parted where its parts meet; each as far to the right."""
    if depth := len(name) - len(name.lstrip(" ")):
        return [" " * depth + line for line in wrapped(name[depth:], max(_FEWEST, most - depth))]
    lines = [""]
    for piece in _PIECE.findall(name):
        if cell_len(lines[-1] + piece) <= most:
            lines[-1] += piece
            continue
        rest = piece.lstrip()
        while cell_len(rest) > most:
            lines.append(rest[:most])
            rest = rest[most:]
        lines.append(rest)
    found = [line for line in lines if line] or [""]
    return (
        found if len(found) <= _MOST_LINES else [*found[: _MOST_LINES - 1], f"{found[_MOST_LINES - 1][: most - 3]}..."]
    )
