"""What a race with switches turned says of suspects: confirmed, refuted, or a hypothesis still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.judge.explanation import Cause, Gap, Unjudged
from bakeoff.judge.outcome import Outcome
from bakeoff.judge.suspects import predicted
from bakeoff.judge.switches import KINDS, acts_on
from bakeoff.spec.text import three_digits
from bakeoff.spec.verdict import Interval, between

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Row, Status, Suspect
    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.spec.verdict import Verdict


LEAST_PART = 0.5
"""Of what a switch can save at most, since less than that is usual: only where it surely saves less than half is its
suspect refuted."""

NEGLIGIBLE = 0.1
"""Of a saving: a control that has moved by less takes no confirmation away, since nine tenths of it would be left. An
interval of 95 % leaves out 0 by chance in one race of twenty."""

NOT_RUN, TOO_FEW = "the race that checks it was not run to its end", "too few rounds for an interval"
"""Why nothing is known of a suspect that could be raced: more time would tell."""

ROUNDING = 1e-6
"""A saving is beyond a prediction from this share on: shares of a step are rounded to whole ns of a trace."""


class SuspectRace(msgspec.Struct, frozen=True, kw_only=True):
    """The race that checks the suspects of one gap: both contenders again, and the slower one with switches turned."""

    outcome: Outcome
    first: str
    """The label of the faster one, in this race."""
    second: str
    labels: Mapping[str, str]
    """By switch, the label of the slower one with it turned; "" is the same contender once more."""
    gaps: Sequence[Gap]
    """Of the profiles that were made with it."""
    causes: Sequence[Cause] = ()
    unjudged: Sequence[Unjudged] = ()
    less_s: Mapping[str, Interval] = {}
    """By switch, how much less the turned one spends on all kinds of operations that the switch acts on, together, in
    the second profile."""
    comparison: str = ""
    """The folder."""

    def of(self, label: str) -> ContenderOutcome | None:
        """Return what is known of a contender; None where it did not race."""
        return next((one for one in self.outcome.contenders if one.label == label), None)


def judged(suspects: Sequence[Suspect], before: Gap, race: SuspectRace) -> list[Suspect]:
    """Return suspects with what the race says of them; `before` is the gap that they are about.

    Without a control nothing is confirmed, and where it has moved only what saves far more.
    """
    controls = [_measured(one, race) for one in suspects if one.is_control]
    found = []
    for suspect in suspects:
        one = _measured(suspect, race)
        status, reason = _of_control(one) if one.is_control else _status(one, before, race, controls)
        doubt = _doubt(one, controls) if status == "confirmed" else ""
        if doubt:
            status, reason = "hypothesis", f"{reason}; but {doubt}"
        found.append(msgspec.structs.replace(one, status=status, reason=reason))
    return found


def _doubt(suspect: Suspect, controls: Sequence[Suspect]) -> str:
    """Return why the race does not confirm a suspect, by its controls; empty where nothing speaks against it."""
    least_s = suspect.saved_s.low if suspect.saved_s else 0.0
    moved = next((c for c in controls if has_moved(c.saved_s) and _most_s(c) > NEGLIGIBLE * least_s), None)
    if moved is not None:
        return f"the control {_name(moved)} has moved: it {_says(moved.saved_s)}"
    return "" if any(one.saved_s for one in controls) else "no control was measured"


def _most_s(control: Suspect) -> float:
    """Return by how much a control may have changed the step time at most, in seconds."""
    return max(abs(control.saved_s.low), abs(control.saved_s.high)) if control.saved_s else 0.0


def _measured(suspect: Suspect, race: SuspectRace) -> Suspect:
    """Return a suspect with what its switch has saved, and its row in the second profile."""
    if not (suspect.switch or suspect.is_control):
        return suspect
    label = race.labels.get(suspect.switch, "")
    row, verdicts = _row_after(suspect.row, label, race), race.outcome.verdicts
    ratio, before = (_ratio(verdicts, race.first, one) for one in (label, race.second))
    return msgspec.structs.replace(
        suspect,
        comparison=race.comparison,
        saved_s=_saved_s(label, race),
        ratio=ratio,
        ratio_before=None if before is None else before.estimate,
        row_after_s=None if row is None else row.after_s,
        row_before_s=None if row is None else row.before_s,
    )


def _saved_s(label: str, race: SuspectRace) -> Interval | None:
    """Return by how much a switch shortens a step, by the rounds of one race; None without an interval."""
    slower = race.of(race.second)
    ratio = _ratio(race.outcome.verdicts, race.second, label)
    if ratio is None or slower is None or slower.median_step_s is None:
        return None
    step_s = slower.median_step_s
    estimate, low, high = (step_s * (1.0 - value) for value in (ratio.estimate, ratio.high, ratio.low))
    return Interval(estimate=estimate, low=low, high=high)


def _ratio(verdicts: Sequence[Verdict], one: str, other: str) -> Interval | None:
    """Return the step time of `other` over that of `one`; None where there is no interval."""
    pair = between(verdicts, other, one)
    if pair is None or pair.ratio is None or pair.low is None or pair.high is None:
        return None
    return Interval(estimate=pair.ratio, low=pair.low, high=pair.high)


class _RowAfter(NamedTuple):
    """A row in the second profile."""

    before_s: float
    """With nothing turned."""
    after_s: float
    """With the switch turned."""
    low: float
    """With `high`, the interval of how much smaller it is then, in seconds."""
    high: float


def _row_after(row: Row | None, label: str, race: SuspectRace) -> _RowAfter | None:
    """Return what a row takes with the switch turned, and without; None if unknown."""
    if row is None:
        return None
    for gap in race.gaps:
        if {gap.first, gap.second} != {label, race.second}:
            continue
        for one in gap.by_layer if row.kind is None else gap.by_kind:
            if one.place != row.place:
                continue
            if one.difference_s is None:
                return None
            low, high = one.difference_s.low, one.difference_s.high
            if gap.second == race.second:
                return _RowAfter(one.second_s, one.first_s, low, high)
            return _RowAfter(one.first_s, one.second_s, -high, -low)
    return None


def _of_control(control: Suspect) -> tuple[Status, str]:
    """Return what is said of the control: it is no suspect."""
    if control.saved_s is None:
        return "hypothesis", "the control has no interval"
    moved = has_moved(control.saved_s)
    return "hypothesis", f"{'it has moved' if moved else 'it has not moved'}: {_says(control.saved_s)}"


def has_moved(saved_s: Interval | None) -> bool:
    """Return whether a control has changed the step time: its interval leaves out 0."""
    return saved_s is not None and not saved_s.low <= 0.0 <= saved_s.high


def _status(one: Suspect, before: Gap, race: SuspectRace, controls: Sequence[Suspect]) -> tuple[Status, str]:
    """Return what the race says of one suspect, and why."""
    if not one.switch:
        return "hypothesis", one.reason
    lacks = _why_unknown(one, race)
    if lacks:
        return "hypothesis", lacks
    assert one.saved_s is not None
    if one.saved_s.low > 0.0:
        return _of_a_saving(one, before, race, controls)
    said = f"{one.switch} {_says(one.saved_s)}"
    most_s, most = (one.at_most_s, "what was predicted") if one.row is not None else (before.gap_s, "the gap")
    if one.saved_s.high >= LEAST_PART * most_s * _scale(before, race):
        return "hypothesis", f"{said}: that may be nothing, and half of {most} or more, too wide to tell"
    return "refuted", said


def _of_a_saving(one: Suspect, before: Gap, race: SuspectRace, controls: Sequence[Suspect]) -> tuple[Status, str]:
    """Return what is said of a switch that saves something: whether it saves what was named, and no more."""
    assert one.saved_s is not None
    said, most_s = f"{one.switch} {_says(one.saved_s)}", predicted(before, one.switch).high * _scale(before, race)
    if one.row is not None and one.saved_s.low > most_s * (1.0 + ROUNDING):
        return (
            "hypothesis",
            f"{said}, more than the {_ms(most_s)} that its rows explain: it changes something else, too",
        )
    if one.row is not None and one.saved_s.high < LEAST_PART * one.at_most_s * _scale(before, race):
        return "hypothesis", f"{said}, less than half of what was predicted: there is another cause, too"
    chance_s = max((_most_s(one) for one in controls), default=0.0)
    if one.saved_s.estimate <= chance_s:
        return "hypothesis", f"{said}, no more than a switch that should not matter"
    if one.row is None:
        return _of_counters(one, said, race)
    own_s = one.row.gap_s * _scale(before, race)
    return _of_a_row(one, one.row, min(own_s, one.saved_s.low), said, race)


def _of_a_row(one: Suspect, row: Row, own_s: float, said: str, race: SuspectRace) -> tuple[Status, str]:
    """Return what a second profile says of the row, of whose saving `own_s` is its own: a switch may act on others."""
    assert one.saved_s is not None
    after = _row_after(row, race.labels.get(one.switch, ""), race)
    if after is None:
        return "hypothesis", f"{said}; no second profile says whether the row is smaller"
    renamed = _why_renamed(one, row, race)
    if after.low > 0.0 and renamed:
        status: Status = "hypothesis" if _may_be_less(one, race) else "refuted"
        return status, f"{said}, and the row is smaller in a second profile, but {renamed}"
    if after.low > 0.0:
        said = f"{said}, and the row takes {_ms(after.after_s)} in a second profile, {_ms(after.before_s)} without it"
        return "confirmed", said
    if after.high < LEAST_PART * own_s:
        return "refuted", f"{said}, but the row is not smaller by half of its difference in a second profile"
    return "hypothesis", f"{said}, but a second profile does not tell whether the row is smaller"


def _why_renamed(one: Suspect, row: Row, race: SuspectRace) -> str:
    """Return why the row may be smaller in name alone: a switch may have other kinds of operations do its work.

    Empty where the switch acts on no other kind, on all of them, whose sum is the raced step, or where all kinds that
    it acts on surely take less together.
    """
    kinds = acts_on(one.switch)
    if kinds <= {row.kind} or kinds == KINDS:
        return ""
    less_s, named = race.less_s.get(one.switch), f"all that {one.switch} acts on"
    if less_s is None:
        return f"too few rounds tell whether {named} takes less together"
    if less_s.low > 0.0:
        return ""
    return f"{named} ({', '.join(sorted(kinds))}) takes {_less(less_s)} together: its work may have moved among them"


def _may_be_less(one: Suspect, race: SuspectRace) -> bool:
    """Return whether what a switch acts on may take as much less together as the step does."""
    less_s = race.less_s.get(one.switch)
    return less_s is None or one.saved_s is None or less_s.high >= one.saved_s.low


def _less(less_s: Interval) -> str:
    """Return how much less something takes, in words."""
    return f"{_ms(less_s.estimate)} ({_ms(less_s.low)} to {_ms(less_s.high)}) less"


def _of_counters(one: Suspect, said: str, race: SuspectRace) -> tuple[Status, str]:
    """Return what is said of a cause that is no operation, by the counters of the second race."""
    shown = {cause.label for cause in race.causes if cause.name == one.cause}
    for unjudged in race.unjudged:
        if one.cause in unjudged.names and unjudged.label in (race.second, race.labels.get(one.switch, "")):
            return "hypothesis", f"{said}, but nobody could look for {one.cause}: {unjudged.reason}"
    if race.second not in shown:
        return "hypothesis", f"{said}, but the counters of this race do not show {one.cause} without it"
    if race.labels.get(one.switch, "") in shown:
        return "refuted", f"{said}, but the counters show {one.cause} as before"
    return "confirmed", f"{said}, and the counters no longer show {one.cause}"


def _why_unknown(one: Suspect, race: SuspectRace) -> str:
    """Return why the race says nothing of a suspect; empty where it does."""
    label = race.labels.get(one.switch, "")
    raced = race.of(label)
    if raced is None:
        excluded = race.outcome.comparison.excluded.get(label, "")
        return f"{one.switch} could not be raced{f': {excluded}' if excluded else ''}"
    if raced.status == "pending":
        return NOT_RUN
    if raced.status != "ranked":
        return f"{one.switch} was not ranked: {raced.reason or raced.status}"
    return TOO_FEW if one.saved_s is None else ""


def _scale(before: Gap, race: SuspectRace) -> float:
    """Return the slower contender's step time in this race over that in the one before, on which predictions rest."""
    slower = race.of(race.second)
    if slower is None or slower.median_step_s is None or before.second_s <= 0.0:
        return 1.0
    return slower.median_step_s / before.second_s


def _name(control: Suspect) -> str:
    """Return the control's switch in words."""
    return control.switch or control.cause


def _says(saved_s: Interval | None) -> str:
    """Return what a switch saves, in words."""
    if saved_s is None:
        return "has no interval"
    return f"saves {_ms(saved_s.estimate)} ({_ms(saved_s.low)} to {_ms(saved_s.high)}) of a step"


def _ms(seconds: float) -> str:
    """Write a time in ms with three digits."""
    return f"{three_digits(seconds * 1e3)} ms"
