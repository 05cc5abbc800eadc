"""Published beside measured, in words and cells: the one model that every form of a reproduction's report shows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge import reproduction
from bakeoff.judge.epochs import length_of, middle
from bakeoff.report.details import Line, Table
from bakeoff.report.model import REPORT_FILES, machine_line, machine_name
from bakeoff.report.packages import packages
from bakeoff.report.pairs import ratio_text
from bakeoff.report.units import UNKNOWN, Unit, count, duration, listed, quantity, rounded, size, unit_for
from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.judge.reproduction import Held, Order, PublishedPair
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.spec.published import Declared, Figure, PublishedStudy

_DIGITS = 3
"""Of what is computed from published figures: they have two to five."""


class Titled(msgspec.Struct, frozen=True):
    """A table with what it is about."""

    title: str
    table: Table


class Reproduced(msgspec.Struct, frozen=True, kw_only=True):
    """A study that is held against published figures."""

    title: str
    headline: str
    conditions: list[str]
    """What was published on what, what was measured on what, and what is smaller here."""
    tables: list[Titled]
    """Published beside measured: one for each comparison and machine of the document."""
    more: list[Titled]
    """What only some documents call for: whole runs, statements, memory."""
    holes: list[str]
    open_points: list[str]
    """What the document leaves open, and its notes."""
    citation: str


def reproduced_of(study: StudyOutcome) -> Reproduced:
    """Derive the model of a study that is held against published figures."""
    assert study.study.reproduces is not None
    published = study.study.reproduces.published
    pairs = reproduction.pairs(study, published)
    return Reproduced(
        title=published.full_title(),
        headline=headline(study),
        conditions=_conditions(study, published),
        tables=_tables(study, published, pairs),
        more=[one for one in _more(study, published) if one.table.lines],
        holes=_holes(study, published),
        open_points=[f"The document leaves open: {text}" for text in published.not_stated] + list(published.notes),
        citation=f"{published.document.citation}; {published.document.number}.",
    )


_VERDICTS: dict[Order, str] = {
    "same": "{}: the same order",
    "other": "{}: another order",
    "undecided": "{}",
    "unclear there": "{}: no clear order there",
    "not measured": "",
}


def files(study: StudyOutcome) -> dict[str, str]:
    """Give the paths of the records and of the reports that are there, by their names."""
    folder = Path(study.path)
    paths = {name: folder / file for name, file in REPORT_FILES.items()}
    return {"records": str(folder)} | {name: str(path) for name, path in paths.items() if path.exists()}


# --- In sentences -------------------------------------------------------------------------------------------------


_SAID: dict[Order, str] = {
    "same": "the same order here",
    "other": "the other order here",
    "undecided": "undecided here",
    "unclear there": "decided here, but not by the document's own repeats",
    "not measured": "not measured here",
}


def headline(study: StudyOutcome) -> str:
    """Count what became of the published pairs, and say whether that can tell anything of them."""
    assert study.study.reproduces is not None
    published = study.study.reproduces.published
    pairs = reproduction.pairs(study, published)
    where = f"{published.document.number} of {published.document.name}"
    if not pairs:
        return f"There is no pair of figures in {where}."
    orders = Counter(pair.order for pair in pairs)
    said = [f"{orders[order]} {_SAID[order]}" for order in _SAID if orders[order]]
    start = f"Of {count(len(pairs), 'published pair')} in {where}: {listed(said)}."
    told = Counter(pair.ranking for pair in pairs)
    if told["agrees"] or told["disagrees"]:
        return f"{start} Our ranking agrees with {told['agrees']} and disagrees with {told['disagrees']}."
    reasons = [pair.reason for pair in pairs if pair.verdict and pair.reason]
    named = ", ".join(dict.fromkeys(reason for text in reasons for reason in text.split(", ")))
    return f"{start} Whether the published ranking holds cannot be told here: {named}." if named else start


def _conditions(study: StudyOutcome, published: PublishedStudy) -> list[str]:
    """Say what was measured on what, there and here."""
    here = study.study.reproduces
    assert here is not None
    machines = [machine.hardware for machine in published.machines]
    versions = dict.fromkeys(f"{row.name} {row.version}" for row in published.rows if row.version)
    with_versions = f"; {', '.join(versions)}" if versions else "; versions not stated"
    said = [f"Published on {'; '.join(machines)}{with_versions}. {_sentence(published.method)}"]
    said.append(f"Compile time there: {published.compile_time}; step times here never hold it.")
    if study.outcomes:
        said.append(f"Measured here on {_here(study)}, device {here.device}. {_contenders(study, published)}.")
    if smaller := _smaller(study, published):
        said.append(f"Scaled down: {smaller}; the published ran on {listed(one.name for one in published.machines)}.")
    return said


def _here(study: StudyOutcome) -> str:
    """Name this machine, and tell beside how many comparisons something else ran."""
    outcomes = study.outcomes
    busy = sum(outcome.calm is False for outcome in outcomes)
    if len(outcomes) == 1:
        return machine_line(outcomes[0])
    calm = "calm" if all(outcome.calm for outcome in outcomes) else "noise unknown"
    return f"{machine_name(outcomes[0])}, {f'busy in {busy} of {len(outcomes)} comparisons' if busy else calm}"


def _contenders(study: StudyOutcome, published: PublishedStudy) -> str:
    """Say which contender, of which versions, stands for each row."""
    labels = {row: label for point in study.points for row, label in point.point.rows.items()}
    there = {one.label for outcome in study.outcomes for one in outcome.contenders}
    raced = [(row.name, label) for row in published.rows if (label := labels.get(row.name)) in there]
    placed = [f"{row} by {label}" for row, label in raced if row != label]
    told = packages(contender for outcome in study.outcomes for contender in outcome.contenders)
    return "; ".join([*([f"Rows: {', '.join(placed)}"] if placed else []), told])


def _sentence(text: str) -> str:
    """Make a clause a sentence."""
    return f"{text[0].upper()}{text[1:]}."


def _smaller(study: StudyOutcome, published: PublishedStudy) -> str:
    """Say what is smaller here than there; empty where nothing is."""
    told: dict[str, list[str]] = {}
    for declared, point in reproduction.both(study, published):
        asked = point.point.request
        parts = [] if asked.size == "full" else [f"the network's {asked.size} size instead of the full one"]
        same = asked.batch_size == declared.batch_size
        parts += [] if same else [f"batch {asked.batch_size} instead of {declared.batch_size}"]
        steps = declared.run_steps()
        fewer = asked.steps is not None and steps is not None and asked.steps < steps
        parts += [f"whole runs of {asked.steps:,} steps instead of {steps:,}"] if fewer else []
        told.setdefault(", ".join(parts), []).append(declared.name)
    told.pop("", None)
    everywhere = len(reproduction.both(study, published))
    return "; ".join(text if len(one) == everywhere else f"{listed(one)}: {text}" for text, one in told.items())


def _holes(study: StudyOutcome, published: PublishedStudy) -> list[str]:
    """Say which rows have no measured figure, each reason once."""
    reasons: dict[str, list[str]] = {}
    for declared, point in reproduction.both(study, published):
        for row in published.rows:
            if reason := reproduction.hole(point, row.name):
                reasons.setdefault(reason, []).append(f"{row.name} ({declared.name})")
    held = reproduction.both(study, published)
    gone = [one.name for one in published.comparisons if one.name not in {declared.name for declared, _ in held}]
    said = [f"Not measured: {_rows(rows, len(held))}: {reason}" for reason, rows in reasons.items()]
    return [*said, f"Not in the scaled variant: {'; '.join(gone)}"] if gone else said


def _rows(named: list[str], everywhere: int) -> str:
    """Name rows with their comparisons; a row that is missing in all of them by its name alone."""
    missing = Counter(name.partition(" (")[0] for name in named)
    whole = [row for row, times in missing.items() if times == everywhere]
    return listed([*whole, *(name for name in named if name.partition(" (")[0] not in whole)])


# --- In tables ----------------------------------------------------------------------------------------------------


def _tables(study: StudyOutcome, published: PublishedStudy, pairs: list[PublishedPair]) -> list[Titled]:
    """Give one table for each comparison on each machine that the document has figures of."""
    found = []
    for declared, point in reproduction.both(study, published):
        for machine in published.machines:
            figures = [one for one in declared.figures if reproduction.machine_of(published, one) == machine.name]
            if not figures:
                continue
            on_it = [pair for pair in pairs if (pair.comparison, pair.machine) == (declared.name, machine.name)]
            title = _table_title(declared, point, machine.name)
            found.append(Titled(title, _table(published, declared, point, figures, on_it)))
    return found


def _table_title(declared: Declared, point: PointOutcome, machine: str) -> str:
    """Say what was run there and here: "resnet50, train: batch 64 there (P100), batch 2 here"."""
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
    """Give published beside measured, the shortest published time first; ratios are against that one."""
    times = {one.row: reproduction.steps_s(published, declared, one) for one in figures}
    order = sorted(figures, key=lambda one: middle(times[one.row]) or 0.0)
    first = order[0].row
    there = unit_for(middle(values) for values in times.values())
    measured = {one.row: reproduction.contender_of(point, one.row) for one in figures}
    here = unit_for(one.median_step_s for one in measured.values() if one)
    against = {pair.first: pair for pair in pairs if pair.second == first}
    lines = []
    for figure in order:
        known, pair = measured[figure.row], against.get(figure.row)
        published_step = duration_of(middle(times[figure.row]), there)
        ratios = _ratios(pair, point) if pair else ["1", "1" if known else "", "", ""]
        lines.append(Line([figure.row, _given(figure, published.unit), published_step, *_step(known, here), *ratios]))
    heads = [
        "row",
        "published",
        "a step there",
        "a step here",
        "95 %",
        "ratio there",
        "ratio here",
        "verdict here",
        "ranking",
    ]
    return Table(heads, lines, last_words=2)


def _given(figure: Figure, unit: str) -> str:
    """Give a figure as the document does, every repeat."""
    starred = [f"{value:g}*" for value in figure.disturbed]
    return f"{', '.join([*(f'{value:g}' for value in figure.values), *starred])} {unit}"


def duration_of(seconds: float | None, unit: Unit) -> str:
    """Give a time that was computed from a published figure."""
    return UNKNOWN if seconds is None else f"{rounded(seconds * unit.per_base, _DIGITS)} {unit.name}"


def _step(known: ContenderOutcome | None, unit: Unit) -> list[str]:
    """Give our step time and its interval."""
    if known is None:
        return ["not measured", ""]
    if known.step_s is None:
        return [duration(known.median_step_s, unit), ""]
    told = quantity(known.step_s, unit)
    return [f"{told.estimate} {unit.name}", f"{told.low} to {told.high}"]


def _ratios(pair: PublishedPair, point: PointOutcome) -> list[str]:
    """Give the published ratio, ours with its verdict, whose order it is, and what that tells of the ranking."""
    there = rounded(pair.published, _DIGITS)
    if pair.published_range is not None:
        there += f" ({' to '.join(rounded(end, _DIGITS) for end in pair.published_range)})"
    if pair.verdict is None or point.outcome is None:
        return [there, "", "", pair.ranking]
    ours = ratio_text(pair.verdict, point.outcome.comparison.procedure.margin)
    return [there, ours, _VERDICTS[pair.order].format(pair.verdict.verdict), pair.ranking]


def _more(study: StudyOutcome, published: PublishedStudy) -> list[Titled]:
    """Give the tables that only some documents call for."""
    return [
        *([Titled("Bar by bar", _bars(study, published))] if published.chart else []),
        Titled("Whole runs", _runs(study, published)),
        Titled("What the document states", _claims(study, published)),
        Titled("Memory", _memory(study, published)),
    ]


def _bars(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Give every bar that was measured, also those for which the document has no number."""
    lines = []
    for line in reproduction.lines(study, published):
        known = line.measured
        if known is None or known.samples_per_s is None:
            continue
        there = _given(line.figure, published.unit) if line.figure else "no number"
        outcome = next(one.outcome for one in study.points if one.point.title == line.comparison)
        assert outcome is not None
        batch_size = outcome.comparison.batch_size
        lines.append(Line([f"{line.comparison}, {line.row}", there, *_speed(known, batch_size)]))
    return Table(["bar", "published", "images/s here", "95 %"], lines)


