"""Verdicts: in sentences, faster, slower, practically equal or undecided, each with its interval; and pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.report.page import Line, Picture, Section, Subject, Table
from bakeoff.report.pictures.comparison import ratio_chart
from bakeoff.report.standings import (
    between,
    fastest,
    kind,
    leaders,
    ranked,
    ratio_parts,
    ratio_text,
    slower_first,
)
from bakeoff.report.units import count, duration, listed, percent, rounded
from bakeoff.stats.boundaries import LOOKS

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.verdict import Verdict

_GIVEN_UP = {
    "futility": "given up, because at this noise the rounds that are left would hardly decide",
    "budget": "the time budget has ended",
    "rounds": "all rounds that were asked for are done",
}

_ROUNDING = 1e-3
"""A ratio of means this little outside of an interval prints as its end: no rare long step, but rounding."""


def headline(outcome: Outcome) -> str:
    """Return the answer in a sentence."""
    labels = [contender.label for contender in ranked(outcome)]
    if not labels:
        return "No contender is ranked: none has both a passing certificate and a finished round."
    if len(labels) == 1:
        return f"Only {labels[0]} is ranked: there is nothing to compare it with."
    if all(kind(verdict) == "no verdict" for verdict in outcome.verdicts):
        rounds = max((verdict.rounds for verdict in outcome.verdicts), default=0)
        fewest = max((verdict.fewest for verdict in outcome.verdicts), default=0)
        return f"No verdict: {count(rounds, 'common round')}, and {fewest} are the fewest that can decide."
    winner = fastest(labels, outcome.verdicts)
    if winner is not None:
        return _wins(winner, [label for label in labels if label != winner], outcome)
    return _shared(outcome, labels)


def _wins(winner: str, others: list[str], outcome: Outcome) -> str:
    """Return the sentence that one contender is faster than every other."""
    margin = outcome.comparison.procedure.margin
    pairs = [pair for other in others if (pair := between(outcome.verdicts, other, winner))]
    than = others[0] if len(others) == 1 else "every other contender"
    return f"{winner} is faster than {than}: {listed(f'{pair.first} takes {_times(pair, margin)}' for pair in pairs)}."


def _shared(outcome: Outcome, labels: list[str]) -> str:
    """Return the sentence that several contenders may be the fastest, and why none of them is named."""
    front = leaders(labels, outcome.verdicts)
    kinds = {kind(verdict) for verdict in outcome.verdicts if {verdict.first, verdict.second} <= set(front)}
    within = f"practically equal (within {percent(outcome.comparison.procedure.margin)})"
    state = within if kinds == {"equal"} else "undecided" if kinds == {"undecided"} else "not all decided"
    rest = [label for label in labels if label not in front]
    start = f"{listed(front)} are {state}"
    if len(front) < 2:  # noqa: PLR2004 (two can share the lead)
        return "No contender is faster than every other; the sentences below say what is decided."
    if not rest:
        return f"{start}: no fastest is named." if state != within else f"{start}."
    slower = listed(f"{label} {_slower_than(label, front, outcome.verdicts)}" for label in rest)
    return f"{start}; {slower}."


def _slower_than(label: str, front: list[str], verdicts: list[Verdict]) -> str:
    """Return which of the leaders a contender is slower than."""
    faster = [other for other in front if (verdict := between(verdicts, label, other)) and kind(verdict) == "slower"]
    both = "both" if len(front) == 2 else "all of them"  # noqa: PLR2004 (the word for two)
    if faster == front:
        return f"is slower than {both}"
    return f"is slower than {listed(faster)}" if faster else "is slower than others"


def sentences(outcome: Outcome) -> list[str]:
    """Return what is known of every pair: first what is decided, then what is equal, then what is undecided.

    Where no pair has a verdict, the answer itself is all that there is to say before the interim ratios.
    """
    labels = [contender.label for contender in ranked(outcome)]
    pairs = _ordered(outcome.verdicts, labels)
    margin = outcome.comparison.procedure.margin
    early = [pair for pair in pairs if kind(pair) == "no verdict"]
    said = [headline(outcome)] if len(early) == len(pairs) else []
    said += [_decided([pair for pair in pairs if pair.first == label], margin) for label in labels]
    said += [_equal(pair, margin) for pair in pairs if kind(pair) == "equal"]
    said += [_undecided(pair, outcome) for pair in pairs if kind(pair) == "undecided"]
    said += [f"no verdict on {pair.first} and {pair.second}: {_after(pair, margin)}." for pair in early]
    return [sentence for sentence in said if sentence]


def _ordered(verdicts: list[Verdict], labels: list[str]) -> list[Verdict]:
    """Return every pair turned so that its ratio is at least 1, in the order of the table."""
    place = {label: index for index, label in enumerate(labels)}
    pairs = [slower_first(verdict) for verdict in verdicts]
    return sorted(pairs, key=lambda pair: (place.get(pair.first, 0), place.get(pair.second, 0)))


def _decided(pairs: list[Verdict], margin: float) -> str:
    """Return all that one contender is slower than, in a sentence; empty where there is none."""
    slower = [pair for pair in pairs if kind(pair) == "slower"]
    if not slower:
        return ""
    rounds = listed(dict.fromkeys(f"{pair.rounds}" for pair in slower))
    evidence = f"{_level(slower[0], ', ')}{rounds} {'round' if rounds == '1' else 'rounds'}"
    if len(slower) == 1:
        return f"{slower[0].first} is slower than {slower[0].second}: {_times(slower[0], margin)}; {evidence}."
    than = ", and ".join(f"than {pair.second}, {_times(pair, margin)}" for pair in slower)
    return f"{slower[0].first} is slower {than}: {evidence}."


def _level(pair: Verdict, end: str = "") -> str:
    """Return "95 % CI", what an interval is; empty where the boundaries gave it, and where there is none."""
    return f"{percent(pair.level)} CI{end}" if pair.level is not None and pair.low is not None else ""


def _times(pair: Verdict, margin: float) -> str:
    """Return "1.12 times as long [1.06, 1.19]"."""
    ratio, interval = ratio_parts(pair, margin)
    less = "; if it was close, expect less" if pair.level else ""
    caution = f" (may be under the {percent(margin)} margin{less})" if pair.under_margin else ""
    return f"{ratio} times as long {interval}".rstrip() + caution


def _equal(pair: Verdict, margin: float) -> str:
    """Return the sentence that a pair is equal within the margin."""
    equal = f"practically equal (within {percent(margin)})"
    evidence = f"ratio {ratio_text(pair, margin)}; {_level(pair, ', ')}{count(pair.rounds, 'round')}"
    return f"{pair.first} and {pair.second} are {equal}: {evidence}."


def _undecided(pair: Verdict, outcome: Outcome) -> str:
    """Return the sentence that a pair is undecided, why it was left so, and what would decide it."""
    parts = [f"{pair.first} and {pair.second} are undecided: {_after(pair, outcome.comparison.procedure.margin)}"]
    if pair.stopped:
        parts.append(_GIVEN_UP[pair.stopped])
    if pair.stopped != "futility" or pair.level is None:
        parts += _more(pair, outcome)
    return "; ".join(parts) + "."


def _after(pair: Verdict, margin: float) -> str:
    """Return "ratio 1.04 [0.99, 1.09] after 7 rounds"."""
    shown = f"{ratio_text(pair, margin)} {_level(pair)}".rstrip()
    told = f"ratio {shown} after {count(pair.rounds, 'round')}"
    is_clear = (
        pair.level is not None and pair.low is not None and pair.high is not None and not pair.low <= 1 <= pair.high
    )
    return f"{told}, an interval of this pair alone, which does not decide" if is_clear else told


def _more(pair: Verdict, outcome: Outcome) -> list[str]:
    """Return how many more rounds would be needed, and how to get them where the procedure allows that many."""
    command = f"{outcome.comparison.command or 'bakeoff run ...'} --resume"
    more = pair.more_rounds
    if more is None:
        return [] if pair.level is None else ["no coming look is likely to decide it"]
    needed = f"about {rounded(more) if more > LOOKS[-1] else more} more {'round' if more == 1 else 'rounds'}"
    if outcome.round_s is not None and pair.level is not None:
        needed += f", {duration(more * outcome.round_s)}"
    if pair.chance is not None:
        return [f"{needed}, would decide it with a chance of {percent(pair.chance)} ({command} --rounds {_look(pair)})"]
    needed += " would be needed"
    if outcome.comparison.procedure.aim == "until-sure":
        return [f"{needed} ({command})"]
    if pair.rounds + more > LOOKS[-1]:
        return [f"{needed}, beyond the {LOOKS[-1]} that the procedure allows"]
    return [f"{needed} ({command} --rounds {_look(pair)})"]


def _look(pair: Verdict) -> int:
    """Return the look that an undecided pair's coming rounds reach."""
    wanted = pair.rounds + (pair.more_rounds or 0)
    return next((look for look in LOOKS if look >= wanted), LOOKS[-1])


