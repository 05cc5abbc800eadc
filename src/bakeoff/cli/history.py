"""`bakeoff history`: the verdicts of a workload over versions, dates and machines, from the records."""

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bakeoff.cli import completing, parameters
from bakeoff.cli.columns import columns, wrapped
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import BakeoffError, UsageError
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.past import PairHistory, PastVerdict

VERSION = 1
"""Of the JSON object (docs/json-history.md)."""

INDENT = "  "


def history(
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD",
            help="A workload that was raced: its name or its file.",
            autocompletion=completing.workloads,
        ),
    ],
    *,
    results: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR",
            help="Where records are kept; may be given several times, for several machines.  [default: results]",
            show_default=False,
        ),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact", help="Leave out folders, names of users and machines, and values that look like keys."
        ),
    ] = False,
    json: parameters.Json = False,
) -> None:
    """Show every verdict on a workload over time, and what changed from one to the next."""
    from bakeoff.judge.past import histories
    from bakeoff.report.redacted import redacted

    workload = _named(workload)
    found = histories(_judged(workload, [Path(place) for place in results or ["results"]]))
    # Behind the rows, so that contenders whose names differ in their folders alone are never in the same one.
    found = [redacted(row) for row in found] if redact else found
    if json:
        typer.echo(dumps({"version": VERSION, "workload": workload, "rows": [_data(row) for row in found]}, indent=2))
        return
    for line in _lines(workload, found):
        typer.echo(pasteable(line))


def _named(workload: str) -> str:
    """Return the name of a workload that may be said by its file, as `run` takes it."""
    from bakeoff.workloads.load import load

    return load(workload).workload.name if workload.endswith(".py") else workload


def _judged(workload: str, places: list[Path]) -> "list[Outcome]":
    """Return every comparison of a workload; what is damaged is named on stderr.

    Raises UsageError where there is none.
    """
    from bakeoff.judge.comparison import judge_comparison
    from bakeoff.store.absurd import told_if_absurd
    from bakeoff.store.everywhere import every_comparison
    from bakeoff.store.files import read_comparison

    found, others = [], set()
    for folder in every_comparison(places):
        try:
            name = read_comparison(folder).workload.name
            if name != workload:
                others.add(name)
                continue
            with told_if_absurd():
                found.append(judge_comparison(folder))
        except BakeoffError as error:
            typer.echo(f"left out: {plain(str(error))}", err=True)
    where = ", ".join(str(place) for place in places)
    if not found and not others:
        msg = f"no comparison in {where}: run one first (bakeoff run {workload}), or name its directory by --results"
        raise UsageError(msg)
    if not found:
        msg = f"no race of {workload!r} in {where}; raced there: {plain(', '.join(sorted(others)))}"
        raise UsageError(msg)
    return found


def _lines(workload: str, found: "list[PairHistory]") -> list[str]:
    """Return what is printed."""
    from bakeoff.report.past import STEPS, TEST
    from bakeoff.stats.steps import FEWEST

    if not found:
        return wrapped(
            f"{workload} was run, and no two contenders of a comparison were ranked: there is no verdict yet."
        )
    lines: list[str] = []
    before: PairHistory | None = None
    for row in found:
        if before is None or _work(row) != _work(before):
            lines += ["", *wrapped(_work(row))] if lines else wrapped(_work(row))
        lines += ["", *_row(row, before, found)]
        before = row
    entries = [entry for row in found for entry in row.entries]
    notes = ["* marks what changed from the line before."] if any(one.changed for one in entries) else []
    notes += [TEST] if any(one.ratio_change for one in entries) else []
    notes += (
        [STEPS] if any(sum(one.verdict.ratio is not None for one in row.entries) >= FEWEST for row in found) else []
    )
    return [*lines, *(["", *wrapped(" ".join(notes))] if notes else [])]


