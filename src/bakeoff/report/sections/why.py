"""The answer of an explanation in sentences: what the gap is spent on, what a race said of it, what stays open."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.report.gaps import (
    adjective,
    before_s,
    by_size,
    in_words,
    known_parts,
    leading_parts,
    main_gap,
    other_gaps,
    paired,
    raced_ratio,
    scale_of,
    spent,
    suspect_of,
    suspects_of,
    verdict_of,
)
from bakeoff.report.standings import kind, times_text
from bakeoff.report.units import listed, rounded
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.explanation import Explanation, Gap, Row, Suspect
    from bakeoff.report.gaps import TimeFormat

MOST_NAMED = 3
"""Parts of a gap in one sentence: more are read in the table."""

_FALLS = "the gap falls"


def headline(explanation: Explanation) -> str:
    """Return the answer in a sentence: where the time goes, and whether a race confirms it."""
    gap = main_gap(explanation)
    if gap is None:
        return f"Nothing is explained: {_no_pair(explanation)}."
    return _cause(explanation, gap)


def sentences(explanation: Explanation) -> list[str]:
    """Return what else is known of the main gap: its parts, where they lie, what switches have saved."""
    gap = main_gap(explanation)
    return [] if gap is None else _about(explanation, gap)


def of_others(explanation: Explanation) -> list[str]:
    """Return the answer and what else is known of every other pair, the widest gap first."""
    found = []
    for gap in other_gaps(explanation):
        found += [_cause(explanation, gap), *_about(explanation, gap)]
    return found


def _no_pair(explanation: Explanation) -> str:
    """Return why no two contenders could be held against each other."""
    known = [one.label for one in explanation.profiles if one.level != "none"]
    if not known:
        return "no contender has a profile"
    if len(known) == 1:
        return f"{known[0]} alone has a profile, and a gap has two sides"
    return f"of {listed(known)} no two were {paired(explanation)}"


def _cause(explanation: Explanation, gap: Gap) -> str:
    """Return what a gap is spent on with what was raced of it; or that nothing can be named."""
    verdict = verdict_of(explanation, gap)
    state = kind(verdict) if verdict else "no verdict"
    parts = [row for row in leading_parts(gap) if state != "slower" or row.gap_s > 0]
    own = suspect_of(explanation, gap, parts[0]) if parts else None
    confirmed = [one for one in suspects_of(explanation, gap) if one.status == "confirmed" and one.ratio]
    other = max(confirmed, key=lambda one: one.saved_s.estimate if one.saved_s else 0.0, default=None)
    if own is not None and own.status == "confirmed":
        other = None
    checked = _checked(explanation, gap, other or own, is_named=other is None)
    if not parts:
        return f"{_longer(explanation, gap)}; {checked}." if other else _unnamed(explanation, gap, state)
    status = f": {_status(own)}" if other else ""
    said = f"{_spends(gap, parts[0], scale_of([gap]))}{status}; {checked}."
    return said if state == "slower" else f"{_whole(gap, state)}; {said}"


def _status(suspect: Suspect | None) -> str:
    """Return what is known of a suspect in one word; a hypothesis without one."""
    return "a hypothesis" if suspect is None or suspect.status == "hypothesis" else suspect.status


def _whole(gap: Gap, state: str) -> str:
    """Return what the race says of two contenders, of which the one with the longer step is not slower."""
    if state == "equal":
        return f"{gap.first} and {gap.second} are practically equal"
    if state == "faster":
        return f"{gap.second} has won the race against {gap.first}, although its median step is longer"
    return f"The race of {gap.first} and {gap.second} {'is undecided' if state == 'undecided' else 'has no verdict'}"


def _spends(gap: Gap, row: Row, scale: TimeFormat) -> str:
    """Return what both spend on a part: "jax spends 4.6 of its 32.7 ms on data movement, torch 0.2 of its 25.0"."""
    first, second = (gap.first, row.first_s, gap.first_s), (gap.second, row.second_s, gap.second_s)
    long, short = (second, first) if row.gap_s > 0 else (first, second)
    whole = f"{scale.text(long[1])} of its {scale.text(long[2])} {scale.unit.name}"
    return f"{long[0]} spends {whole} {spent(row)}, {short[0]} {scale.text(short[1])} of its {scale.text(short[2])}"


def _unnamed(explanation: Explanation, gap: Gap, state: str) -> str:
    """Return that no part of a gap is more than chance, and what the race says of the whole."""
    parts = f"of {count(len(gap.by_kind), 'part')} of their steps none is told apart"
    if known_parts(gap):
        parts = f"what is told apart of their steps is shorter in {gap.second}"
    elif not any(row.difference_s for row in gap.by_kind):
        raced = [one for one in explanation.outcome.contenders if one.label in (gap.first, gap.second)]
        what = "traced" if all(one.step_s for one in raced) else "raced"
        parts = f"too few rounds were {what} to tell any part of their steps apart"
    if state == "slower":
        return f"{_longer(explanation, gap)}, and it is not known why: {parts}."
    return f"{_whole(gap, state)}, and {parts}."


def _longer(explanation: Explanation, gap: Gap) -> str:
    """Return how many times as long the second's step takes: "b's step takes 1.31x a's (95 % CI 1.28 to 1.34)"."""
    margin = explanation.outcome.comparison.procedure.margin
    verdict = verdict_of(explanation, gap)
    whose = f"{gap.first}'s"
    known = times_text(verdict, margin, whose) if verdict and verdict.ratio else ""
    return f"{gap.second}'s step takes {known or f'{raced_ratio(explanation, gap)} {whose}'}"