def _speed(known: ContenderOutcome, batch_size: int) -> list[str]:
    """Give our throughput and its interval."""
    assert known.samples_per_s is not None
    if known.step_s is None or known.step_s.low <= 0:
        return [rounded(known.samples_per_s), ""]
    low, high = batch_size / known.step_s.high, batch_size / known.step_s.low
    told = quantity(Interval(estimate=known.samples_per_s, low=low, high=high), Unit("images/s", 1.0))
    return [told.estimate, f"{told.low} to {told.high}"]


def _claims(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Give what the document says in sentences, and ours."""
    lines = [
        Line([one.claim.text, f"{one.claim.percent:g} %", _percent(one)]) for one in reproduction.held(study, published)
    ]
    return Table(["of speeds", "there", "here"], lines, last_words=1)


def _percent(held: Held) -> str:
    """Give our figure of a claim with its verdicts; the figure itself has no interval."""
    if held.percent is None:
        return "not measured"
    sign = "-" if held.percent < 0 else ""
    return f"{sign}{rounded(abs(held.percent))} % ({_verdicts(held)})"


def _verdicts(held: Held) -> str:
    """Count the verdicts on the first of a claim's rows: "faster 3, undecided 2"."""
    # They speak of the second row's time: slower means that the first one is faster.
    words = {"slower": "faster", "faster": "slower"}
    counts = Counter(words.get(one.verdict, one.verdict) for one in held.verdicts)
    return ", ".join(f"{word} {number}" for word, number in counts.items())


def _runs(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Give the whole runs that were made beside the published ones, with and without the first step."""
    lines = []
    for declared, point in reproduction.both(study, published):
        length = length_of(point.outcome.comparison) if point.outcome else None
        for figure in declared.figures if length else ():
            known = reproduction.contender_of(point, figure.row)
            if known is None or known.whole is None or not known.whole.runs or length is None:
                continue
            totals = known.whole.totals_s(), known.whole.totals_s(first=False)
            unit = unit_for([min(totals[1])])
            there = f"{_given(figure, published.unit)} / {declared.run_steps():,}"
            ends = " to ".join(rounded(end(totals[0]) * unit.per_base, _DIGITS) for end in (min, max))
            middles = [duration_of(middle(one), unit) for one in totals]
            on = f" ({figure.machine})" if figure.machine else ""
            lines.append(Line([f"{declared.name}, {figure.row}{on}", there, f"{length.steps:,}", *middles, ends]))
    heads = ["whole run", "published / steps", "steps here", "with first step", "without", "range with it"]
    return Table(heads, lines)


def _memory(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Give the published memory beside ours, where the document tells it."""
    lines = []
    for declared, point in reproduction.both(study, published):
        for figure in declared.figures:
            known = reproduction.contender_of(point, figure.row)
            if not figure.memory_gb:
                continue
            there = ", ".join(f"{name} {value:g} GB" for name, value in figure.memory_gb.items())
            memory = known.memory if known else None
            peaks = [memory.peak_bytes if memory else None, memory.device_peak_bytes if memory else None]
            lines.append(Line([f"{declared.name}, {figure.row}", there, *(size(peak) for peak in peaks)]))
    return Table(["memory", "published", "process here, at its peak", "device here, at its peak"], lines, words=2)
