"""Suspects and what a race with their switch turned said of them; causes that are no operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.checked import NOT_RUN, TOO_FEW, has_moved
from bakeoff.judge.explain_again import explaining_command
from bakeoff.report.gaps import adjective, before_s, named, scale_of
from bakeoff.report.page import Line, Section, Table
from bakeoff.report.units import listed, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.explanation import Explanation, Suspect, Unjudged
    from bakeoff.report.gaps import TimeFormat

_NOTE = (
    "Control: a switch that should not matter. Predicted: the differences of all parts that the switch acts on, the "
    "most that it should save; each has an interval. Confirmed: the switch surely saves time, not more than these "
    "intervals allow and more than the control, and the part shrinks in a second profile. Refuted: it surely saves "
    "less than half of what was predicted, or not by this part. Hypothesis: no switch turns it, no race was run, or "
    "the race does not tell."
)


def suspects(explanation: Explanation) -> list[Section]:
    """Return what was raced, and what stays a hypothesis."""
    if not explanation.suspects or not explanation.gaps:
        return []
    scale = scale_of(explanation.gaps)
    unit = scale.unit.name
    heads = ["suspect", "switch", "status", f"predicted, {unit}", f"saved, {unit} (95 % CI)", "gap with it"]
    rows = [_line(one, scale) for one in explanation.suspects]
    table = _without_empty(Table([*heads, f"part, {unit}"], rows, words=3))
    places = dict.fromkeys(one.comparison for one in explanation.suspects if one.comparison)
    words = [*_reasons(explanation.suspects), *([f"Raced in {listed(places)}."] if places else [])]
    words += _to_go_on(explanation)
    return [Section(title="Checked by a race", tables=[table], notes=[_NOTE]), Section(words=words)]


def _to_go_on(explanation: Explanation) -> list[str]:
    """Return what to type where suspects lack rounds."""
    if all(one.reason not in (NOT_RUN, TOO_FEW) for one in explanation.suspects):
        return []
    command = explaining_command(explanation.outcome.comparison, explanation.outcome.path)
    return [f"Suspects lack rounds; this races them to their end, or for as long as --budget TIME says: {command}"]


def _without_empty(table: Table) -> Table:
    """Return a table without the columns of figures that nobody has: before a race there are none."""
    kept = [
        place
        for place, _ in enumerate(table.heads)
        if place < table.words or any(line.cells[place] for line in table.lines)
    ]
    lines = [Line([line.cells[place] for place in kept], marked=line.marked) for line in table.lines]
    return Table([table.heads[place] for place in kept], lines, words=table.words)


def cautions(explanation: Explanation) -> list[str]:
    """Return which controls have changed a step: then others may have changed it by the same way."""
    return [
        f"{one.label}: the control ({one.switch or one.cause}) has changed the step time, which it should "
        "not: nothing of its race is confirmed that saves less than ten times as much."
        for one in explanation.suspects
        if one.is_control and has_moved(one.saved_s)
    ]


def _status(suspect: Suspect) -> str:
    """Return a suspect's status; of a control, whether it did what it should: nothing."""
    if not suspect.is_control:
        return suspect.status
    if suspect.saved_s is None:
        return "control"
    return "control: moved" if has_moved(suspect.saved_s) else "control: unmoved"


def _line(suspect: Suspect, scale: TimeFormat) -> Line:
    """Return one suspect; an empty cell was not raced."""
    saved, ratio, part = suspect.saved_s, suspect.ratio, ""
    raced = f"{scale.text(saved.estimate)} ({scale.text(saved.low)} to {scale.text(saved.high)})" if saved else ""
    before = before_s(suspect)
    if before is not None and suspect.row_after_s is not None:
        part = f"{scale.text(before)}, then {scale.text(suspect.row_after_s)}"
    most = scale.text(suspect.at_most_s) if suspect.at_most_s else ""
    cells = [_what(suspect), suspect.switch or "none", _status(suspect), most, raced]
    cells += [f"{rounded(ratio.estimate, 3)}x" if ratio else "", part]
    return Line(cells, marked=suspect.status == "confirmed" and not suspect.is_control)


def _reasons(suspects: Sequence[Suspect]) -> list[str]:
    """Return why suspects have their status, once for all that have one reason: "jax, host dispatch (a=b): why."."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for one in suspects:
        if one.reason:
            about = adjective(one.row) if one.row is not None else one.cause
            found.setdefault((one.label, one.switch, one.reason.rstrip(".")), []).append(about)
    said = []
    for (label, switch, reason), abouts in found.items():
        what = ", ".join(filter(None, [label, listed(filter(None, abouts))]))
        said.append(f"{what}{f' ({switch})' if switch else ''}: {reason}.")
    return said


def _what(suspect: Suspect) -> str:
    """Return whose part or cause it is."""
    about = named(suspect.row) if suspect.row is not None else suspect.cause
    return f"{suspect.label}: {about}" if about else suspect.label


def causes(explanation: Explanation) -> list[Section]:
    """Return what costs time and is no operation: what a gap may be from, what both sides have, what was not seen."""
    apart = [one for one in explanation.causes if one.against or not explanation.gaps]
    lines = [Line([one.label, one.name, one.said.removeprefix(f"{one.label}: ")]) for one in apart]
    table = Table(["contender", "cause", "what the counters say"], lines, words=3, keys=2)
    words = [*_in_no_gap(explanation), *map(_not_looked_for, explanation.unjudged)]
    title = "Causes beside operations"
    if lines:
        return [Section(title=title, tables=[table]), *([Section(words=words)] if words else [])]
    return [Section(title=title, words=words)] if words else []


def _in_no_gap(explanation: Explanation) -> list[str]:
    """Return the causes that explain no gap, in a sentence for each reason."""
    found: dict[str, list[str]] = {}
    for one in explanation.causes:
        if explanation.gaps and not one.against:
            found.setdefault(_why_in_none(explanation, one.label), []).append(one.said.rstrip("."))
    return [f"Seen too, and no cause of a gap, since {why}: {'; '.join(said)}." for why, said in found.items()]


def _why_in_none(explanation: Explanation, label: str) -> str:
    """Return why a cause that a contender has explains none of its gaps."""
    if any(gap.second == label for gap in explanation.gaps):
        return "every faster contender has it, too, and at least half as much"
    if any(gap.first == label for gap in explanation.gaps):
        return "no contender with a profile is faster"
    if any(one.label == label and one.rounds for one in explanation.profiles):
        return "it is held against no other contender"
    return "there is no profile of it"


def _not_looked_for(one: Unjudged) -> str:
    """Return which causes were not looked for in a contender, and why."""
    return f"{one.label}: {listed(one.names)} were not looked for: {one.reason}."
