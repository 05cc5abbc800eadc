"""What training does to the cost of a step: late blocks beside early ones, and denormal numbers in both states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.judge.late import LATE_STEPS, LONGEST_S, late_step
from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.standings import bounds, ranked
from bakeoff.report.units import carried, duration, listed, percent, unit_for
from bakeoff.report.words import earlier
from bakeoff.spec.scenario import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.judge.late import Late
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.verdict import Interval

FOLD = "Early and late in training"

OWN = ("parameters", "gradients")
"""Groups of arrays that are the model's; all others are the optimiser's."""

_NOTE = (
    "One fresh process a contender: its state of training is saved early, where the race's blocks begin, and late; "
    "blocks run from both in neighbouring pairs, each from the very same state. The interval is over the pairs of this "
    "one process. A denormal number is too near to zero for a full fraction: many processors are slow with them."
)


def sentences(outcome: Outcome) -> list[str]:
    """Return whose step costs another time late in training, and which arrays have become denormal."""
    margin = outcome.comparison.procedure.margin
    return [_sentence(one, one.late, outcome) for one in ranked(outcome) if one.late and one.late.differs(margin)]


def _sentence(one: ContenderOutcome, late: Late, outcome: Outcome) -> str:
    """Return the finding of one contender."""
    assert late.ratio is not None
    is_slower = late.ratio.estimate > 1.0
    ends = [late.ratio.estimate, late.ratio.low, late.ratio.high]
    if not is_slower:
        ends = [1.0 / late.ratio.estimate, 1.0 / late.ratio.high, 1.0 / late.ratio.low]
    times, low, high = carried(*ends, apart_from=(1.0,))
    later = f"step {late.late_step:,} of training"
    long, short = (later, f"step {late.early_step:,}") if is_slower else (f"step {late.early_step:,}", later)
    said = f"{one.label}: {long} takes {times}x as long as {short} (95 % CI {low} to {high}, one process)"
    held = late.denormal() if is_slower else {}
    if not held:
        return f"{said}."
    shares = listed([f"{percent(share)} of {_array(name, outcome)}" for name, share in held.items()])
    return f"{said}: by then {shares} is denormal{_remedy(one, held)}."


def _array(name: str, outcome: Outcome) -> str:
    """Return a group of arrays in words: "Adam's first moment"."""
    return f"its {name}" if name in OWN else f"{type(outcome.comparison.workload.optimizer).__name__}'s {name}"


def _remedy(one: ContenderOutcome, held: Iterable[str]) -> str:
    """Return what the option would do, where the contender has it, keeps such numbers, and its optimiser holds them."""
    options = one.plan.contender.options
    can = "denormals" in options and options.get("device") == "cpu" and one.settings.get("denormals") == "kept"
    return "; the option denormals=flush sets such numbers to zero" if can and set(held) - set(OWN) else ""


def why_not(outcome: Outcome) -> str:
    """Return why nothing was measured; empty where something was, and where nothing is known of the reason."""
    contenders = ranked(outcome)
    if not SCENARIOS[outcome.comparison.scenario].trains or not contenders or any(one.late for one in contenders):
        return ""
    if all(late_step(one.median_step_s) is None for one in contenders if one.median_step_s):
        slow = f"{LATE_STEPS[-1]} steps take more than {LONGEST_S:g} s"
        return f"Late steps of training were not measured: {slow}."
    if outcome.comparison.procedure.budget_s is not None:
        spent = "the time budget was spent, or the comparison was made before bakeoff measured them"
        return f"Late steps of training were not measured: {spent}."
    return ""


def late_table(outcome: Outcome) -> Table:
    """Return both step times of each contender, their ratio, and the shares of denormal numbers, early to late."""
    known = [(one, one.late) for one in ranked(outcome) if one.late]
    groups = list(dict.fromkeys(name for _, late in known for name in (*late.early, *late.late)))
    unit = unit_for([late.early_s for _, late in known])
    lines = []
    for one, late in known:
        ratio = late.ratio
        cells = [f"{late.early_step:,} and {late.late_step:,}"]
        cells += [duration(late.early_s, unit), duration(late.late_s, unit)]
        cells += _ratio(ratio) if ratio else ["", ""]
        cells += [_shares(late, name) for name in groups]
        lines.append(Line([one.label, *cells], marked=late.differs(outcome.comparison.procedure.margin)))
    when = ["early", "late"]
    return Table(
        ["contender", "steps", *when, "late / early", "95 % CI", *(f"denormal: {name}" for name in groups)], lines
    )


def _ratio(ratio: Interval) -> list[str]:
    """Return a ratio and its interval, no bound of which is rounded onto 1 or across it."""
    estimate, low, high = carried(ratio.estimate, ratio.low, ratio.high, apart_from=(1.0,))
    return [estimate, f"{low} to {high}"]


def _shares(late: Late, name: str) -> str:
    """Return the shares of a group early and late."""
    return " to ".join(
        "?" if one is None else f"{100 * one.share:.1f}%" for one in (late.early.get(name), late.late.get(name))
    )


def _sections(outcome: Outcome) -> list[Section]:
    """Return the sentences where it matters, and the fold with all of it."""
    said, table, reason = sentences(outcome), late_table(outcome), why_not(outcome)
    found = [Section(words=said)] if said else []
    if table.lines or reason:
        notes = [reason or _NOTE, *_made_before(outcome)]
        found.append(Section(kind="fold", title=FOLD, notes=notes, tables=[table] if table.lines else []))
    return found


def _made_before(outcome: Outcome) -> list[str]:
    """Return whose reading was made in an earlier comparison, and when."""
    known = [(one.label, one.late) for one in ranked(outcome) if one.late]
    before = earlier([(label, late.measured_at, late.comparison) for label, late in known], outcome)
    return [f"Measured before: {before}."] if before else []


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return what training does to a contender's steps."""
    known = contender.late
    if known is None:
        return {"late": None}
    fields: dict[str, Any] = msgspec.to_builtins(known)
    fields["ratio"] = known.ratio.estimate if known.ratio else None
    return {"late": fields | {"ratio_interval": bounds(known.ratio)}}


LATE = Subject(sections=_sections, fields=_fields)
