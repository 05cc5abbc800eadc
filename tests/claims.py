"""Reads the figures of a Markdown page and holds them to the files that its text cites.

The convention: a **block** is a run of lines without an empty one (a paragraph, a list, a table). What it says was
measured cites its file by a link to benchmarks/results or docs/records, in the block itself; a table or a list may have
it in the block before or behind. A **statement** is a sentence of it (a colon or semicolon may end one) or a row of a
table. It is held to the files that it cites itself, or else to those that the next statement of the block cites, and
the last one before.

Every figure of a statement is in a line of these files that fits it, as it is rounded, and in no other unit:

- in one of the two rows, or in the one sentence, that share most with it: names, and the other figures beside it; in a
  row of a page's table, in the columns whose headings share most with its own;
- or it is the least or the largest of a column, where the statement tells of one ("at most", "0.96 to 1.09");
- or, where the link has a title, in the rows that this names, and nowhere else: `(x.md "calm, 1.05: seconds; noisy")`
  are the rows with "calm" and "1.05", in the columns whose headings share most with "seconds", and those with "noisy".

A ratio with an interval has all three numbers in one line, in their order. A figure with a unit, or one such as 8e-6,
in a block without a citation is a setting, a limit or a document's: then it is listed, with its reason, in
figures_without_a_record.toml. claims_audit.py counts how many changed figures all this overlooks.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests import claims_lines as results

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NUMBER = r"(?<![\w.,^-])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?![\d^]|,\d)"

_FIGURE = re.compile(rf"({_NUMBER})(?=(\s*)(%|[A-Za-zµ/]+)?)")

_TRIPLE = re.compile(
    rf"({_NUMBER})(?:x| times)?(?: as \w+| \w+)?\s*"
    rf"(?:\[\s*({_NUMBER}),\s*({_NUMBER})\s*\]|\((?:95 % CI )?({_NUMBER}) to ({_NUMBER})\))"
)
"""A ratio with its interval: "0.98 [0.96, 0.99]", "0.98 (0.96 to 0.99)", "1.66x torch (95 % CI 1.64 to 1.68)"."""

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

_COMMENT = re.compile(r"(?:^|\s)# +(.*)$", re.MULTILINE)

_LINK = re.compile(r"\]\(([^)\s#]+)[^)\s]*(?:\s+\"([^\"]*)\")?\)")
"""A link's target, and its title: `(x.md "calm, 1.05")`."""

_UNITS = frozenset(
    (
        *("%", "percent", "times", "x", "s", "ms", "µs", "ns"),
        *("second", "seconds", "minute", "minutes", "hour", "hours", "days"),
        *("kB", "MB", "GB", "KiB", "MiB", "GiB", "MB/s", "GB/s", "Gflop/s", "GMAC/s", "MHz", "GHz", "J", "W"),
    )
)
"""A number before one of these is a figure wherever it stands."""

_TARGET = re.compile(r"\]\([^)]*\)")

_UNREAD = (
    r"<!--.*?-->",
    r"`[^`]*`",
    r"\]\([^)]*\)",
    r"\b\d{4}-\d{2}-\d{2}\b",
    r"\b\d+\.\d+\.\d+(?:[.+]\w+)*",
    r"\b(?!\d+e[+-]?\d+\b)[\w-]*[A-Za-z]-?\d[\w.]*",
    r"\b\d+ ?x ?\d+(?: ?x ?\d+)*",
    r"\b(?:19|20)\d\d\b(?! ?%)",
    r"arXiv \d+\.\d+",
)
"""Comments, code, links' targets, dates, versions, names with digits (8e-6 is none), shapes, years, papers."""

_SMALL = 10
"""A number below it, alone and without a unit, counts something or numbers it: "3 rounds", "two of 9"."""


