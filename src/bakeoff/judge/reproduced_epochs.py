"""Epochs that a document tells apart: the published time of the first and of the second beside those of whole runs."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, get_args

import msgspec

from bakeoff.judge.epochs import epoch_compiled, epoch_times, length_of
from bakeoff.judge.reproduction import both, contender_of, hole, machine_of
from bakeoff.spec.published import Epoch

if TYPE_CHECKING:
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.spec.published import Declared, Figure, PublishedStudy


class EpochLine(msgspec.Struct, frozen=True, kw_only=True):
    """One epoch of one row: as published, and as whole runs took it here."""

    comparison: str
    row: str
    epoch: Epoch
    machine: str
    """Of the figure; empty where there is none."""
    published_s: float | None
    """Median of the published repeats; None: the document gives no number."""
    published_steps: int
    steps: int
    """Of an epoch here; 0 where nothing was run."""
    epochs_s: list[float]
    """The epoch's time in each run here; the first holds the first step, which traces and compiles."""
    compiled: int | None
    """Programs compiled in it, the most of any run, by what the framework tells."""
    hole: str
    """Why nothing was measured; empty where something was."""

    @property
    def epoch_s(self) -> float | None:
        """Return the median over the runs here."""
        return median(self.epochs_s) if self.epochs_s else None


def epoch_lines(study: StudyOutcome, published: PublishedStudy) -> list[EpochLine]:
    """Return both epochs of every row, in each comparison whose figures tell them apart."""
    return [
        _line(published, declared, row.name, epoch, point)
        for declared, point in both(study, published)
        if declared.epochs_apart
        for row in published.rows_of(declared)
        for epoch in get_args(Epoch)
    ]


def figure_of(declared: Declared, row: str, epoch: Epoch) -> Figure | None:
    """Return the document's figure for an epoch of a row: its own, or the one that it gives for both."""
    return next((one for one in declared.figures if one.row == row and one.epoch in (None, epoch)), None)


def _line(published: PublishedStudy, declared: Declared, row: str, epoch: Epoch, point: PointOutcome) -> EpochLine:
    """Return one epoch of one row."""
    figure = figure_of(declared, row, epoch)
    known = contender_of(point, row)
    whole = known.whole if known else None
    times = epoch_times(whole, epoch)
    length = length_of(point.outcome.comparison) if point.outcome and times else None
    no_run = "no whole run came to its end" if not times else ""
    return EpochLine(
        comparison=declared.name,
        row=row,
        epoch=epoch,
        machine=machine_of(published, figure) if figure else "",
        published_s=median(figure.values) if figure else None,
        published_steps=declared.run_steps() or 0,
        steps=length.epoch_steps if length else 0,
        epochs_s=times,
        compiled=epoch_compiled(whole, epoch),
        hole=hole(point, row) or no_run,
    )
