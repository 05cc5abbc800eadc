"""`bakeoff diff`: two comparisons side by side, with what of them is comparable."""

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bakeoff.cli import parameters
from bakeoff.cli.columns import columns, wrapped
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import UsageError
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from bakeoff.judge.difference import Changed, ComparedStepTimes, Difference
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.verdict import Interval

VERSION = 1
"""Of the JSON object (docs/json-diff.md)."""

INDENT = "  "

_COMPARABLE = {
    "times": "The same work on the same machine: step times and ratios are comparable.",
    "ratios": "The same work on another machine: ratios are comparable with care, step times are not.",
    "nothing": "Nothing is comparable.",
}

_NOBODY = "Nothing is comparable: no contender is in both with the same options."


def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A comparison by its id, its end, or its folder.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The other, which is held against A.")],
    *,
    results: parameters.Results = "results",
    json: parameters.Json = False,
) -> None:
    """Show two comparisons side by side: what changed in what was run, in step times and in ratios, and how surely."""
    from bakeoff.judge.difference import difference
    from bakeoff.store.absurd import told_if_absurd

    with told_if_absurd():
        first, second = (_judged(Path(results), name) for name in (before, after))
        found = difference(first, second)
        if json:
            typer.echo(dumps(_data(first, second, found), indent=2))
            return
        for line in _lines(first, second, found):
            typer.echo(plain(pasteable(line)))


def _judged(results: Path, name: str) -> "Outcome":
    """Return a comparison, judged; raise UsageError for a study."""
    from bakeoff.judge.comparison import judge_comparison
    from bakeoff.store.results import find, is_study

    folder = find(results, name)
    if is_study(folder):
        msg = f"{folder.name} is a study: name one of its comparisons, which lie in {folder}"
        raise UsageError(msg)
    return judge_comparison(folder)


def _lines(first: "Outcome", second: "Outcome", found: "Difference") -> list[str]:
    """Return what is printed: what is compared, how far it is comparable, what changed, times and ratios."""
    from bakeoff.report.past import TEST, level_of

    lines = [
        *columns([[mark, *_named(one)] for mark, one in (("A", first), ("B", second))]),
        "",
        *wrapped(_COMPARABLE[found.comparable] if found.steps or found.comparable == "nothing" else _NOBODY),
        *[line for reason in found.reasons for line in wrapped(reason)],
        "",
        *_changed(found),
    ]
    lines += _apart(found)
    if found.comparable == "nothing":
        return lines
    if found.steps:
        lines += ["", "Step times (95 % CI)", *_times(found)]
    if found.pairs:
        level = level_of(one for pair in found.pairs for one in (pair.before, pair.after))
        lines += ["", f"Ratios{level}", *_ratios(first, second, found), "", *wrapped(TEST)]
    return lines


def _apart(found: "Difference") -> list[str]:
    """Return which contenders have none beside them: they are not there, or have other options."""
    alike = [label for label in found.only_before if label in found.only_after]
    lines: list[str] = []
    if alike:
        lines += ["", *wrapped(f"Other options, so not held against each other: {', '.join(alike)}.")]
    for labels, name in ((found.only_before, "A"), (found.only_after, "B")):
        if only := [label for label in labels if label not in alike]:
            lines += ["", *wrapped(f"Only in {name}: {', '.join(only)}.")]
    return lines


def _named(outcome: "Outcome") -> list[str]:
    """Return a comparison's id, when and on what it was made, and of what."""
    from bakeoff.report.pages.comparison import work
    from bakeoff.report.words import machine_name

    comparison = outcome.comparison
    when = comparison.created_at[:16].replace("T", " ")
    return [comparison.id, f"{when}, {work(outcome)}, on {machine_name(outcome)}, bakeoff {comparison.bakeoff}"]


def _changed(found: "Difference") -> list[str]:
    """Return what differs, by what it is about."""
    if not found.changed:
        return ["Nothing changed in what was run."]
    lines = ["What changed, from A to B"]
    groups: dict[str, list[Changed]] = {}
    for one in found.changed:
        groups.setdefault(one.contender or one.subject, []).append(one)
    for name, changed in groups.items():
        lines += wrapped("; ".join(_of_one(changed)), f"{INDENT}{name}: ", indent=INDENT * 2)
    return lines


def _of_one(changed: "list[Changed]") -> list[str]:
    """Return what differs in one thing, and what only one comparison tells: older ones tell less."""
    both = [one for one in changed if one.before is not None and one.after is not None]
    said = [f"{one.name} {_value(one.name, one.before)} -> {_value(one.name, one.after)}" for one in both]
    only_a = [f"{one.name} {_value(one.name, one.before)}" for one in changed if one.after is None]
    only_b = [f"{one.name} {_value(one.name, one.after)}" for one in changed if one.before is None]
    said += [f"told only in A: {', '.join(only_a)}"] if only_a else []
    return said + ([f"told only in B: {', '.join(only_b)}"] if only_b else [])


def _value(name: str, value: object) -> str:
    """Return a value as text, with its unit."""
    from bakeoff.report.units import size

    if value in (None, ""):
        return "none"
    return size(value) if name.endswith("_bytes") and isinstance(value, int) else str(value)


def _times(found: "Difference") -> list[str]:
    """Return each contender's step time in both, and whether it changed."""
    from bakeoff.report.past import change_text

    lines: list[str] = []
    for one in found.steps:
        lines += columns([[_label(one), f"{_step(one.before_s)} -> {_step(one.after_s)}"]], indent=INDENT)
        lines += wrapped(change_text(one.change), INDENT * 3) if one.change else []
    return lines


def _label(one: "ComparedStepTimes") -> str:
    """Return a contender's name in both."""
    return one.before_label if one.before_label == one.after_label else f"{one.before_label} -> {one.after_label}"


def _step(interval: "Interval | None") -> str:
    """Return a step time with its interval."""
    from bakeoff.report.units import quantity, unit_for

    if interval is None:
        return "not known"
    unit = unit_for([interval.low])
    digits = quantity(interval, unit)
    return f"{digits.estimate} {unit.name} ({digits.low} to {digits.high})"


def _ratios(first: "Outcome", second: "Outcome", found: "Difference") -> list[str]:
    """Return each pair's ratio in both, and whether it changed."""
    from bakeoff.report.past import change_text, level_of, verdict_text

    names_level = not level_of(one for pair in found.pairs for one in (pair.before, pair.after))

    lines: list[str] = []
    for pair in found.pairs:
        before = verdict_text(pair.before, first.comparison.procedure.margin, names_level=names_level)
        after = verdict_text(pair.after, second.comparison.procedure.margin, names_level=names_level)
        lines += columns([[f"{pair.before.first} / {pair.before.second}", f"{before} -> {after}"]], indent=INDENT)
        lines += wrapped(change_text(pair.change), INDENT * 3) if pair.change else []
    return lines


def _data(first: "Outcome", second: "Outcome", found: "Difference") -> dict[str, Any]:
    """Return the JSON object."""
    import msgspec

    sides = {
        name: {
            "id": one.comparison.id,
            "path": one.path,
            "created_at": one.comparison.created_at,
            "bakeoff": one.comparison.bakeoff,
            "rules": one.comparison.procedure.rules,
        }
        for name, one in (("before", first), ("after", second))
    }
    return {"version": VERSION, **sides, **msgspec.to_builtins(found)}
