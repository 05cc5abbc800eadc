"""Runs of whole epochs: each process by itself, and between which times they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.judge.epochs import WholeRuns, length_of, middle, new_shapes
from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.standings import ranked
from bakeoff.report.units import UNKNOWN, listed, rounded, unit_for
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.report.units import Unit
    from bakeoff.spec.metric import Metric

_DIGITS = 3
"""Of a total: processes differ in the second or third."""

_TOLD_APART = 2
"""Epochs of which it is told whether something in them is new; of later ones where something is."""

_TRIED = "profiling"
"""The value of the setting conv_algorithm of what tries algorithms."""


def whole_lines(outcome: Outcome) -> list[str]:
    """Return what the table is, and what a reader must know of it; nothing where no epochs were asked for."""
    length = length_of(outcome.comparison)
    if length is None:
        return []
    runs = count(length.steps, "step")
    if outcome.comparison.procedure.epochs is not None:
        runs = f"{count(length.epochs, 'epoch')} of {count(length.epoch_steps, 'step')}"
    what = (
        f"{runs}, run as a whole in fresh processes one after another, waited for at the end of each epoch; the total "
        f"time with the first step, which traces and compiles, and without it. {_order(outcome)} "
        "No verdict rests on these totals."
    )
    said = [what, *_of_shapes(outcome), *_of_metric(outcome)]
    for one in outcome.contenders:
        said += [f"{one.label}: a run did not come to its end: {reason}." for reason in _of(one).failures]
        flagged = sum(run.flagged_epochs for run in _of(one).runs)
        epochs = length.epochs * len(_of(one).runs)
        said += [f"{one.label}: other processes disturbed {flagged} of {count(epochs, 'epoch')}."] if flagged else []
    return said


def _of_metric(outcome: Outcome) -> list[str]:
    """Return what the workload's own metric is; nothing where no run has one."""
    metric = _metric(outcome)
    if metric is None:
        return []
    better = "less" if metric.less_is_better else "more"
    told = f"The {metric.name} is the workload's own metric ({better} is better) of the parameters after the last step"
    return [f"{told}, by the same code of NumPy for every contender, outside of the time."]


def _of_shapes(outcome: Outcome) -> list[str]:
    """Return what is new to compilers in each epoch, and how often contenders try algorithms of convolutions."""
    shapes = new_shapes(outcome.comparison)
    if not shapes:
        return []
    told = {place: number for place, number in enumerate(shapes, 1) if number or place <= _TOLD_APART}
    by_epoch = listed(f"{number:,} in epoch {place}" for place, number in told.items())
    said = []
    if outcome.comparison.data.entries:
        said.append(f"Shapes of batches that are new to what compiles by shape: {by_epoch}.")
    work = outcome.comparison.work
    has_choice = work is None or work.least_macs != work.macs  # as `settings` tells it: some algorithm saves products
    trying = [one.label for one in outcome.contenders if one.settings.get("conv_algorithm") == _TRIED]
    if trying and has_choice:
        said.append(
            f"{listed(trying)} {'tries' if len(trying) == 1 else 'try'} the algorithms of each pass of a convolution "
            f"once for each new shape of its input (conv_algorithm=profiling): {by_epoch}, by that rule; "
            "frameworks tell no searches."
        )
    return said


def _metric(outcome: Outcome) -> Metric | None:
    """Return the workload's own metric, as the runs tell it."""
    return next((_of(one).metric for one in outcome.contenders if _of(one).metric is not None), None)


def _order(outcome: Outcome) -> str:
    """Return which batches were taken in which order."""
    own = [
        plan.contender.label
        for plan in outcome.comparison.contenders
        if plan.contender.options.get("input") == "pipeline"
    ]
    if not own:
        return "Every contender takes the same batches in the same order."
    return f"Batches come in the same order for all but {listed(own)}, whose own loader shuffles the same samples."