@dataclass(frozen=True)
class Citation:
    """A link to a file of results or records, with the rows that its title names."""

    path: Path
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A run of lines of a page."""

    page: Path
    heading: str
    text: str

    @property
    def is_table(self) -> bool:
        """Whether its lines are rows."""
        return self.text.lstrip().startswith("|")

    @property
    def leans_on_its_neighbours(self) -> bool:
        """Whether it is a table or a list, whose citation may stand before or behind it."""
        return self.text.lstrip().startswith(("|", "- ", "1. "))

    def cited(self, root: Path, text: str | None = None) -> list[Citation]:
        """Return the files of results and records that it, or a part of it, links to."""
        links = _LINK.findall(self.text if text is None else text)
        named = [
            (self.page.parent / link, re.sub(r"\s+", " ", rows).split(";") if rows else []) for link, rows in links
        ]
        inside = [Citation(path.resolve(), tuple(rows)) for path, rows in named]
        folders = (*(root / "benchmarks" / "results", root / "docs" / "records"), root / "docs" / "results.md")
        return [one for one in inside if any(one.path.is_relative_to(folder) for folder in folders)]

    def parts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield its statements: each row of a table with the headings of the columns, or each sentence."""
        if self.is_table:
            head, *rows = self.text.strip().splitlines()
            yield from ((row, tuple(head.strip().strip("|").split("|"))) for row in rows)
        else:
            for item in re.split(r"\n(?=- |\d+\. )", self.text):
                yield from ((told, ()) for told in results.sentences(item))


@dataclass(frozen=True)
class Figure:
    """A number as it is printed."""

    text: str
    unit: str

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text.replace(",", ""))

    @property
    def has_unit(self) -> bool:
        """Whether it is a figure wherever it stands."""
        return self.unit in _UNITS

    @property
    def counts(self) -> bool:
        """Whether it is so small and plain that it counts or numbers something."""
        return not self.has_unit and self.text.isdecimal() and self.value < _SMALL

    def is_rounded(self, exact: float) -> bool:
        """Return whether this is `exact` as it is printed here."""
        digits = self.text.replace(",", "").lstrip("+-")
        if "e" in digits:
            mantissa, _, power = digits.partition("e")
            unit = 10.0 ** (int(power) - len(mantissa.partition(".")[2]))
        else:
            unit = 10.0 ** -len(digits.partition(".")[2])
        # Halves are rounded either way, and binary fractions hit them only nearly.
        room = 0.5 * unit * (1 + 1e-9)
        return abs(abs(self.value) - abs(exact)) <= room


@dataclass(frozen=True)
class Statement:
    """A sentence, or a row of a table, with what it is held to."""

    text: str
    headings: tuple[str, ...]
    cited: tuple[Citation, ...]

    @property
    def files(self) -> str:
        """The files' names."""
        return ", ".join(dict.fromkeys(one.path.name for one in self.cited))

    def _heading(self, at: int) -> str:
        return self.headings[min(self.text[:at].count("|"), len(self.headings)) - 1] if self.headings else ""

    def _names(self, at: int) -> dict[str, float]:
        """The words that a figure stands among, each with its weight; in a table those of its row and its column."""
        if self.headings:
            return dict.fromkeys(results.words(f"{self.text} {self._heading(at)}"), 1.0)
        near = self.text[max(at - results.CLOSE, 0) : at + results.CLOSE]
        return dict.fromkeys(results.words(self.text), results.FAR) | dict.fromkeys(results.words(near), 1.0)

    def _is_named(self, figure: Figure) -> bool:
        """Return whether a row that a citation's title names has a figure, in the column that is named behind ": "."""
        named = ((one.path, *row.partition(": ")[::2]) for one in self.cited for row in one.rows)
        return any(
            line.is_named(row) and line.has(figure, column)
            for path, row, column in named
            for line in results.lines_of(path)
        )

    def _is_near(self, figure: Figure, at: int) -> bool:
        """Return whether a figure is in the nearest lines of the files of which no rows are named, or ends a column."""
        known = results.lines_in(tuple(one.path for one in self.cited if not one.rows))
        weighed = [
            (other, 1.0 if self.headings or abs(place - at) < results.CLOSE else results.FAR)
            for place, other in placed(self.text)
            if place != at
        ]
        near = known.nearest(self._names(at), weighed)
        is_extreme = results.speaks_of_extremes(self.text) and known.is_extreme(figure)
        return is_extreme or any(line.has(figure, self._heading(at)) for line in near)

    def missing(self) -> list[str]:
        """Return what it says that no line says: single figures, and intervals whose three numbers share no line."""
        found = [
            f"{figure.text} {figure.unit}".rstrip()
            for at, figure in placed(self.text)
            if not figure.counts and not self._is_named(figure) and not self._is_near(figure, at)
        ]
        every = [line for one in self.cited for line in results.lines_of(one.path)]
        return found + [
            "{} [{}, {}]".format(*(part.text for part in triple))
            for triple in triples(self.text)
            if not any(line.has_in_order(triple) for line in every)
        ]


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in their order, of fenced code the comments alone."""
    text = _FENCED.sub(lambda hit: "\n".join(_COMMENT.findall(hit[0])), page.read_text(encoding="utf-8"))
    heading = ""
    for part in re.split(r"\n\s*\n", text):
        head, _, rest = part.partition("\n") if part.startswith("#") else ("", "", part)
        heading = head.lstrip("# ") or heading
        if rest.strip():
            yield Block(page, heading, rest)


def _masked(hit: re.Match[str]) -> str:
    """What is not read, as long as it was: a link's end keeps its bracket, and nothing else touches its neighbours."""
    return f"{'] ' if hit[0].startswith(']') else ' #'}{' ' * len(hit[0])}"[: len(hit[0])]