# --- Pair by pair -------------------------------------------------------------------------------------------------


def cautions(outcome: Outcome) -> list[str]:
    """Return what weakens verdicts: flagged blocks, wide intervals, means that disagree."""
    pairs = [slower_first(verdict) for verdict in outcome.verdicts]
    said = [sentence for pair in pairs for sentence in _doubts(pair)]
    return said + _without_turns([pair for pair in pairs if pair.flagged_blocks and pair.ratio_unflagged is None])


def _doubts(pair: Verdict) -> list[str]:
    """Return what weakens one verdict."""
    said = []
    name = f"{pair.first} over {pair.second}"
    ratio = "unknown" if pair.ratio is None else rounded(pair.ratio, 3)
    flagged = f"{pair.flagged_blocks} of {count(pair.blocks, 'block')} beside foreign load"
    if pair.ratio_unflagged is not None:
        said.append(f"{name}: {rounded(pair.ratio_unflagged, 3)} without the {flagged}, {ratio} with.")
    if pair.wide:
        why = {"budget": "the time budget has ended", "rounds": "all rounds are done"}.get(pair.stopped, "not finished")
        said.append(f"{name}: the direction is decided, but its size is known less narrowly than was asked for; {why}.")
    mean = pair.ratio_of_means
    outside = (
        mean is not None
        and pair.low is not None
        and pair.high is not None
        and not pair.low / (1 + _ROUNDING) <= mean <= pair.high * (1 + _ROUNDING)
    )
    if mean is not None and outside:
        said.append(
            f"{name}: the ratio of mean step times, {rounded(mean, 3)}, lies outside the interval of the ratio of "
            f"medians, {ratio}: one of them has rare long steps."
        )
    return said


