"""Parts of somebody's own Markdown file that are written from records: between two markers, and nowhere else.

<!-- bakeoff:NAME -->
<!-- /bakeoff -->
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKERS = "<!-- bakeoff:NAME --> and below it <!-- /bakeoff -->, each alone on a line"

_BEGIN = re.compile(r" {0,3}<!--\s*bakeoff:\s*(?P<name>[\w.+=-]+)\s*-->\s*")
_END = re.compile(r" {0,3}<!--\s*/bakeoff\s*-->\s*")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)", re.DOTALL)
"""CommonMark 0.31, 4.5: three or more backticks or tildes; behind backticks no other backtick."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class MarkedPart(NamedTuple):
    """A part between two markers."""

    name: str
    """Of a workload, a comparison or a study."""
    begin: int
    """Index of the line with the first marker."""
    end: int
    """Index of the line with the second one."""
    newline: str
    """How the first marker's line ends."""


def parts_of(text: str, where: str) -> list[MarkedPart]:
    """Return every part, in order; raise UsageError where markers do not pair, or where there is none.

    A marker stands alone on its line; in a fenced block of code it is an example. `where` names the file in messages.
    """
    found: list[MarkedPart] = []
    opened: MarkedPart | None = None
    fence = ""
    for index, line in enumerate(_LINE.findall(text)):
        begin, end = _BEGIN.fullmatch(line.removeprefix("\ufeff")), _END.fullmatch(line)
        if opened is None:
            fence = _fence(fence, line)
        if fence or not (begin or end):
            continue
        if (opened is None) != (begin is not None):
            raise UsageError(_unpaired(where, index, opened))
        if begin is not None:
            opened = MarkedPart(begin["name"], index, index, "\r\n" if line.endswith("\r\n") else "\n")
        elif opened is not None:
            found.append(opened._replace(end=index))
            opened = None
    if opened is not None:
        raise UsageError(_unpaired(where, None, opened))
    if not found:
        msg = f"{where} has no part for bakeoff to write: put in {MARKERS}; NAME is a workload or a comparison"
        raise UsageError(msg)
    return found


def rewritten(text: str, parts: Sequence[MarkedPart], contents: Sequence[str]) -> str:
    """Return a text with what stands between its markers replaced; every other line is the same bytes.

    Contents end their lines by LF, and have their part's line ends afterwards.
    """
    lines = _LINE.findall(text)
    said: list[str] = []
    last = 0
    for part, content in zip(parts, contents, strict=True):
        if any(_BEGIN.fullmatch(line) or _END.fullmatch(line) for line in content.split("\n")):
            msg = f"what is said of {part.name} holds a line that is a marker, so it cannot stand between markers"
            raise UsageError(msg)
        said += [*lines[last : part.begin + 1], content.replace("\n", part.newline)]
        last = part.end
    return "".join([*said, *lines[last:]])


def _fence(fence: str, line: str) -> str:
    """Return the fence of the block of code that a line is in, or that it opens; empty outside."""
    mark = _FENCE.fullmatch(line.rstrip("\r\n"))
    if mark is None:
        return fence
    if not fence:
        return mark["mark"]
    is_closed = mark["mark"].startswith(fence) and not mark["info"].strip()
    return "" if is_closed else fence


def _unpaired(where: str, index: int | None, opened: MarkedPart | None) -> str:
    """Return what is wrong with a marker; `index` is that of its line, None at the file's end."""
    if opened is None:
        assert index is not None
        lost = f"{where}, line {index + 1}: <!-- /bakeoff --> without <!-- bakeoff:NAME --> above it"
        return f"{lost}: put that in, or take this out"
    begun = f"the part <!-- bakeoff:{opened.name} --> of line {opened.begin + 1}"
    if index is None:
        return f"{where}: {begun} has no end: put in <!-- /bakeoff --> alone on a line where it is to end"
    return f"{where}, line {index + 1}: {begun} has no end before the next one: put in <!-- /bakeoff --> between them"
