"""Communication overheads that a document prints, beside those of the same contenders on several devices here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.reproduction import both, hole
from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from bakeoff.judge.scaling import Scaling
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.spec.published import PublishedRow, PublishedStudy


class OverheadLine(msgspec.Struct, frozen=True, kw_only=True):
    """One row on several devices: 1 - (steps a second there) / (steps a second on one), as a share."""

    comparison: str
    row: str
    devices: int
    published: float | None
    """As printed; None: the document gives none."""
    overhead: Interval | None
    """Ours, from rounds in which both ran; None before there is an interval, and where nothing was measured."""
    so_far: float | None
    """Ours by the ratio so far, where there are too few rounds for an interval."""
    samples_per_s: float | None
    """Of all devices together."""
    hole: str
    """Why nothing was measured; empty where something was."""


def overhead_lines(study: StudyOutcome, published: PublishedStudy) -> list[OverheadLine]:
    """Return every row on several devices, in each comparison."""
    found = []
    for declared, point in both(study, published):
        printed = {one.row: one.overhead_percent for one in declared.figures}
        several = [row for row in published.rows_of(declared) if row.devices > 1]
        found += [_line(declared.name, row, printed.get(row.name), point) for row in several]
    return found


def _line(comparison: str, row: PublishedRow, percent: float | None, point: PointOutcome) -> OverheadLine:
    """Return one row in one comparison."""
    known = _scaling(point, row.name)
    return OverheadLine(
        comparison=comparison,
        row=row.name,
        devices=row.devices,
        published=None if percent is None else percent / 100.0,
        overhead=known.overhead if known else None,
        so_far=_so_far(known),
        samples_per_s=known.samples_per_s if known else None,
        hole=hole(point, row.name) or ("" if known else "not raced beside one device"),
    )


def _so_far(known: Scaling | None) -> float | None:
    """Return an overhead by the ratio of step times so far; None where there is an interval, or no ratio."""
    if known is None or known.overhead is not None or known.verdict.ratio is None:
        return None
    return 1.0 - known.verdict.ratio


def _scaling(point: PointOutcome, row: str) -> Scaling | None:
    """Return what is known of a row's contender beside itself on one device."""
    label = point.point.rows.get(row)
    return next((one for one in point.outcome.scalings if one.label == label), None) if point.outcome else None