def _without_turns(pairs: list[Verdict]) -> list[str]:
    """Return, of all such pairs at once, that foreign load has left nothing to compare."""
    if not pairs:
        return []
    names = "; ".join(f"{pair.first} over {pair.second}" for pair in pairs)
    blocks = sum(pair.flagged_blocks for pair in pairs), sum(pair.blocks for pair in pairs)
    flagged = f"{blocks[0]:,} of {blocks[1]:,} blocks beside foreign load"
    return [f"{names}: {flagged}, so that no turn is left for a ratio without them."]


def pair_table(outcome: Outcome) -> Table:
    """Return what the third picture shows."""
    heads = ["pair", "verdict", "ratio", "interval", "rounds", "of means", "flagged blocks", "without them"]
    margin = outcome.comparison.procedure.margin
    levels = {level for pair in outcome.verdicts if (level := _level(pair))}
    heads[3] = levels.pop() if len(levels) == 1 else heads[3]
    lines = []
    for pair in map(slower_first, outcome.verdicts):
        means, without = (rounded(ratio, 3) if ratio else "" for ratio in (pair.ratio_of_means, pair.ratio_unflagged))
        cells = [f"{pair.first} / {pair.second}", kind(pair), *ratio_parts(pair, margin), f"{pair.rounds}", means]
        lines.append(Line([*cells, f"{pair.flagged_blocks} of {pair.blocks}", without]))
    return Table(heads, lines, words=2)


def _pairs(outcome: Outcome) -> list[Section]:
    """Return the third picture, where there is something to draw."""
    if all(verdict.ratio is None for verdict in outcome.verdicts):
        return []
    picture = Picture(" ".join(sentences(outcome)), lambda: ratio_chart(outcome))
    return [Section(kind="page", picture=picture, tables=[pair_table(outcome)])]


def _data(outcome: Outcome) -> dict[str, object]:
    """Return what is known of each pair; below the first look its verdict is "no verdict"."""
    return {"verdicts": [msgspec.to_builtins(pair) | {"verdict": kind(pair)} for pair in outcome.verdicts]}


VERDICTS = Subject(sections=lambda outcome: [Section(words=sentences(outcome))], cautions=cautions, data=_data)
PAIRS = Subject(sections=_pairs)