def _work(row: "PairHistory") -> str:
    """Return what was computed."""
    clipping = f", {row.clipping}" if row.clipping else ""
    return f"{row.workload}, {row.scenario}{clipping}, {row.size} size, batch {row.batch_size}, {row.data}"


def _pair(row: "PairHistory") -> str:
    """Return what the ratios are."""
    return f"{row.first} / {row.second}"


def _is_alike(row: "PairHistory", other: "PairHistory") -> bool:
    """Return whether two rows are of the same work and the same two contenders."""
    return _work(row) == _work(other) and {row.first, row.second} == {other.first, other.second}


def _machine(row: "PairHistory") -> str:
    """Return what a row's machine is, without how it was set, as a GPU's driver, which may change on it."""
    from bakeoff.judge.likeness import HARDWARE
    from bakeoff.report.words import machine_text

    return machine_text({fact: row.machine.get(fact) for fact in HARDWARE})


def _row(row: "PairHistory", before: "PairHistory | None", found: "list[PairHistory]") -> list[str]:
    """Return one pair on one machine: a line for each comparison, and under it what changed."""
    from bakeoff.report.past import level_of

    options, machine = _options(row, found), _machine(row)
    level = level_of(entry.verdict for entry in row.entries)
    head = f"{_pair(row)}{options} on {machine}; ratio{level}"
    is_again = before is not None and _is_alike(row, before)
    is_elsewhere = before is not None and (_machine(before) != machine or _options(before, found) == options)
    note = "Another machine, in a row of its own: its ratios do not go on from those above."
    lines = [*wrapped(head, INDENT, indent=INDENT * 2), *(wrapped(note, INDENT) if is_again and is_elsewhere else [])]
    for entry in row.entries:
        lines += _entry(entry, names_level=not level)
        lines += _steps(entry, row)
    return lines


def _steps(entry: "PastVerdict", row: "PairHistory") -> list[str]:
    """Return the step that begins with an entry, in lines; none where none does."""
    from bakeoff.report.past import step_text

    return [
        line for one in row.steps if one.comparison == entry.comparison for line in wrapped(step_text(one), INDENT * 4)
    ]


def _options(row: "PairHistory", found: "list[PairHistory]") -> str:
    """Return the options that tell a row from others of the same pair: ", threads=1"; empty where none does."""
    alike = [one for one in found if _is_alike(row, one)]
    names = dict.fromkeys(name for one in alike for each in one.options.values() for name in each)
    said = []
    for name in names:
        values = [{label: options.get(name, "") for label, options in one.options.items()} for one in alike]
        if all(each == values[0] for each in values):
            continue
        mine = {label: options.get(name, "") or "not said" for label, options in row.options.items()}
        same = len(set(mine.values())) == 1
        said += [f"{name}={next(iter(mine.values()))}"] if same else [f"{label} {name}={mine[label]}" for label in mine]
    return "".join(f", {one}" for one in said)


def _entry(entry: "PastVerdict", *, names_level: bool) -> list[str]:
    """Return one comparison's line, and what changed before it."""
    from bakeoff.report.past import change_text, verdict_text

    when = entry.created_at[:16].replace("T", " ")
    mark = "*" if entry.changed else " "
    verdict = verdict_text(entry.verdict, entry.margin, names_level=names_level)
    lines = columns([[mark, when, verdict, entry.comparison]], indent=INDENT)
    if not entry.changed and entry.ratio_change is None:
        said = ", ".join(f"{name} {version}" for name, version in {**entry.versions, "bakeoff": entry.bakeoff}.items())
        return lines + wrapped(said, INDENT * 4)
    changed = "; ".join(f"{name} {before} -> {after}" for name, (before, after) in entry.changed.items())
    return lines + [
        line for said in (changed, change_text(entry.ratio_change)) if said for line in wrapped(said, INDENT * 4)
    ]


def _data(row: "PairHistory") -> dict[str, Any]:
    """Return a row as an object."""
    import msgspec

    data: dict[str, Any] = msgspec.to_builtins(row)
    return data
