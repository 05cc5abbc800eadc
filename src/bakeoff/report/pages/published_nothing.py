"""The answer and the tables of a study whose document says what to compare, and publishes no figures of it."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge import reproduction
from bakeoff.report.page import Line, Picture, Section, Table
from bakeoff.report.pictures.study import ratio_chart
from bakeoff.report.points import points_of
from bakeoff.report.standings import kind, ratio_text, step_parts
from bakeoff.report.units import listed, unit_for
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.report.points import Points
    from bakeoff.spec.published import Declared, PublishedStudy
    from bakeoff.spec.verdict import Verdict

_WORDS = {
    "faster": "{0} is faster than {1}",
    "slower": "{1} is faster than {0}",
    "equal": "{0} and {1} are equal",
    "no verdict": "{0} and {1} have too few rounds for a verdict",
}


def answer(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return that nothing was published, and what came out here on the most devices."""
    most = max(row.devices for row in published.rows)
    found: dict[str, list[str]] = {}
    for declared, point in reproduction.both(study, published):
        for first, second in combinations(_rows(published, most), 2):
            verdict = reproduction.verdict_on(point, first, second)
            said = _WORDS.get(kind(verdict), "{0} and {1} are undecided") if verdict else "{0} and {1} are not measured"
            found.setdefault(said.format(_short(first), _short(second)), []).append(declared.name)
    told = "; ".join(f"{said} in {listed(names)}" for said, names in found.items())
    name, on = published.document.name, f", on {most} devices" if most > 1 else ""
    return f"{name[0].upper()}{name[1:]} publishes no figures. Here{on}: {told or 'nothing that is to be compared'}."


def by_benchmark(study: StudyOutcome, published: PublishedStudy) -> list[Section]:
    """Return a table for each number of devices, with a line for each benchmark, and the ratios as a picture."""
    counts = sorted({row.devices for row in published.rows})
    found = []
    for devices in counts:
        on = f", on {count(devices, 'device')}" if len(counts) > 1 else ""
        rows = _rows(published, devices)
        pairs = list(combinations(rows, 2))
        heads = ["benchmark", *map(_short, rows)]
        for first, second in pairs:
            heads += [f"{_short(first)} / {_short(second)}", f"verdict on {_short(first)}"]
        lines = [Line(_cells(declared, point, rows, pairs)) for declared, point in reproduction.both(study, published)]
        title = f"A step here by benchmark{on}"
        caption = f"{title}, with its 95 % interval, and the ratio"
        found.append(Section(title=title, caption=caption, tables=[Table(heads, lines, last_words=1)]))
    points = _within_devices(points_of(study), study, published)
    if points.pairs:
        picture = Picture(answer(study, published), lambda width: ratio_chart(points, width))
        found.append(Section(kind="page", picture=picture))
    return found


def _rows(published: PublishedStudy, devices: int) -> list[str]:
    """Return the rows on so many devices."""
    return [row.name for row in published.rows if row.devices == devices]


def _short(row: str) -> str:
    """Return a row's name without its number of devices, which stands above the table."""
    return re.sub(r", \d+ devices?$", "", row)


def _cells(declared: Declared, point: PointOutcome, rows: list[str], pairs: list[tuple[str, str]]) -> list[str]:
    """Return one benchmark: the workload as it was run, each row's step, and each pair's ratio with its verdict."""
    asked = point.point.request
    size = "" if asked.size == "full" else f", {asked.size} size"
    measured = [reproduction.contender_of(point, row) for row in rows]
    unit = unit_for(one.median_step_s for one in measured if one)
    steps = []
    for one in measured:
        step, interval = step_parts(one, unit) if one else ("not measured", "")
        steps.append(f"{step} ({interval})" if interval else step)
    ratios = [cell for pair in pairs for cell in _ratio(point, reproduction.verdict_on(point, *pair))]
    return [f"{declared.name} ({declared.workload}, batch {asked.batch_size}{size})", *steps, *ratios]


def _ratio(point: PointOutcome, verdict: Verdict | None) -> list[str]:
    """Return a ratio with its interval, and the verdict on the first."""
    if verdict is None or point.outcome is None:
        return ["", ""]
    return [ratio_text(verdict, point.outcome.comparison.procedure.margin), kind(verdict)]


def _within_devices(points: Points, study: StudyOutcome, published: PublishedStudy) -> Points:
    """Return the points without pairs of which one runs on more devices than the other."""
    placed = {label: row for one in study.points for row, label in one.point.rows.items()}
    on = {label: published.row(row).devices for label, row in placed.items()}
    pairs = [pair for pair in points.pairs if len({on.get(label) for label in pair}) == 1]
    return msgspec.structs.replace(points, pairs=pairs)
