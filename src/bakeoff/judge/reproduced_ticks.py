"""What a document says that models can use, beside what computed them here, as contenders' settings were read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from bakeoff.judge.reproduction import both, contender_of, hole

if TYPE_CHECKING:
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.spec.published import Claim, PublishedStudy
    from bakeoff.spec.ticks import TickColumn, Ticks

NOT_READ_BACK = "its settings do not say what computed it"


class TickLine(msgspec.Struct, frozen=True, kw_only=True):
    """One place of the table, for one of the rows that ask for its column."""

    comparison: str
    part: str
    """Of the model; empty: all of it."""
    column: str
    who: str
    """Short for the row, among those of its column."""
    row: str
    published: bool
    """Whether the document has a tick there."""
    here: bool | None
    """Whether the column's own computed the part here; None where that is not known."""
    by: str
    """What computed it, as it was read back; empty where that is not known."""
    hole: str
    """Why it is not known; empty where it is."""


class TicksTold(NamedTuple):
    """What became of a claim that a table of ticks is."""

    standing: Literal["holds", "does not hold", "not measured"]
    reason: str
    """How many places are the document's, or why that is not known."""


def tick_lines(study: StudyOutcome, published: PublishedStudy) -> list[TickLine]:
    """Return every place of the document's table that was asked for here, for every row of its column."""
    columns = published.ticks.columns if published.ticks else ()
    return [
        _line(point, ticks, column, who)
        for declared, point in both(study, published)
        for ticks in declared.ticks
        for column in columns
        for who in column.rows
    ]


def _line(point: PointOutcome, ticks: Ticks, column: TickColumn, who: str) -> TickLine:
    """Return one place for one row: a contender that is not ranked has shown nothing."""
    row = column.rows[who]
    known = contender_of(point, row)
    by = known.settings.get(ticks.setting) if known else None
    return TickLine(
        comparison=point.point.title,
        part=ticks.part,
        column=column.name,
        who=who,
        row=row,
        published=column.name in ticks.can,
        here=None if by is None else by == column.value,
        by="" if by is None else str(by),
        hole="" if by is not None else hole(point, row) or NOT_READ_BACK,
    )


def ticks_told(study: StudyOutcome, published: PublishedStudy, claim: Claim) -> TicksTold:
    """Return what became of a claim: one place that differs refutes it, and it holds where all are known and agree."""
    lines = [one for one in tick_lines(study, published) if one.comparison in claim.comparisons]
    known = [one for one in lines if one.here is not None]
    same = sum(one.here == one.published for one in known)
    told = f"{same} of {len(known)} places are as there"
    if same < len(known):
        return TicksTold("does not hold", told)
    holes = sorted({one.hole for one in lines} - {""})
    return TicksTold("not measured", "; ".join(holes)) if holes else TicksTold("holds", told)
