"""The page of a study: who is fastest where, how sure all of it is together, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.overall import headline, place_of, unfinished
from bakeoff.report.page import Line, Page, Picture, Section, Table
from bakeoff.report.pages.comparison import cautions, comparison_page
from bakeoff.report.pictures.study import MOST_PAIRS, rate_chart, ratio_chart
from bakeoff.report.points import points_of
from bakeoff.report.sections.certificate import same_work_of
from bakeoff.report.units import listed, percent
from bakeoff.report.words import machines_line, measured_line, source_name
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.points import Cell, Points

VERSION = 1
"""Of the JSON object: raised when a key changes its meaning or goes away; new keys may come without."""

ERROR_RATE = 0.05
"""Of one comparison: the chance that any of its verdicts is false (docs/verdicts.md)."""


def error_rate(comparisons: int) -> str:
    """Return what the points' verdicts are worth one by one and all together; empty for a single comparison."""
    if comparisons < 2:  # noqa: PLR2004 (with one there is no together)
        return ""
    together = comparisons * ERROR_RATE
    all_of_them = (
        f"over all {comparisons} together at most {percent(together)}"
        if together < 1
        else f"of all {comparisons}, expect one in {1 / ERROR_RATE:.0f} to have one"
    )
    return (
        f"Each point is decided by itself: the chance of a false verdict is at most {percent(ERROR_RATE)} at a point, "
        f"and {all_of_them}. The intervals of samples/s hold point by point."
    )


def study_page(study: StudyOutcome) -> Page:
    """Return the page of a study, with those of its comparisons."""
    outcomes, points = study.outcomes, points_of(study)
    places = [place_of(row, points) for row in points.rows]
    answer = headline(list(study.study.axes()), places, len(points.labels))
    evidence = _evidence(outcomes)
    worth = error_rate(sum(len(outcome.verdicts) > 0 for outcome in outcomes))
    warnings = _cautions(study)
    said = [*unfinished(points, study.study.command), *holes(study, points), *([worth] if worth else [])]
    pages = {point.point.title: comparison_page(point.outcome) for point in study.points if point.outcome}
    return Page(
        title=study.study.title,
        headline=answer,
        lines=[_work(outcomes), machines_line(outcomes)] if outcomes else ["nothing was run"],
        trust=f"{_same_work(study)}{evidence[:1].upper()}{evidence[1:]}.",
        sections=[
            *_tables(points, answer),
            Section(words=said),
            *([Section(kind="warnings", words=warnings)] if warnings else []),
            comparisons(study),
        ],
        begun=f"bakeoff {study.bakeoff}, study {study.id}, begun {study.created_at}.",
        measured=measured_line((one for it in outcomes for one in it.contenders), study.bakeoff, study.created_at),
        command=study.study.command,
        path=study.path,
        data=_data(study, pages, answer, worth) | {"warnings": warnings},
        inner=list(pages.values()),
    )


# --- Tables -------------------------------------------------------------------------------------------------------


def _tables(points: Points, answer: str) -> list[Section]:
    """Return the throughputs and the ratios, with their pictures."""
    found = []
    if points.labels:
        is_timed = any(cell.value is not None for row in points.rows for cell in row.cells.values())
        picture = (
            Picture(f"Samples/s over {points.axes[0]}. {answer}", lambda width: rate_chart(points, width))
            if is_timed
            else None
        )
        caption = "Samples/s with 95 % intervals, and the verdict at each point:"
        rates = Section(title="samples/s (95 % CI)", caption=caption, tables=[rate_table(points)], picture=picture)
        found.append(rates)
    if points.pairs:
        pairs = "; ".join(_finding(points, pair) for pair in points.pairs[:MOST_PAIRS])
        picture = Picture(f"Ratio of step times: {pairs}.", lambda width: ratio_chart(points, width))
        caption = "Ratio of step times, first over second; the verdict is on the first:"
        ratios = Section(title="ratio of step times", caption=caption, tables=[ratio_table(points)], picture=picture)
        found.append(ratios)
    return found


def rate_table(points: Points) -> Table:
    """Return a column for each contender, and who is fastest."""
    columns = {label: [_rate(row.cells[label]) for row in points.rows] for label in points.labels}
    is_compared = len(points.labels) > 1
    if is_compared:
        columns["verdict"] = [row.verdict for row in points.rows]
    return _table(points, columns, last_words=int(is_compared))


def _rate(cell: Cell) -> str:
    """Return "32,700 (31,000 to 34,000)", or in a word why there is none."""
    if cell.hole or not cell.rate:
        return cell.hole
    return f"{cell.rate} ({cell.interval})" if cell.interval else cell.rate


def ratio_table(points: Points) -> Table:
    """Return a column for each pair: the ratio of its step times with the verdict on its first."""
    known = {" / ".join(pair): [row.ratios.get(pair) for row in points.rows] for pair in points.pairs}
    return _table(
        points, {name: [f"{one.text}  {one.verdict}" if one else "" for one in each] for name, each in known.items()}
    )


