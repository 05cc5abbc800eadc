"""The tables of a reproduction: what was published beside what was measured."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from bakeoff.judge import reproduction
from bakeoff.judge.epochs import accuracies, length_of, middle
from bakeoff.report.page import Line, Section, Table
from bakeoff.report.pages.published_epochs import epochs_table
from bakeoff.report.pages.published_memory import memory_table
from bakeoff.report.pages.published_scaling import overheads_table
from bakeoff.report.sections.figures import contained
from bakeoff.report.standings import ratio_text, step_parts, throughput_parts
from bakeoff.report.units import UNKNOWN, Unit, percent, rounded, unit_for
from bakeoff.spec.published import RELATIVE
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.epochs import WholeRuns
    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.judge.reproduction import Order, PublishedPair
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.spec.published import Declared, Figure, PublishedStudy

_DIGITS = 3
"""Of what is computed from published figures: they have two to five."""

_ALWAYS = 6
"""Columns of whole runs that are shown whatever stands in them."""

_VERDICTS: dict[Order, str] = {
    "same": "{}: the same order",
    "other": "{}: another order",
    "undecided": "{}",
    "unclear there": "{}: no clear order there",
    "too few rounds": "no verdict yet",
    "not measured": "",
}


def beside_measured(study: StudyOutcome, published: PublishedStudy, pairs: list[PublishedPair]) -> list[Section]:
    """Return one table for each comparison on each machine and number of devices that the document has figures of."""
    found = []
    counts = sorted({row.devices for row in published.rows})
    for declared, point in reproduction.both(study, published):
        for machine, devices in product(published.machines, counts):
            figures = _figures(published, declared, machine.name, devices)
            if not figures:
                continue
            rows = {one.row for one in figures}
            on_it = [
                pair
                for pair in pairs
                if (pair.comparison, pair.machine) == (declared.name, machine.name) and pair.first in rows
            ]
            on = f", on {count(devices, 'device')}" if len(counts) > 1 else ""
            title = _table_title(declared, point, machine.name) + on
            found.append(Section(title=title, tables=[_table(published, declared, point, figures, on_it)]))
    return found


def _figures(published: PublishedStudy, declared: Declared, machine: str, devices: int) -> list[Figure]:
    """Return the figures of a step on a machine and so many of its devices: not those of a first epoch alone."""
    return [
        one
        for one in declared.figures
        if reproduction.machine_of(published, one) == machine
        and published.row(one.row).devices == devices
        and one.epoch != reproduction.FIRST
    ]


def _table_title(declared: Declared, point: PointOutcome, machine: str) -> str:
    """Return what was run there and here: "resnet50, train: batch 64 there (P100), batch 2 here"."""
    asked = point.point.request
    size = "" if asked.size == "full" else f", {asked.size} size"
    name = declared.name if declared.name.startswith(declared.workload) else f"{declared.name} ({declared.workload})"
    there = f"batch {declared.batch_size} there ({machine})"
    return f"{name}, {declared.scenario}: {there}, batch {asked.batch_size}{size} here"


def _table(
    published: PublishedStudy,
    declared: Declared,
    point: PointOutcome,
    figures: list[Figure],
    pairs: list[PublishedPair],
) -> Table:
    """Return published beside measured, the shortest published time first; ratios are against that one."""
    times = {one.row: reproduction.steps_s(published, declared, one) for one in figures}
    order = sorted(figures, key=lambda one: middle(times[one.row]) or 0.0)
    first = order[0].row
    is_absolute = published.unit_of(declared) not in RELATIVE
    there = unit_for(middle(values) for values in times.values())
    measured = {one.row: reproduction.contender_of(point, one.row) for one in figures}
    here = unit_for(one.median_step_s for one in measured.values() if one)
    against = {pair.first: pair for pair in pairs if pair.second == first}
    lines = []
    for figure in order:
        known, pair = measured[figure.row], against.get(figure.row)
        published_step = _duration(middle(times[figure.row]), there) if is_absolute else ""
        ratios = _ratios(pair, point) if pair else ["1", "1" if known else "", "", ""]
        lines.append(
            Line(
                [figure.row, _given(figure, published.unit_of(declared)), published_step, *_step(known, here), *ratios]
            )
        )
    heads = [
        "row",
        "published",
        "a step there",
        "a step here",
        "95 % CI",
        "ratio there" + (" (range)" if any(pair.published_range for pair in pairs) else ""),
        f"ratio here{_level(pairs)}",
        "verdict here",
        "ranking",
    ]
    return Table(heads, lines, last_words=2)


def _level(pairs: list[PublishedPair]) -> str:
    """Return what is in brackets behind our ratios; empty where they have no interval with a level."""
    levels = {pair.verdict.level for pair in pairs if pair.verdict and pair.verdict.low is not None}
    level = levels.pop() if len(levels) == 1 else None
    return "" if level is None else f" ({percent(level)} CI)"


def _given(figure: Figure, unit: str) -> str:
    """Return a figure as the document does, every repeat."""
    epoch = {None: "", 1: " (first epoch)", 2: " (second epoch)"}[figure.epoch]
    return f"{figure.printed()} {unit}{epoch}"


def _duration(seconds: float | None, unit: Unit) -> str:
    """Return a time that was computed from a published figure."""
    return UNKNOWN if seconds is None else f"{rounded(seconds * unit.per_base, _DIGITS)} {unit.name}"


def _step(known: ContenderOutcome | None, unit: Unit) -> list[str]:
    """Return our step time and its interval."""
    return ["not measured", ""] if known is None else [*step_parts(known, unit)]


def _ratios(pair: PublishedPair, point: PointOutcome) -> list[str]:
    """Return the published ratio, the measured one with its verdict, how they are ordered, and what that shows."""
    there = rounded(pair.published, _DIGITS)
    if pair.published_range is not None:
        there += f" ({' to '.join(rounded(end, _DIGITS) for end in pair.published_range)})"
    if pair.verdict is None or point.outcome is None:
        return [there, "", "", pair.ranking]
    early = (
        f" ({pair.verdict.rounds} of {count(pair.verdict.fewest, 'round')})" if pair.order == "too few rounds" else ""
    )
    ours = ratio_text(pair.verdict, point.outcome.comparison.procedure.margin)
    return [there, ours, _VERDICTS[pair.order].format(pair.verdict.verdict) + early, pair.ranking]


def called_for(study: StudyOutcome, published: PublishedStudy) -> list[Section]:
    """Return the tables that only some documents call for: bars, whole runs, memory, accuracy."""
    tables = {
        "Bar by bar": _bars(study, published) if published.chart else Table([], []),
        "The first epoch and the second": epochs_table(study, published),
        "Communication overhead": overheads_table(study, published),
        "Whole runs": _runs(study, published),
        "What a second has": _contained(study, published),
        "Memory": memory_table(study, published),
        "Accuracy": _accuracies(study, published),
        "What bakeoff has nothing for": _absent(published),
    }
    return [Section(title=title, tables=[table]) for title, table in tables.items() if table.lines]


def _bars(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Return every bar that was measured, also those for which the document has no number."""
    units = {declared.name: published.unit_of(declared) for declared in published.comparisons}
    lines = []
    for line in reproduction.lines(study, published):
        known = line.measured
        if known is None or known.samples_per_s is None:
            continue
        there = _given(line.figure, units[line.comparison]) if line.figure else "no number"
        outcome = next(one.outcome for one in study.points if one.point.title == line.comparison)
        assert outcome is not None
        batch_size = outcome.comparison.batch_size
        lines.append(Line([f"{line.comparison}, {line.row}", there, *throughput_parts(known, batch_size)]))
    unit = "images/s" if published.unit == "images/s" else "samples/s"
    return Table(["bar", "published", f"{unit} here", "95 % CI"], lines)


