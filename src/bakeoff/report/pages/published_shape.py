"""A document's table in the document's own shape: its lines, its columns and its units, published beside measured."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

from bakeoff.judge import reproduction
from bakeoff.judge.epochs import accuracies, epoch_times, length_of
from bakeoff.judge.reproduced_memory import ELSE, held_bytes
from bakeoff.report.page import Line, Table
from bakeoff.report.standings import ratio_text, shown_interval, throughput
from bakeoff.report.units import carried, rounded, size
from bakeoff.spec.published import RELATIVE
from bakeoff.spec.text import count
from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.spec.published import Declared, Epoch, Figure, PublishedStudy, Unit

_DIGITS = 3
"""Of whole runs and epochs: they differ in the second or third."""
_NOTHING = "not measured"
_ORDINALS: dict[Epoch | None, str] = {None: "", 1: ", epoch 1", 2: ", epoch 2"}

Layout = Literal["rows", "comparisons", "machines"]


class _Column(NamedTuple):
    """A column of the document: one of its rows, of an epoch where it tells epochs apart."""

    row: str
    epoch: Epoch | None


def shape_table(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Return the document's table with ours in each of its places; without a line where the document has a figure."""
    both = [one for one in reproduction.both(study, published) if one[0].figures]
    if published.chart or not both:
        return Table([], [])
    layout = _layout(published)
    if layout == "machines":
        return _by_machine(published, both)
    return _by_row(published, both) if layout == "rows" else _by_comparison(published, both)


def _layout(published: PublishedStudy) -> Layout:
    """Return what a line of the document is: as its file says, or else what has fewest columns."""
    if published.layout:
        return published.layout
    if len({one.machine for declared in published.comparisons for one in declared.figures}) > 1:
        return "machines"
    return "rows" if len(published.comparisons) == 1 else "comparisons"


# --- The three layouts --------------------------------------------------------------------------------------------


def _by_comparison(published: PublishedStudy, both: Sequence[tuple[Declared, PointOutcome]]) -> Table:
    """Return a line for each comparison, with the document's rows as columns."""
    found = {(row.name, one.epoch) for row in published.rows for declared, _ in both for one in _of(declared, row.name)}
    order = [row.name for row in published.rows]
    columns = [_Column(*one) for one in sorted(found, key=lambda one: (order.index(one[0]), one[1] or 0))]
    is_told = len({published.unit_of(declared) for declared, _ in both}) > 1
    unit = "" if is_told else f" ({published.unit_of(both[0][0])})"
    heads = [head for one in columns for head in _heads(f"{one.row}{_ORDINALS[one.epoch]}", unit)]
    heads += _heads("difference", " (%)") if published.difference else []
    lines = []
    for declared, point in both:
        cells = [declared.shown or declared.name]
        for row, epoch in columns:
            figure = next((one for one in _of(declared, row) if one.epoch == epoch), None)
            told = f" {published.unit_of(declared)}" if is_told and figure else ""
            cells += [f"{_given(figure)}{told}", _here(published, declared, point, row, epoch)]
        lines.append(Line([*cells, *_difference(published, declared, point)]))
    return Table(["", *heads], lines)


def _by_row(published: PublishedStudy, both: Sequence[tuple[Declared, PointOutcome]]) -> Table:
    """Return a line for each of the document's rows, with its comparisons, accuracy and memory as columns."""
    heads, columns = [""], [[row.name for row in published.rows]]
    for declared, point in both:
        figures = {row.name: next(iter(_of(declared, row.name)), None) for row in published.rows}
        name = "" if len(both) == 1 else declared.shown or declared.name
        heads += _heads(name or "time", f" ({published.unit_of(declared)})")
        columns.append([_given(one) for one in figures.values()])
        columns.append([_here(published, declared, point, row, None) for row in figures])
        for quantity, cells in _others(published, point, figures).items():
            heads += _heads(f"{name} {quantity}".strip(), "")
            columns += [[there for there, _ in cells], [here for _, here in cells]]
    return Table(heads, [Line(list(cells)) for cells in zip(*columns, strict=True)])


def _by_machine(published: PublishedStudy, both: Sequence[tuple[Declared, PointOutcome]]) -> Table:
    """Return a line for each figure, on the document's several machines; ours is the same beside each machine."""
    lines = [
        Line(
            [
                reproduction.machine_of(published, figure),
                figure.row,
                f"{declared.shown or declared.name} ({published.unit_of(declared)})",
                _given(figure),
                _here(published, declared, point, figure.row, figure.epoch),
            ]
        )
        for declared, point in both
        for figure in sorted(declared.figures, key=lambda one: [row.name for row in published.rows].index(one.row))
    ]
    return Table(["machine there", "", " ", "there", "here"], lines, words=3, keys=3)


def _heads(name: str, unit: str) -> list[str]:
    """Return the heads of a document's column and of ours."""
    return [f"{name}{unit} there", f"{name}{unit} here"]


def _of(declared: Declared, row: str) -> list[Figure]:
    """Return the document's figures of a row."""
    return [one for one in declared.figures if one.row == row]


# --- Cells --------------------------------------------------------------------------------------------------------


def _given(figure: Figure | None) -> str:
    """Return a figure as the document has it, every repeat; empty where it has none."""
    return "" if figure is None else figure.printed()


def _here(published: PublishedStudy, declared: Declared, point: PointOutcome, row: str, epoch: Epoch | None) -> str:
    """Return ours in the document's unit, with its interval, or of whole runs their range; empty of no row of it."""
    if not declared.has(row):
        return ""
    known, unit = reproduction.contender_of(point, row), published.unit_of(declared)
    if known is None or point.outcome is None:
        return _NOTHING
    if unit == "s":
        return _runs(published, declared, point, known, epoch)
    if unit == "times":
        return _times(declared, point, row)
    return _speed(known, unit, point.outcome.comparison.batch_size)