def whole_table(outcome: Outcome) -> Table:
    """Return one line for each contender that has such runs, its single runs in the last column."""
    contenders = [one for one in ranked(outcome) if _of(one).runs and whole_lines(outcome)]
    unit = unit_for([total_s for one in contenders for total_s in _of(one).totals_s(first=False)])
    metric = _metric(outcome)
    heads = ["contender", "total", "min to max", "without first step", "loss", "accuracy"]
    heads += [*([metric.title] if metric else []), "each run"]
    lines = [Line([one.label, *_cells(_of(one), unit, has_metric=metric is not None)]) for one in contenders]
    return Table(heads, lines, right=tuple(range(1, len(heads))), prose=len(heads) - 1)


def epochs_table(outcome: Outcome) -> Table:
    """Return the first epoch and the second one apart, with what was compiled in each; no line where there is one."""
    length = length_of(outcome.comparison)
    several = length is not None and length.epochs > 1
    contenders = [one for one in ranked(outcome) if _of(one).runs] if several else []
    unit = unit_for([run.epochs_s[0] for one in contenders for run in _of(one).runs])
    heads = ["contender", "first epoch", "second epoch", "first compiled", "second compiled"]
    lines = [Line([one.label, *_apart(_of(one), unit)]) for one in contenders]
    return Table(heads, lines, right=tuple(range(1, len(heads))))


def _apart(whole: WholeRuns, unit: Unit) -> list[str]:
    """Return the first two epochs of one contender: medians over its runs, and the most programs compiled in a run."""
    times = [f"{_time(middle([run.epochs_s[epoch] for run in whole.runs]), unit)} {unit.name}" for epoch in (0, 1)]
    told = [[run.compilations[epoch : epoch + 1] for run in whole.runs] for epoch in (0, 1)]
    counts = [[number for one in runs for number in one if number is not None] for runs in told]
    return [*times, *(f"{max(numbers):,}" if numbers else UNKNOWN for numbers in counts)]


def _cells(whole: WholeRuns, unit: Unit, *, has_metric: bool) -> list[str]:
    """Return the figures of one contender: medians, and what they are the medians of."""
    totals_s = whole.totals_s()
    total, least, most = (_time(value, unit) for value in (middle(totals_s), min(totals_s), max(totals_s)))
    without = _time(middle(whole.totals_s(first=False)), unit)
    loss = middle([run.loss for run in whole.runs if run.loss is not None])
    accuracy = middle([run.accuracy for run in whole.runs if run.accuracy is not None])
    learned = ["" if loss is None else rounded(loss, _DIGITS), "" if accuracy is None else f"{accuracy:.3f}"]
    if has_metric:
        learned.append("" if whole.median_metric is None else rounded(whole.median_metric, _DIGITS))
    runs = ", ".join(_time(total_s, unit) for total_s in totals_s)
    return [f"{total} {unit.name}", f"{least} to {most}", f"{without} {unit.name}", *learned, f"{runs} {unit.name}"]


def _time(seconds: float | None, unit: Unit) -> str:
    """Return a time without its unit."""
    return UNKNOWN if seconds is None else rounded(seconds * unit.per_base, _DIGITS)


def _of(contender: ContenderOutcome) -> WholeRuns:
    """Return a contender's runs; an empty struct where it has none."""
    return contender.whole or WholeRuns(steps=0, test_samples=0, runs=[])


def _sections(outcome: Outcome) -> list[Section]:
    """Return the runs, where they were asked for."""
    said = whole_lines(outcome)
    tables = [table for table in (whole_table(outcome), epochs_table(outcome)) if table.lines]
    return [Section(title="As a whole", words=said, tables=tables)] if said else []


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return a contender's runs, with what they amount to."""
    if contender.whole is None:
        return {"whole": None}
    totals_s, without_s = contender.whole.totals_s(), contender.whole.totals_s(first=False)
    runs: dict[str, Any] = msgspec.to_builtins(contender.whole)
    amount = {
        "total_s": middle(totals_s),
        "total_range_s": [min(totals_s), max(totals_s)] if totals_s else None,
        "without_first_s": middle(without_s),
        "metric": runs["metric"] and runs["metric"] | {"median": contender.whole.median_metric},
    }
    return {"whole": runs | amount}


WHOLE = Subject(sections=_sections, fields=_fields)
