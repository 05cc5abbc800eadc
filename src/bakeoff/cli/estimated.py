"""`bakeoff reproduce --estimate`: what studies cost, as a table and as JSON; nothing is started or written."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bakeoff.cli.columns import columns, wrapped
from bakeoff.cli.dryrun import INDENT, span
from bakeoff.report.called import pasteable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.study import Study
    from bakeoff.study.estimate import CostEstimate, PlaceCost, Span
    from bakeoff.study.foreseen import Foreseen

VERSION = 1
"""Of the JSON object (docs/json-estimate.md)."""


def tell(declared: Sequence[Study], results: str, *, json: bool) -> None:
    """Print what studies cost, each by itself and all together."""
    from bakeoff.measure.cores import whole_cores
    from bakeoff.race.forecast import earlier
    from bakeoff.study.estimate import estimate
    from bakeoff.study.foreseen import foreseen

    before, cores = earlier(Path(results)), whole_cores()
    told = [foreseen(study, Path(results), before=before) for study in declared]
    whole = estimate(told, cores)
    each = [estimate([one], cores) for one in told]
    if json:
        typer.echo(dumps(_data(told, each, whole), indent=2))
        return
    for line in _lines(told, each, whole):
        typer.echo(pasteable(line))


def _lines(told: Sequence[Foreseen], each: Sequence[CostEstimate], whole: CostEstimate) -> list[str]:
    """Return the table of all, a line for each study where there are several, and what it all rests on."""
    from bakeoff.spec.text import count

    if len(told) == 1:
        title = f"{told[0].study.title}: {count(whole.comparisons, 'comparison')}{_size(told[0])}"
    else:
        title = f"{len(told)} studies: {count(whole.comparisons, 'comparison')}{_size(told[0])}"
    rows = [["where", "time", "device hours", "energy"], *(_row(one) for one in whole.figures)]
    said = [*wrapped(title), "", *columns(rows, indent=INDENT)]
    for figure in whole.figures:
        if figure.unknown:
            said += wrapped(
                f"{figure.place}: without {count(figure.unknown, 'comparison')} of unknown time there", INDENT
            )
    if len(told) > 1:
        names = [["study", *(figure.place for figure in whole.figures)]]
        names += [
            [one.study.name, *(_time(figure) for figure in mine.figures)] for one, mine in zip(told, each, strict=True)
        ]
        said += ["", *columns(names, indent=INDENT)]
    for problem, where in _problems(told).items():
        said += wrapped(f"Not counted: {'; '.join(where)}: {problem}")
    said += ["", "What this rests on:"]
    for assumption in whole.assumptions:
        said += wrapped(assumption, "- ")
    return [*said, "", "Nothing was started or written."]


def _problems(told: Sequence[Foreseen]) -> dict[str, list[str]]:
    """Return the comparisons that cannot be had, by the reason."""
    found: dict[str, list[str]] = {}
    for one in told:
        for point in one.points:
            if point.problem:
                found.setdefault(point.problem, []).append(f"{one.study.name}, {point.title}")
    return found


def _size(told: Foreseen) -> str:
    """Return at which size the comparisons are."""
    here = told.study.reproduces
    return "" if here is None else ", scaled down" if here.scaled else ", at the document's own sizes"


def _row(figure: PlaceCost) -> list[str]:
    """Return one place's line."""
    return [figure.place, _time(figure), _ends(figure.device_hours, "h"), _ends(figure.kwh, "kWh")]


def _time(figure: PlaceCost) -> str:
    """Return a time; "unknown" where nothing of it is."""
    return span(*figure.seconds) if figure.device_hours.low else "unknown"


def _ends(value: Span, unit: str) -> str:
    """Return a range: "0.51 h", "0.51 to 1.2 h", "0.51 h and more"; "unknown" where nothing is known."""
    from bakeoff.report.units import rounded

    if not value.low:
        return "unknown"
    low, high = rounded(value.low), None if value.high is None else rounded(value.high)
    if high is None:
        return f"{low} {unit} and more"
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


# --- For programs ---------------------------------------------------------------------------------------------------


def _data(told: Sequence[Foreseen], each: Sequence[CostEstimate], whole: CostEstimate) -> dict[str, Any]:
    """Return the JSON object."""
    return {
        "version": VERSION,
        "comparisons": whole.comparisons,
        "places": [_place(figure) for figure in whole.figures],
        "studies": [
            {
                "name": one.study.name,
                "comparisons": mine.comparisons,
                "basis": {point.title: point.basis for point in one.points if not point.problem},
                "problems": {point.title: point.problem for point in one.points if point.problem},
                "places": [_place(figure) for figure in mine.figures],
            }
            for one, mine in zip(told, each, strict=True)
        ],
        "assumptions": whole.assumptions,
    }


def _place(figure: PlaceCost) -> dict[str, Any]:
    """Return one place; null is not known, or no limit."""
    is_known = bool(figure.device_hours.low)
    return {
        "place": figure.place,
        "seconds": list(figure.seconds) if is_known else None,
        "device_hours": list(figure.device_hours) if is_known else None,
        "kwh": list(figure.kwh) if is_known else None,
        "unknown": figure.unknown,
    }