def _runs(
    published: PublishedStudy, declared: Declared, point: PointOutcome, known: ContenderOutcome, epoch: Epoch | None
) -> str:
    """Return whole runs, or epochs where the document tells them apart: the median with the range."""
    if declared.epochs_apart:
        wanted: list[Epoch] = [epoch] if epoch else [1, 2]
        found = [epoch_times(known.whole, one) for one in wanted]
    else:
        found = [known.whole.totals_s(first=published.compile_time != "excluded") if known.whole else []]
    told = ", then ".join(_range(one) for one in found if one)
    return f"{told}{_fewer(declared, point)}" if told else _NOTHING


def _fewer(declared: Declared, point: PointOutcome) -> str:
    """Return how many steps it is the time of, where the document has more: " in 20 steps"."""
    length = length_of(point.outcome.comparison) if point.outcome else None
    steps = (length.epoch_steps if declared.epochs_apart else length.steps) if length else None
    return f" in {count(steps, 'step')}" if steps is not None and steps != declared.run_steps() else ""


def _range(values: Sequence[float]) -> str:
    """Return the median of some times with their range."""
    ends = f" ({rounded(min(values), _DIGITS)} to {rounded(max(values), _DIGITS)})" if len(values) > 1 else ""
    return f"{rounded(median(values), _DIGITS)}{ends}"


def _times(declared: Declared, point: PointOutcome, row: str) -> str:
    """Return a step's time over that of the row which is 1 in the document, on the same machine."""
    machine = next((one.machine for one in _of(declared, row)), "")
    base = next((one.row for one in declared.figures if one.machine == machine and set(one.values) == {1.0}), row)
    if base == row:
        return "1"
    verdict = reproduction.verdict_on(point, row, base)
    outcome = point.outcome
    return ratio_text(verdict, outcome.comparison.procedure.margin) if verdict and outcome else _NOTHING


def _speed(known: ContenderOutcome, unit: Unit, batch_size: int) -> str:
    """Return a speed, or the time of a step, with its interval; in ms where no time of a step follows of the unit."""
    step_s = shown_interval(known)
    told = " ms a step" if unit in RELATIVE else ""
    if unit in ("images/s", "sequences/s"):
        found, alone = throughput(known, batch_size), known.samples_per_s
    elif unit == "steps/s":
        found = Interval(estimate=1 / step_s.estimate, low=1 / step_s.high, high=1 / step_s.low) if step_s else None
        alone = 1 / known.median_step_s if known.median_step_s else None
    else:
        scale = 1.0 if unit == "s a step" else 1e3
        scaled = {end: scale * getattr(step_s, end) for end in ("estimate", "low", "high")} if step_s else None
        found = Interval(**scaled) if scaled else None
        alone = scale * known.median_step_s if known.median_step_s else None
    if found is not None:
        shown = carried(found.estimate, found.low, found.high)
        return f"{shown.estimate} ({shown.low} to {shown.high}){told}"
    return f"{rounded(alone)}{told}" if alone else _NOTHING


def _difference(published: PublishedStudy, declared: Declared, point: PointOutcome) -> list[str]:
    """Return by how much the faster row of the document's two is faster, there and here, in percent."""
    if not published.difference:
        return []
    steps = {
        row: reproduction.published_step_s(published, declared, one)
        for row in published.difference
        for one in _of(declared, row)[:1]
    }
    if len(steps) != len(published.difference):
        return ["", ""]
    fast, slow = sorted(steps, key=lambda row: steps[row])
    verdict = reproduction.verdict_on(point, slow, fast)
    there = f"{100 * (steps[slow] / steps[fast] - 1):.2f}"
    if verdict is None or verdict.ratio is None:
        return [there, _NOTHING]
    ends = [100 * (one - 1) for one in (verdict.ratio, verdict.low, verdict.high) if one is not None]
    if len(ends) == 1:
        return [there, f"{fast} {rounded(ends[0])}"]
    return [there, f"{fast} {ends[0]:.1f} ({ends[1]:.1f} to {ends[2]:.1f})"]


def _others(
    published: PublishedStudy, point: PointOutcome, figures: dict[str, Figure | None]
) -> dict[str, list[tuple[str, str]]]:
    """Return what else the document has of each row: accuracy and memory, each there and here."""
    named = dict.fromkeys(name for one in figures.values() if one for name in one.memory_gb)
    known = {row: reproduction.contender_of(point, row) for row in figures}
    found = {
        name: [
            (
                f"{one.memory_gb[name]:g} GB" if one and name in one.memory_gb else "",
                _memory(published, known[row], name),
            )
            for row, one in figures.items()
        ]
        for name in named
    }
    if any(one and one.accuracy is not None for one in figures.values()):
        told = [("" if one is None or one.accuracy is None else f"{one.accuracy:g}") for one in figures.values()]
        found = {"accuracy": list(zip(told, (_accuracy(one) for one in known.values()), strict=True))} | found
    return found


def _memory(published: PublishedStudy, known: ContenderOutcome | None, name: str) -> str:
    """Return our memory that is nearest to what the document's name means, as in the table of memory."""
    held = held_bytes(known.memory, published.memory.get(name, ELSE)) if known and known.memory else None
    return _NOTHING if held is None else size(held)


def _accuracy(known: ContenderOutcome | None) -> str:
    """Return the accuracy after our whole runs: on held-out data, or else on what was trained on."""
    held_out, trained_on = accuracies(known.whole if known else None)
    found = trained_on if held_out is None else held_out
    return _NOTHING if found is None else f"{found:.3f}"
