"""The model's tree: what one contender spends more than another in each part of it, the more the stronger coloured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.report.gaps import NO_LAYER, scale_of
from bakeoff.report.pictures import WIDE, altair, drawn
from bakeoff.report.pictures.differences import BAR, DIRECTIONS, axis_of, difference_bars
from bakeoff.report.pictures.rows import CHARACTER, LINE, rows
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.explanation import Explanation, Gap
    from bakeoff.report.gaps import TimeFormat
    from bakeoff.report.pictures import Chart, Mark
    from bakeoff.report.pictures.rows import Rows

MOST_BRANCHES = 20
"""Parts of the model that are drawn: a model may have hundreds of layers, and a screen has room for twenty rows."""
LEAST = 0.1
"""Of the weight of the heaviest part next to it: what has less would be a bar that is hardly seen, and has no row."""
_MOST = 0.8
"""Of the weight of a part: a layer that has so much of it would be a row that says the same again."""
_INDENT = "  "
"""Of a name for each level, in characters of the column of names."""
_PALEST = 0.15
"""Of its colour in a part without any difference: the rest is for how large the difference is."""
_ROOM = 1.04
"""Between the longest bar and the end of the axis."""

Path = tuple[str, ...]


class Branch(NamedTuple):
    """A part of the model, with all that is within it."""

    depth: int
    name: str
    """As it follows on the part that it is within: ".conv"."""
    path: str
    """As the model names it: "stages.2.conv"."""
    difference_s: float
    """Of all within it, forward, backward and optimiser together: second minus first."""


def branches(gap: Gap) -> list[Branch]:
    """Return the parts of the model in which most of the gap lies, each below what it is within, the largest first."""
    tree = _Tree(gap)
    return tree.below((), 0, "")


class _Tree:
    """All layers of a gap by their paths, with sums over what is within each."""

    def __init__(self, gap: Gap) -> None:
        """Add up the differences of every layer, and of every part that it is within."""
        self.own: dict[Path, float] = {}
        for row in gap.by_layer:
            path = tuple(row.layer.split(".")) if row.layer else (NO_LAYER, *([row.kind] if row.kind else []))
            self.own[path] = self.own.get(path, 0.0) + row.gap_s
        self.sums: dict[Path, float] = {}
        self.weights: dict[Path, float] = {}
        self.children: dict[Path, list[Path]] = {}
        for path, seconds in self.own.items():
            for length in range(1, len(path) + 1):
                part = path[:length]
                if part not in self.sums:
                    self.children.setdefault(part[:-1], []).append(part)
                self.sums[part] = self.sums.get(part, 0.0) + seconds
                self.weights[part] = self.weights.get(part, 0.0) + abs(seconds)
        apart = [path for path in self.weights if self._most(path[:-1]) != path and self._counts(path)]
        heaviest = sorted(apart, key=lambda path: (-self.weights[path], len(path), path))
        self.shown = set(heaviest[:MOST_BRANCHES])

    def _counts(self, path: Path) -> bool:
        """Return whether a part differs by more than little, beside the one that differs most of those next to it."""
        return self.weights[path] >= LEAST * max(self.weights[one] for one in self.children[path[:-1]])

    def below(self, parent: Path, depth: int, before: str) -> list[Branch]:
        """Return what is shown within a part, and what is not as one branch."""
        children = sorted(self.children.get(parent, []), key=lambda path: -self.weights[path])
        shown = [child for child in children if child in self.shown]
        hidden = [child for child in children if child not in self.shown and child != self._most(parent)]
        rest = math.fsum(self.sums[child] for child in hidden)
        is_worth = bool(shown and hidden) and abs(rest) >= LEAST * self.weights[children[0]]
        if len(hidden) == 1 and is_worth:
            shown, is_worth = [*shown, *hidden], False
        found: list[Branch] = []
        for child in shown:
            path = self._last(child)
            joint = "" if path[0] == NO_LAYER else "."
            most = self._most(path)
            said = f", mostly {joint}{'.'.join(most[len(path) :])}" if most else ""
            name = f"{before}{_text(path[len(parent) :])}{said}"
            found.append(Branch(depth, name, f"{_text(path)}{said}", self.sums[child]))
            found += self.below(path, depth + 1, joint)
        if is_worth:
            others = count(len(hidden), "other")
            found.append(Branch(depth, others, f"{_text(parent)}, {others}" if parent else others, rest))
        return found

    def _most(self, parent: Path) -> Path | None:
        """Return the layer within a part that has most of its weight: it is named with the part, in one row."""
        children = self.children.get(parent, []) if parent else []
        heaviest = max(children, key=lambda path: self.weights[path], default=None)
        is_most = heaviest is not None and self.weights[heaviest] >= _MOST * self.weights[parent]
        return heaviest if is_most and heaviest not in self.children else None

    def _last(self, path: Path) -> Path:
        """Return the end of a chain of parts that hold one part each: "blocks.0" is no two rows."""
        while path not in self.own and len(self.children[path]) == 1:
            (path,) = self.children[path]
        return path


def _text(path: Path) -> str:
    """Return a path as the model names it; of what is outside of any layer, the kind of operation."""
    return path[-1] if path[0] == NO_LAYER else ".".join(path)


def layers_chart(explanation: Explanation, gap: Gap, width: int = WIDE) -> Chart:
    """Draw a bar for each part of the model, its name as far to the right as it is deep."""
    alt = altair()
    scale, found = scale_of([gap]), branches(gap)
    names = [(_INDENT * one.depth + one.name, scale.difference(one.difference_s)) for one in found]
    here = rows(names, width, BAR)
    low, high = _domain(found, scale)
    x = alt.X("start:Q", scale=here.scale(low, high), axis=axis_of(f"difference, {scale.unit.name}", here))
    most = max(abs(one.difference_s) for one in found) or 1.0
    marks = [
        {
            "y": y,
            "start": 0.0,
            "end": one.difference_s * scale.unit.per_base,
            "share": _PALEST + (1 - _PALEST) * abs(one.difference_s) / most,
        }
        for one, y in zip(found, here.places, strict=True)
    ]
    zero = drawn([{"start": 0.0, "y": top, "below": end} for top, end in here.bands])
    zero = zero.mark_rule(opacity=0.7).encode(x=x, y=here.y(), y2="below:Q")
    layers = [zero, *difference_bars(explanation, gap, marks, here, x), *_names(found, here)]
    title = alt.Title(f"Where in the model: {gap.second} against {gap.first}", subtitle=_meaning(gap))
    return here._replace(texts=[]).chart(layers, title)


def _meaning(gap: Gap) -> str:
    """Return how the bars are read."""
    directions = DIRECTIONS.format(first=gap.first, second=gap.second)
    return f"each row with all that is within it; {directions}; the stronger its colour, the larger the difference"


def _domain(found: Sequence[Branch], scale: TimeFormat) -> tuple[float, float]:
    """Return the ends of the axis, in the scale's unit, with zero between them."""
    ends = [one.difference_s * scale.unit.per_base for one in found]
    low, high = _ROOM * min(0.0, *ends), _ROOM * max(0.0, *ends)
    return (low, high) if high > low else (0.0, 1.0)


def _names(found: Sequence[Branch], here: Rows) -> list[Chart]:
    """Draw the names of each level at its own place: SVG loses spaces at the beginning of a line."""
    alt = altair()
    levels: dict[int, list[Mark]] = {}
    for one, mark in zip(found, here.texts, strict=True):
        levels.setdefault(one.depth, []).append({"y": mark["y"], "text": [line.strip() for line in mark["text"]]})
    return [
        drawn(texts)
        .mark_text(align="left", baseline="middle", lineHeight=LINE)
        .encode(x=alt.value(CHARACTER * len(_INDENT) * depth), y=here.y(), text="text:N")
        for depth, texts in levels.items()
    ]
