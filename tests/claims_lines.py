"""Reads files of results line by line, and finds the lines that a figure of a page may have come from.

A line is a row of a table, with the heading of its section, or a sentence. It is near to a figure by what it shares
with its statement: names and other figures, each by how few lines of the cited files have it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import groupby, pairwise
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.claims import Figure

NEAREST = 2
"""Of how many lines one has to have a figure: rows often come in pairs, as the two processes of one contender do."""

CLOSE = 60
"""Up to how many characters from a figure a name counts fully: half a line of a page; beyond is another clause."""

FAR = 0.4
"""What a name counts beyond. With 0.2, or with 1, more true figures were not found, and no fewer false ones were."""

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][+-]?\d+)?(?=(\s*)(%|[A-Za-zµ/]+)?)")

_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")

_WORD = re.compile(r"[A-Za-z]\w+")

_TARGET = re.compile(r"\]\([^)]*\)")

_SENTENCE = re.compile(r"(?<=[.:])[)\"]*\s+(?=[A-Z\"`*(\[])|(?<=;)\s+")

_EXTREME = re.compile(r"at most|largest|least|lowest|highest|worst|up to|down to|less than|better|none|\d to \d")

_HEADED = re.compile(r"(?:^|[ (,])(%|ms|µs|s|GB/s|GMAC/s|MiB|MB)\)?$")
"""The unit at the end of a column's heading: "step (ms)", "found, %"."""

_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("%", "percent"), ("share", 1.0)),
    **dict.fromkeys(("x", "times"), ("ratio", 1.0)),
    "ns": ("time", 1e-9),
    "µs": ("time", 1e-6),
    "ms": ("time", 1e-3),
    **dict.fromkeys(("s", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("hour", "hours"), ("time", 3600.0)),
    "kB": ("size", 1e3),
    "MB": ("size", 1e6),
    "GB": ("size", 1e9),
    "KiB": ("size", 2.0**10),
    "MiB": ("size", 2.0**20),
    "GiB": ("size", 2.0**30),
    "MB/s": ("rate", 1e6),
    "GB/s": ("rate", 1e9),
    "GMAC/s": ("work", 1.0),
}
"""What each measures, and how much of that it is: what a file has of another kind is another quantity."""

_IDLE = re.compile(
    r"the|of|in|is|it|as|at|by|on|to|for|and|or|with|that|this|was|were|are|be|not|no|its|from|than|which|where|an|one|two"
    r"|three|four|five|each|their|they|so|what|but|has|had|have|more|all|both|between"
)
"""Words that name nothing."""

_SAME = {"pytorch": "torch"}
"""What pages write in another way than files of results."""


@dataclass(frozen=True)
class Number:
    """A number of a file, with the unit that stands behind it or ends its column's heading."""

    value: float
    unit: str
    heading: str = ""
    """Its column's."""

    column: str = ""
    """Its column among all of the file, and its place in the cell: ratios apart from the ends of their intervals."""

    def is_told_by(self, figure: Figure) -> bool:
        """Return whether a figure is this number as it is printed: where both have a unit, in the figure's."""
        mine, its = _UNITS.get(self.unit), _UNITS.get(figure.unit)
        if mine and its and mine[0] != its[0]:
            return False
        scales = [mine[1] / its[1] if mine and its else 1.0]
        if figure.unit == "%" and not self.unit and abs(self.value) <= 1:
            scales.append(100.0)
        return any(figure.is_rounded(self.value * scale) for scale in scales)


@dataclass(frozen=True)
class Line:
    """A row of a table, or a sentence, of a file of results."""

    words: frozenset[str]
    numbers: tuple[Number, ...]
    text: str
    section: str
    kind: str
    """A "row" or the "headings" of a table, or a "sentence"."""

    def is_named(self, row: str) -> bool:
        """Return whether it has every name of a row, as a citation's title gives them: "calm, 1.05, first"."""
        names = [re.compile(rf"(?<![\w.]){re.escape(name.strip())}(?![\w.])") for name in row.split(",")]
        by_itself = [name for name in names if name.search(self.text)]
        return bool(by_itself) and all(name.search(self.section) for name in names if name not in by_itself)

    def has_in_order(self, figures: tuple[Figure, ...]) -> bool:
        """Return whether figures are numbers of it, each behind the one before."""
        left = iter(self.numbers)
        return all(any(number.is_told_by(figure) for number in left) for figure in figures)

    def has(self, figure: Figure, under: str = "") -> bool:
        """Return whether a figure is a number of it; one under a heading, of the columns whose headings share most."""
        shared = [len(_tokens(number.heading) & _tokens(under)) for number in self.numbers] if under else []
        most = max(shared, default=0)
        ranked = zip(self.numbers, shared or [0] * len(self.numbers), strict=True)
        return any(count == most and number.is_told_by(figure) for number, count in ranked)


