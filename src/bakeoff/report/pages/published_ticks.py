"""A document's table of ticks and crosses in its own shape, with what ran here beside each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.judge.reproduced_ticks import tick_lines
from bakeoff.report.page import Line, Section, Table

if TYPE_CHECKING:
    from bakeoff.judge.reproduced_ticks import TickLine
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.published import PublishedStudy

_KEYS = 2
"""Columns that name a line: the model, and the part of it."""

_SAID = (
    "Yes here: a contender that asked for it was certified and timed, and what computed the part in its run, read back "
    "from the framework, is it. Where something else computed it, that is named."
)


def ticks_sections(study: StudyOutcome, published: PublishedStudy) -> list[Section]:
    """Return the document's table with ours beside each place; nothing where it has no such table."""
    lines = tick_lines(study, published)
    if published.ticks is None or not lines:
        return []
    shown = {declared.name: declared.shown or declared.name for declared in published.comparisons}
    names = [column.name for column in published.ticks.columns]
    heads = ["model", "part", *(head for name in names for head in (f"{name} there", f"{name} here"))]
    told = []
    for comparison, part in dict.fromkeys((one.comparison, one.part) for one in lines):
        cells = [shown[comparison], part]
        for name in names:
            place = [one for one in lines if (one.comparison, one.part, one.column) == (comparison, part, name)]
            cells += ["yes" if place[0].published else "no", _here(place)]
        told.append(Line(cells))
    number = published.ticks.number
    title = f"{number[0].upper()}{number[1:]} of {published.document.name}, beside what ran here"
    table = Table(heads, told, words=_KEYS, last_words=len(heads) - _KEYS, keys=_KEYS)
    return [Section(title=title, words=[_SAID], tables=[table])]


def _here(place: list[TickLine]) -> str:
    """Return what became of a place: of all its rows in a word where they agree, else of each."""
    said = {one.who: _said(one) for one in place}
    words = set(said.values())
    return words.pop() if len(words) == 1 else "; ".join(f"{who} {word}" for who, word in said.items())


def _said(one: TickLine) -> str:
    """Return what became of a place for one row."""
    if one.here is None:
        return "not measured"
    return "yes" if one.here else f"no, by {one.by}"


def ticks_data(study: StudyOutcome, published: PublishedStudy) -> list[dict[str, Any]]:
    """Return every place for programs."""
    return [
        {
            "comparison": one.comparison,
            "part": one.part or None,
            "column": one.column,
            "row": one.row,
            "published": one.published,
            "here": one.here,
            "by": one.by or None,
            "hole": one.hole or None,
        }
        for one in tick_lines(study, published)
    ]