def _runs(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Return the whole runs made here beside the published ones, with and without the first step; loss and metric."""
    lines = []
    for declared, point in reproduction.both(study, published):
        length = length_of(point.outcome.comparison) if point.outcome else None
        for row, machine, there in _told_of_runs(published, declared) if length else []:
            known = reproduction.contender_of(point, row)
            if known is None or known.whole is None or not known.whole.runs or length is None:
                continue
            totals = known.whole.totals_s(), known.whole.totals_s(first=False)
            unit = unit_for([min(totals[1])])
            both = [rounded(end(totals[0]) * unit.per_base, _DIGITS) for end in (min, max)]
            ends = " to ".join(both) if len(totals[0]) > 1 else ""
            middles = [_duration(middle(one), unit) for one in totals]
            on = f" ({machine})" if machine else ""
            cells = [f"{declared.name}, {row}{on}", there, f"{length.steps:,}", *middles, ends]
            loss = middle([run.loss for run in known.whole.runs if run.loss is not None])
            lines.append([*cells, "" if loss is None else rounded(loss, _DIGITS), _metric(known.whole)])
    heads = ["whole run", "published / steps", "steps here", "with first step", "without", "range with it"]
    heads += ["last loss", "metric after it"]
    kept = [place for place, _ in enumerate(heads) if place < _ALWAYS or any(line[place] for line in lines)]
    return Table([heads[place] for place in kept], [Line([line[place] for place in kept]) for line in lines])


def _metric(whole: WholeRuns) -> str:
    """Return a workload's own metric after whole runs, by its name: "next-state error 0.0123"; empty without one."""
    if whole.metric is None or whole.median_metric is None:
        return ""
    return f"{whole.metric.name} {rounded(whole.median_metric, _DIGITS)} {whole.metric.unit}".rstrip()


def _contained(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Return how many a second of what a workload says that its samples have so many of, such as environment steps."""
    lines = []
    for declared, point in reproduction.both(study, published):
        outcome = point.outcome
        for row in published.rows_of(declared):
            known = reproduction.contender_of(point, row.name)
            if outcome is None or known is None:
                continue
            for what, number in contained(outcome).items():
                rate, ends = throughput_parts(known, outcome.comparison.batch_size, number)
                lines.append(Line([f"{declared.name}, {row.name}", what, rate, ends]))
    return Table(["row", "of what", "a second here", "95 % CI"], lines, words=2, keys=2)


def _told_of_runs(published: PublishedStudy, declared: Declared) -> list[tuple[str, str, str]]:
    """Return row, machine and published time of whole runs; where the document has none of a comparison, its rows."""
    if declared.epochs_apart:
        return []
    steps = f" / {declared.run_steps():,}" if declared.run_steps() else ""
    unit = published.unit_of(declared)
    told = [(one.row, one.machine, f"{_given(one, unit)}{steps}") for one in declared.figures]
    return told or [(row.name, "", f"no number{steps}") for row in published.rows_of(declared)]


def _accuracies(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Return the published accuracy beside the one after our whole runs, where the document states it."""
    lines = []
    for declared, point in reproduction.both(study, published):
        for figure in declared.figures:
            if figure.accuracy is None:
                continue
            known = reproduction.contender_of(point, figure.row)
            found = accuracies(known.whole if known else None)
            here = [UNKNOWN if share is None else f"{share:.3f}" for share in found]
            lines.append(Line([f"{declared.name}, {figure.row}", f"{figure.accuracy:g}", *here]))
    return Table(["accuracy", "published", "on held-out data here", "on the batches trained on here"], lines)


def _absent(published: PublishedStudy) -> Table:
    """Return what the document measured and bakeoff cannot, with its figures."""
    lines = [Line([one.name, one.printed(), one.reason]) for one in published.absent]
    return Table(["not measured here", "published", "why"], lines, words=3)
