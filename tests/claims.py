"""Reads the figures of a Markdown page and holds them to the files that its text cites.

The convention: a **block** is a run of lines without an empty one (a paragraph, a list, a table). What it says was
measured cites its file by a link to benchmarks/results or docs/records, in the block itself; a table or a list may have
it in the block before or behind. Every figure of such a block is in one of the cited files, rounded as it is printed. A
figure with a unit, or one such as 8e-6, in a block without a citation is a setting, a limit or a document's: then it is
listed, with its reason, in figures_without_a_record.toml.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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

_IN_RESULTS = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][+-]?\d+)?")

_UNITS = frozenset(
    (
        *("%", "percent", "times", "x", "s", "ms", "µs", "ns"),
        *("second", "seconds", "minute", "minutes", "hour", "hours", "days"),
        *("kB", "MB", "GB", "KiB", "MiB", "GiB", "MB/s", "GB/s", "Gflop/s", "GMAC/s", "MHz", "GHz", "J", "W"),
    )
)
"""A number before one of these is a figure wherever it stands."""

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

_SCALES = {"%": 100.0, "ms": 1000.0, "s": 0.001}
"""By what a file's number may be multiplied to be in this unit: shares, seconds, milliseconds."""

_SMALL = 10
"""A number below it, alone and without a unit, counts something or numbers it: "3 rounds", "two of 9"."""


@dataclass(frozen=True)
class Block:
    """A run of lines of a page."""

    page: Path
    heading: str
    text: str

    @property
    def leans_on_its_neighbours(self) -> bool:
        """Whether it is a table or a list, whose citation may stand before or behind it."""
        return self.text.lstrip().startswith(("|", "- ", "1. "))

    def cited(self, root: Path) -> list[Path]:
        """Return the files of results and records that it links to."""
        targets = (self.page.parent / link for link in re.findall(r"\]\(([^)\s#]+)[^)]*\)", self.text))
        inside = (target.resolve() for target in targets)
        folders = (*(root / "benchmarks" / "results", root / "docs" / "records"), root / "docs" / "results.md")
        return [path for path in inside if any(path.is_relative_to(folder) for folder in folders)]


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
        """Return whether this is `exact` as it is printed here; also in another unit: a percentage of a share."""
        digits = self.text.replace(",", "").lstrip("+-")
        if "e" in digits:
            mantissa, _, power = digits.partition("e")
            unit = 10.0 ** (int(power) - len(mantissa.partition(".")[2]))
        else:
            unit = 10.0 ** -len(digits.partition(".")[2])
        # Halves are rounded either way, and binary fractions hit them only nearly.
        room = 0.5 * unit * (1 + 1e-9)
        scales = (1.0, _SCALES.get(self.unit, 1.0))
        return any(abs(abs(self.value) - abs(exact) * scale) <= room for scale in scales)


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in their order, of fenced code the comments alone."""
    text = _FENCED.sub(lambda hit: "\n".join(_COMMENT.findall(hit[0])), page.read_text(encoding="utf-8"))
    heading = ""
    for part in re.split(r"\n\s*\n", text):
        head, _, rest = part.partition("\n") if part.startswith("#") else ("", "", part)
        heading = head.lstrip("# ") or heading
        if rest.strip():
            yield Block(page, heading, rest)


def figures(text: str) -> list[Figure]:
    """Return every number of a text that is not part of a name, a version, a date, a shape or code."""
    for pattern in _UNREAD:
        text = re.sub(pattern, lambda hit: "]" if hit[0].startswith("]") else " # ", text, flags=re.DOTALL)
    return [Figure(hit[1], hit[3] or "") for hit in _FIGURE.finditer(text)]


def triples(text: str) -> list[tuple[Figure, ...]]:
    """Return every ratio of a text with the ends of its interval."""
    return [tuple(Figure(part, "") for part in hit.groups() if part) for hit in _TRIPLE.finditer(text)]


def numbers(text: str) -> list[float]:
    """Return every number of a file of results."""
    return [float(hit.replace(",", "")) for hit in _IN_RESULTS.findall(text)]


def lines_of(files: Iterable[Path]) -> list[list[float]]:
    """Return the numbers of each line of some files; of a folder, those of its report."""
    found = []
    for path in files:
        text = path / "report.md" if path.is_dir() else path
        lines = text.read_text(encoding="utf-8").splitlines() if text.is_file() else []
        found += [numbers(line) for line in lines]
    return found


def missing(text: str, lines: list[list[float]]) -> list[str]:
    """Return what a text says that no line says: single figures, and intervals whose three numbers share no line."""
    known = [number for line in lines for number in line]
    wanted = [figure for figure in figures(text) if not figure.counts]
    found = [
        f"{figure.text} {figure.unit}".rstrip()
        for figure in wanted
        if not any(figure.is_rounded(number) for number in known)
    ]
    return found + [
        "{} [{}, {}]".format(*(part.text for part in triple))
        for triple in triples(text)
        if not any(all(any(part.is_rounded(number) for number in line) for part in triple) for line in lines)
    ]


def claims(root: Path, page: Path) -> Iterator[tuple[Block, list[Path]]]:
    """Yield each block of a page with the files that it is held to, its neighbours' where it may lean on them."""
    every = list(blocks(page))
    for index, block in enumerate(every):
        beside = [block, *(every[max(index - 1, 0) : index + 2] if block.leans_on_its_neighbours else [])]
        cited = [path for one in beside if one.heading == block.heading for path in one.cited(root)]
        yield block, list(dict.fromkeys(block.cited(root) or cited))


def spared(block: Block, allowed: list[dict[str, str]], root: Path) -> str:
    """Return a block's text without what is listed for it; empty where its whole section is."""
    text = re.sub(r"\s+", " ", block.text)
    for one in allowed:
        if root / one["page"] != block.page or one.get("section", block.heading) != block.heading:
            continue
        text = text.replace(one["text"], " # ") if "text" in one else ""
    return text


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
    for block, cited in claims(root, page):
        text = spared(block, allowed, root)
        where = f"{page.relative_to(root)}, {block.heading!r}, {json.dumps(block.text.strip()[:60])}"
        if cited:
            names = ", ".join(path.name for path in cited)
            found += [f"{where}: {figure} is not in {names}" for figure in missing(text, lines_of(cited))]
        else:
            found += [f"{where}: {figure} cites no file" for figure in bare(text)]
    return found