def _table(points: Points, columns: Mapping[str, Sequence[str]], last_words: int = 0) -> Table:
    """Return columns beside the points' places."""
    lines = [Line([*row.place, *cells]) for row, *cells in zip(points.rows, *columns.values(), strict=True)]
    axes = len(points.axes)
    right = tuple(index for index in range(axes) if all(_is_number(row.place[index]) for row in points.rows))
    return Table([*points.axes, *columns], lines, words=axes, keys=axes, right=right, last_words=last_words)


def _is_number(text: str) -> bool:
    """Return whether a place on an axis is a number."""
    return text.replace(".", "", 1).isdigit()


def _finding(points: Points, pair: tuple[str, str]) -> str:
    """Return what the picture of one pair shows."""
    known = [(row.title, ratio) for row in points.rows if (ratio := row.ratios.get(pair))]
    return f"{' / '.join(pair)} " + ", ".join(f"{title} {ratio.text} {ratio.verdict}" for title, ratio in known)


def comparisons(study: StudyOutcome) -> Section:
    """Return what became of each comparison, with what repeats it alone."""
    lines = []
    for point in study.points:
        outcome, title = point.outcome, point.point.title
        if outcome is None:
            lines.append(Line([title, "not measured", ""]))
        else:
            ended = f"{outcome.ended}, {count(outcome.rounds, 'round')}"
            lines.append(Line([title, ended, outcome.comparison.command], link=outcome.path))
    caption = (
        "Each point is a comparison with a page, records and a certificate of its own; what is timed stands there."
    )
    table = Table(["point", "ended", "alone"], lines, words=3)
    return Section(kind="page", title="Comparisons", caption=caption, tables=[table])


# --- Sentences ----------------------------------------------------------------------------------------------------


def _work(outcomes: list[Outcome]) -> str:
    """Return what all points have in common."""
    comparisons = [outcome.comparison for outcome in outcomes]
    parts: list[set[str]] = [
        {comparison.workload.name for comparison in comparisons},
        {comparison.scenario for comparison in comparisons},
        {"" if comparison.size == "full" else f"{comparison.size} size" for comparison in comparisons},
        {plan.contender.options.get("precision", "") for one in comparisons for plan in one.contenders},
        {source_name(comparison) for comparison in comparisons},
    ]
    return ", ".join(name for part in parts if len(part) == 1 for name in part if name)


def holes(study: StudyOutcome, points: Points) -> list[str]:
    """Return of everything that is missing where and why, each reason once."""
    reasons: dict[str, list[str]] = {}
    for point, row in zip(study.points, points.rows, strict=True):
        if point.outcome is None or point.reason:
            reasons.setdefault(point.reason, []).append(row.title)
        missing = {label: f"{cell.hole}: {cell.reason}" for label, cell in row.cells.items() if cell.hole}
        others = point.point.left_out | (point.outcome.comparison.excluded if point.outcome else {})
        told = {label: f"left out: {reason}" for label, reason in others.items()} | missing
        for label, reason in told.items() if point.outcome is not None else ():
            reasons.setdefault(f"{label} {reason}", []).append(row.title)
    return [_at(titles, reason, study) for reason, titles in reasons.items()]


def _cautions(study: StudyOutcome) -> list[str]:
    """Return the warnings of all comparisons, each once with the points that it is about."""
    found: dict[str, list[str]] = {}
    for point in study.points:
        for caution in cautions(point.outcome) if point.outcome else ():
            found.setdefault(caution, []).append(point.point.title)
    return [_at(titles, caution, study) for caution, titles in found.items()]


def _at(titles: list[str], sentence: str, study: StudyOutcome) -> str:
    """Return a sentence with the points at which it holds."""
    places = "; ".join(titles) if any("," in title for title in titles) else listed(titles)
    return sentence if len(titles) == len(study.points) > 1 else f"{places}: {sentence}"


def _same_work(study: StudyOutcome) -> str:
    """Return where the contenders are shown to do the same work; empty where nothing was begun."""
    known = {point.point.title: point.outcome for point in study.points if point.outcome}
    return f"{same_work_of(known)}. " if known else ""


def _evidence(outcomes: list[Outcome]) -> str:
    """Return what the numbers rest on."""
    rounds, processes = (sum(outcome.rounds for outcome in outcomes), sum(outcome.processes for outcome in outcomes))
    return f"{count(len(outcomes), 'comparison')}, {count(rounds, 'round')}, {count(processes, 'fresh process')}"


def _data(study: StudyOutcome, pages: Mapping[str, Page], answer: str, worth: str) -> dict[str, Any]:
    """Return the JSON object; every documented key is there, and null is not known."""
    return {
        "version": VERSION,
        "bakeoff": study.bakeoff,
        "study": {
            "id": study.id,
            "path": study.path,
            "created_at": study.created_at,
            "title": study.study.title,
            "command": study.study.command,
            "budget_s": study.study.budget_s,
            "axes": study.study.axes(),
            "headline": answer,
            "error_rate": worth,
        },
        "points": [
            {
                "title": point.point.title,
                "coordinates": point.point.coordinates,
                "left_out": point.point.left_out,
                "reason": point.reason,
                "comparison": pages[point.point.title].data if point.outcome else None,
            }
            for point in study.points
        ],
    }