def words(text: str) -> frozenset[str]:
    """Return the names and other words of a text, each in one form."""
    found = (_SAME.get(hit, hit) for hit in _WORD.findall(text.lower()))
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in found if not _IDLE.fullmatch(word))


@cache
def _tokens(heading: str) -> frozenset[str]:
    return frozenset(
        token.removesuffix("s") for token in re.findall(r"\w+", heading.lower()) if not _IDLE.fullmatch(token)
    )


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph, also those that end in a semicolon or colon, with the space behind them."""
    hidden = _TARGET.sub(lambda hit: f"]{'_' * (len(hit[0]) - 1)}", text)
    cuts = [0, *(hit.end() for hit in _SENTENCE.finditer(hidden)), len(text)]
    return [text[start:end] for start, end in pairwise(cuts) if end > start]


def _numbers(text: str, heading: str = "", table: str = "") -> list[Number]:
    headed = _HEADED.search(heading)
    usual = headed[1] if headed else ""
    return [
        Number(
            float(hit[0].replace(",", "")),
            hit[2] if hit[2] in _UNITS else usual,
            heading,
            f"{table} {heading} {place}" if table else "",
        )
        for place, hit in enumerate(_NUMBER.finditer(_DATE.sub(" ", text)))
    ]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _table(rows: list[str], section: str) -> Iterator[Line]:
    head, *rest = rows
    headings = _cells(head)
    yield Line(words(f"{section} {head}"), tuple(_numbers(head)), head, section, "headings")
    for row in rest[1:]:
        cells = zip(_cells(row), headings, strict=False)
        found = [number for cell, heading in cells for number in _numbers(cell, heading, f"{head} {section}")]
        yield Line(words(f"{section} {row}"), tuple(found), row, section, "row")


def _prose(text: str) -> Iterator[Line]:
    for item in re.split(r"\n(?=[-*] )", text):
        for told in sentences(re.sub(r"\s+", " ", item)):
            yield Line(words(told), tuple(_numbers(told)), told, "", "sentence")


@cache
def lines_of(path: Path) -> tuple[Line, ...]:
    """Return the lines of a file of results; of a folder, those of its report."""
    file = path / "report.md" if path.is_dir() else path
    found: list[Line] = []
    section = ""
    for part in re.split(r"\n\s*\n", file.read_text(encoding="utf-8") if file.is_file() else ""):
        section = part.partition("\n")[0].strip("# ") if part.startswith("##") else section
        for in_table, rows in groupby(part.splitlines(), key=lambda row: row.startswith("|")):
            run = list(rows)
            found += _table(run, section) if in_table else _prose("\n".join(run))
    return tuple(found)


def speaks_of_extremes(text: str) -> bool:
    """Return whether a statement has a word for the end of a range, or a range."""
    return _EXTREME.search(text) is not None


@dataclass(frozen=True)
class Lines:
    """The lines of the files that a statement cites, and how much a name or number tells among them."""

    all: tuple[Line, ...]
    _hits: dict[Figure, list[int]] = field(default_factory=dict, compare=False)

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for at, line in enumerate(self.all):
            for word in line.words:
                found.setdefault(word, []).append(at)
        return found

    @cached_property
    def _extremes(self) -> list[Number]:
        columns: dict[str, list[Number]] = {}
        for number in (number for line in self.all for number in line.numbers if number.column):
            columns.setdefault(number.column, []).append(number)
        by_size = (sorted(column, key=lambda number: abs(number.value)) for column in columns.values())
        return [end for column in by_size for end in (column[0], column[-1])]

    def _lines_with(self, figure: Figure) -> list[int]:
        if figure not in self._hits:
            self._hits[figure] = [at for at, line in enumerate(self.all) if line.has(figure)]
        return self._hits[figure]

    def is_extreme(self, figure: Figure) -> bool:
        """Return whether a figure is the least or the largest number of a column."""
        return any(number.is_told_by(figure) for number in self._extremes)

    def nearest(self, names: dict[str, float], beside: list[tuple[Figure, float]]) -> list[Line]:
        """Return the lines that share most with weighed names and figures, and all that share as much as the last."""
        shared = [0.0] * len(self.all)
        sharing = [(self._by_word.get(word, []), weight) for word, weight in names.items()]
        for lines, weight in [*sharing, *((self._lines_with(figure), weight) for figure, weight in beside)]:
            for at in lines:
                shared[at] += weight * log(len(self.all) / len(lines))
        found: list[Line] = []
        for kind, count in (("row", NEAREST), ("sentence", 1)):
            known = [(score, line) for line, score in zip(self.all, shared, strict=True) if line.kind == kind]
            best = sorted((score for score, _ in known if score), reverse=True)[:count]
            found += [line for score, line in known if best and score >= best[-1] - 1e-9]
        return found


@cache
def lines_in(files: tuple[Path, ...]) -> Lines:
    """Return the lines of some files."""
    return Lines(tuple(line for file in files for line in lines_of(file)))
