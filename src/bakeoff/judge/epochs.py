"""Whole epochs, or so many steps, as published comparisons run them: process by process, without a verdict."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

from bakeoff.measure.contention import FOREIGN_LIMIT
from bakeoff.spec.metric import Metric
from bakeoff.spec.record import NS
from bakeoff.store.results import finished

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.spec.comparison import Comparison
    from bakeoff.spec.record import EpochRun, Record


class WholeRun(msgspec.Struct, frozen=True, kw_only=True):
    """One whole run: one process, from its first step to its last."""

    total_s: float
    """Time of all steps; the first one traces and compiles programs."""
    without_first_s: float
    """Time of all steps but the first."""
    epochs_s: list[float]
    """Time of each epoch; the first epoch includes the first step."""
    loss: float | None
    """Loss of the last step."""
    accuracy: float | None
    """Accuracy on held-out data after the last step, 0 to 1."""
    training_accuracy: float | None = None
    """The same on the batches that were trained on, where nothing is held out."""
    metric: float | None = None
    """The workload's own metric after the last step, where it has one; None, too, where it is not finite."""
    compilations: list[int | None] = []
    """Programs compiled in each epoch, by what the framework tells; the first epoch includes the first step. None is
    unknown."""
    flagged_epochs: int
    """Number of epochs that other processes disturbed."""


class WholeRuns(msgspec.Struct, frozen=True, kw_only=True):
    """A contender's whole runs, each in a process of its own."""

    steps: int
    """Steps of one run."""
    test_samples: int
    """Number of held-out samples behind the accuracy; 0: none."""
    metric: Metric | None = None
    """What the workload's own metric is; None where it has none, and of records from before there were any."""
    runs: list[WholeRun]
    failures: list[str] = []
    """Why processes did not finish."""

    def totals_s(self, *, first: bool = True) -> list[float]:
        """Return the total of each run, with or without its first step."""
        return [run.total_s if first else run.without_first_s for run in self.runs]

    @property
    def median_metric(self) -> float | None:
        """Return the median over runs of the workload's own metric; None where it is not known."""
        return middle([run.metric for run in self.runs if run.metric is not None])


class Length(msgspec.Struct, frozen=True, kw_only=True):
    """The length of a whole run."""

    epochs: int
    epoch_steps: int

    @property
    def steps(self) -> int:
        """Return the steps of a run."""
        return self.epochs * self.epoch_steps


def length_of(comparison: Comparison) -> Length | None:
    """Return the length of the whole runs of a comparison; None where none were asked for."""
    procedure = comparison.procedure
    if procedure.epochs is None and procedure.steps is None:
        return None
    return Length(epochs=procedure.epochs or 1, epoch_steps=procedure.steps or comparison.data.epoch_batches)


def new_shapes(comparison: Comparison) -> list[int]:
    """Return how many shapes of batches come in each epoch of a whole run that came in none before it.

    A compiler of whole programs compiles for each of them, and what tries algorithms of convolutions (cuDNN, XLA) tries
    them for each. One epoch after another takes the same batches, step i batch i. No list without whole epochs, nor
    where a contender has several devices, which takes several batches in a step.
    """
    length, data = length_of(comparison), comparison.data
    if length is None or comparison.procedure.epochs is None or any(one.devices > 1 for one in comparison.contenders):
        return []
    per_batch = [repr(kept) for kept in zip(*data.entries.values(), strict=True)] or [""]
    seen: set[str] = set()
    counts = []
    for epoch in range(length.epochs):
        steps = range(epoch * length.epoch_steps, (epoch + 1) * length.epoch_steps)
        # A pass over the batches has seen them all, however long an epoch is.
        shapes = {per_batch[step % len(per_batch)] for step in steps[: len(per_batch)]}
        counts.append(len(shapes - seen))
        seen |= shapes
    return counts


def whole_runs(records: Iterable[Record]) -> WholeRuns | None:
    """Return one contender's whole runs; None where none was made."""
    mine = sorted((r for r in records if r.trial.purpose == "epochs"), key=lambda r: r.trial.round_number)
    done = finished(mine)
    if not mine:
        return None
    known = [record.epochs for record in done if record.epochs]
    return WholeRuns(
        steps=1 + sum(known[0].steps) if known else 0,
        test_samples=known[0].test_samples if known else 0,
        metric=_metric(known),
        runs=[_run(record) for record in done],
        failures=[record.reason for record in mine if record.outcome != "done"],
    )


def _metric(known: Sequence[EpochRun]) -> Metric | None:
    """Return what the metric of these runs is."""
    told = next((one.metric for one in known if one.metric is not None), None)
    return None if told is None else Metric(name=told.name, unit=told.unit, less_is_better=told.less_is_better)


def _run(record: Record) -> WholeRun:
    """Return one run, from its record."""
    found = record.epochs
    assert found is not None
    first_s = (record.first_step_ns or 0) * NS
    epochs_s = [ns * NS for ns in found.epochs_ns]
    shares = [share for share in found.foreign_shares if share is not None]
    return WholeRun(
        total_s=first_s + sum(epochs_s),
        without_first_s=sum(epochs_s),
        epochs_s=[first_s + epochs_s[0], *epochs_s[1:]],
        loss=found.loss,
        accuracy=found.accuracy,
        training_accuracy=found.training_accuracy,
        metric=found.metric.value if found.metric else None,
        compilations=_compilations(record),
        flagged_epochs=sum(share > FOREIGN_LIMIT for share in shares),
    )


def _compilations(record: Record) -> list[int | None]:
    """Return what was compiled in each epoch; the first step is the first epoch's, too."""
    found = record.epochs
    if found is None or not found.compilations:
        return []
    first, *others = found.compilations
    in_step = record.compilation.count if record.compilation else None
    return [None if first is None or in_step is None else first + in_step, *others]


def epoch_times(whole: WholeRuns | None, epoch: int) -> list[float]:
    """Return the seconds of an epoch, counted from 1, in each run that has it."""
    return [run.epochs_s[epoch - 1] for run in (whole.runs if whole else []) if len(run.epochs_s) >= epoch]


def epoch_compiled(whole: WholeRuns | None, epoch: int) -> int | None:
    """Return the most programs that a run compiled in an epoch, counted from 1; None where it is not known."""
    runs = whole.runs if whole else []
    return max((one for run in runs for one in run.compilations[epoch - 1 : epoch] if one is not None), default=None)


def accuracies(whole: WholeRuns | None) -> tuple[float | None, float | None]:
    """Return the median accuracy after whole runs, on held-out data and on what was trained on; None is not known."""
    runs = whole.runs if whole else []
    held_out = middle([run.accuracy for run in runs if run.accuracy is not None])
    return held_out, middle([run.training_accuracy for run in runs if run.training_accuracy is not None])


def middle(values: Sequence[float]) -> float | None:
    """Return the median; None where there are no values."""
    return statistics.median(values) if values else None