def _checked(explanation: Explanation, gap: Gap, suspect: Suspect | None, *, is_named: bool) -> str:
    """Return what a race said of a suspect, in a clause that ends with its status; `is_named`: the sentence has it."""
    if suspect is None:
        return "no race has checked it: a hypothesis"
    status = _status(suspect)
    if not suspect.switch:
        return f"no switch turns it: {status}"
    switch = turned(suspect, gap)
    if suspect.ratio is None:
        how = "was raced without an answer" if suspect.comparison else "has not been raced"
        return f"{switch} {how}: {status}"
    about = "" if is_named else f" ({adjective(suspect.row) if suspect.row else suspect.cause})"
    # Of the same race, in which the gap may be another than in the race that is explained.
    before = f"{rounded(suspect.ratio_before, 3)}x" if suspect.ratio_before else raced_ratio(explanation, gap)
    moved = _moved(before, suspect.ratio.estimate)
    return f"in a race with {switch}{about} {moved}{_but(suspect, moved)}: {status}"


def _but(suspect: Suspect, moved: str) -> str:
    """Return why a gap that may have fallen confirms nothing; empty where what is said of it speaks for itself."""
    if suspect.status == "hypothesis":
        return ", which does not settle it"
    if suspect.status == "confirmed" or not moved.startswith(_FALLS):
        return ""
    if suspect.saved_s is not None and suspect.saved_s.low > 0.0:
        return f", but not by this {'part' if suspect.row is not None else 'cause'}"
    return ", less than half as far as predicted" if suspect.row is not None else ", by less than half"


def _moved(before: str, after: float) -> str:
    """Return how a gap has changed; "before" is as it is shown, so that what reads the same is called the same."""
    now = f"{rounded(after, 3)}x"
    if now == before:
        return f"the gap stays at {before}"
    how = _FALLS if after < float(before.rstrip("x").replace(",", "")) else "the gap grows"
    return f"{how} from {before} to {now}"


def turned(suspect: Suspect, gap: Gap) -> str:
    """Return the switch, with whose it is unless it is the slower one's."""
    return suspect.switch if suspect.label == gap.second else f"{suspect.switch} in {suspect.label}"


def _about(explanation: Explanation, gap: Gap) -> list[str]:
    """Return the parts of one gap, where in the model they lie, and what switches have saved; nothing of chance."""
    scale = scale_of([gap])
    found = [_parts(explanation, gap, scale)] if leading_parts(gap) else []
    found += [_layers(gap, scale)] if _known_layers(gap) else []
    confirmed: dict[str, list[Suspect]] = {}
    for one in suspects_of(explanation, gap):
        if one.status == "confirmed" and one.saved_s is not None:
            confirmed.setdefault(turned(one, gap), []).append(one)
    return [*found, *(_saved(same, gap, scale) for same in confirmed.values())]


def _parts(explanation: Explanation, gap: Gap, scale: TimeFormat) -> str:
    """Return how far apart two contenders are, and by which kinds of operations."""
    shown = known_parts(gap)[:MOST_NAMED]
    if not shown:
        apart = f"of {count(len(gap.by_kind), 'kind')} of operations none is told apart"
        return f"{_longer(explanation, gap)}, {scale.difference(gap.gap_s)}; {apart}."
    more = [row for row in gap.by_kind if row not in shown]
    rest_s = math.fsum(row.gap_s for row in more)
    rest = f"; all else together {scale.difference(rest_s)}" if scale.signed(rest_s) != scale.text(0.0) else ""
    parts = listed(in_words(row, scale) for row in shown)
    return f"{_longer(explanation, gap)}, {scale.difference(gap.gap_s)}: {parts}{rest}."


def _known_layers(gap: Gap) -> list[Row]:
    """Return the layers of which `told_apart` is true, the largest difference first."""
    return [row for row in by_size(gap.by_layer) if row.told_apart and row.layer]


def _layers(gap: Gap, scale: TimeFormat) -> str:
    """Return where in the model the largest differences lie that are more than chance."""
    known = _known_layers(gap)
    said = [in_words(row, scale) for row in known[:MOST_NAMED]]
    said += [count(len(known) - MOST_NAMED, "more place")] if len(known) > MOST_NAMED else []
    return f"In the model, {gap.second} differs from {gap.first} most in {listed(said)}."


def _saved(same: Sequence[Suspect], gap: Gap, scale: TimeFormat) -> str:
    """Return what a switch has saved beside what was predicted, and how each part that it is confirmed for changed."""
    one, unit = same[0], scale.unit.name
    saved = one.saved_s
    assert saved is not None
    ends = f"{scale.text(saved.low)} to {scale.text(saved.high)}"
    most = f", predicted {scale.text(one.at_most_s)}" if one.at_most_s else ""
    said = f"{turned(one, gap)} saves {one.label} {scale.text(saved.estimate)} {unit} a step ({ends}{most})"
    ways = [
        f"its {adjective(each.row)} goes from {scale.text(before)} to {scale.text(each.row_after_s)} {unit}"
        for each in same
        if each.row is not None and each.row_after_s is not None and (before := before_s(each)) is not None
    ]
    return f"{listed([said, *ways])}: confirmed."