def placed(text: str) -> list[tuple[int, Figure]]:
    """Return every number of a text that is not part of a name, a version, a date, a shape or code, and where it is."""
    for pattern in _UNREAD:
        text = re.sub(pattern, _masked, text, flags=re.DOTALL)
    return [(hit.start(1), Figure(hit[1], hit[3] or "")) for hit in _FIGURE.finditer(text)]


def figures(text: str) -> list[Figure]:
    """Return every number of a text that is not part of a name, a version, a date, a shape or code."""
    return [figure for _, figure in placed(text)]


def triples(text: str) -> list[tuple[Figure, ...]]:
    """Return every ratio of a text with the ends of its interval."""
    return [tuple(Figure(part, "") for part in hit.groups() if part) for hit in _TRIPLE.finditer(text)]


def beside(root: Path, page: Path) -> Iterator[tuple[Block, list[Citation]]]:
    """Yield each block of a page with what it cites, or its neighbours where it may lean on them."""
    every = list(blocks(page))
    for index, block in enumerate(every):
        near = every[max(index - 1, 0) : index + 2] if block.leans_on_its_neighbours else []
        cited = [one for other in near if other.heading == block.heading for one in other.cited(root)]
        yield block, block.cited(root) or cited


def statements(root: Path, block: Block, cited: list[Citation]) -> Iterator[Statement]:
    """Yield a block's statements, each with its own citations, or the next one's and the last one's before."""
    parts = list(block.parts())
    own = [block.cited(root, text) for text, _ in parts]
    for index, (text, headings) in enumerate(parts):
        near = next(filter(None, own[index + 1 :]), []) + next(filter(None, own[:index][::-1]), [])
        # What a title names are the rows of its own statement.
        leant = [Citation(one.path, ()) for one in near or cited]
        yield Statement(_TARGET.sub("]", text), headings, tuple(dict.fromkeys(own[index] or leant)))


def spared(block: Block, allowed: list[dict[str, str]], root: Path) -> Block:
    """Return a block without what is listed for it; empty where its whole section is."""
    text = block.text
    for one in allowed:
        if root / one["page"] != block.page or one.get("section", block.heading) != block.heading:
            continue
        listed = r"\s+".join(re.escape(word) for word in one.get("text", "").split())
        text = re.sub(listed, " # ", text) if listed else ""
    return replace(block, text=text)


def bare(text: str) -> list[str]:
    """Return what wants a citation: figures with a unit, as "8e-6", decimals in a table, and "ratio [low, high]"."""
    in_table = text.lstrip().startswith("|")
    told = figures(text)
    wanted = [one for one in told if one.has_unit or "e" in one.text or (in_table and "." in one.text)]
    found = [f"{figure.text} {figure.unit}".rstrip() for figure in wanted]
    return found + ["{} [{}, {}]".format(*(part.text for part in triple)) for triple in triples(text)]


def problems(root: Path, page: Path, allowed: list[dict[str, str]]) -> list[str]:
    """Return every figure of a page that its cited files do not hold, and every one that cites none."""
    found = []
    for block, cited in beside(root, page):
        left = spared(block, allowed, root)
        where = f"{page.relative_to(root)}, {block.heading!r}"
        for told in statements(root, left, cited) if cited else ():
            begun = json.dumps(re.sub(r"\s+", " ", told.text).strip()[:60])
            found += [f"{where}, {begun}: {figure} is not in {told.files}" for figure in told.missing()]
        if not cited:
            begun = json.dumps(block.text.strip()[:60])
            found += [f"{where}, {begun}: {figure} cites no file" for figure in bare(left.text)]
    return found
