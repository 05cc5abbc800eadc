"""Verdicts: in sentences, faster, slower, practically equal or undecided, each with its interval; and pair by pair."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import msgspec

from bakeoff.report.page import Line, Picture, Section, Subject, Table, with_command
from bakeoff.report.pictures.comparison import ratio_chart
from bakeoff.report.sections import scaling
from bakeoff.report.standings import (
    fastest,
    is_disturbed,
    kind,
    leaders,
    ranked,
    ratio_parts,
    ratio_with_level,
    slower_first,
    step_parts,
    step_unit,
    throughput_parts,
    times_text,
)
from bakeoff.report.units import duration, listed, percent, rounded
from bakeoff.spec.text import count
from bakeoff.spec.verdict import between
from bakeoff.stats.boundaries import LOOKS
from bakeoff.stats.size import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.verdict import Verdict

_GIVEN_UP = {
    "futility": "given up, because at this noise the rounds that are left would hardly decide",
    "budget": "the time budget has ended",
    "rounds": "all rounds that were asked for are done",
}


_UNRANKED = {
    "uncertified": "without a passing certificate",
    "refused": "refused",
    "failed": "without a finished round",
    "pending": "not begun",
}
"""What becomes of a contender that has no rank, in the order in which it is told."""


def headline(outcome: Outcome) -> str:
    """Return the answer in a sentence."""
    labels = [contender.label for contender in ranked(outcome)]
    if not labels:
        return f"No contender is ranked{_unranked(outcome)}."
    if len(labels) == 1:
        return _alone(outcome)
    if outcome.scalings:
        return _by_devices(outcome)
    if all(kind(verdict) == "no verdict" for verdict in outcome.verdicts):
        rounds = max((verdict.rounds for verdict in outcome.verdicts), default=0)
        fewest = max((verdict.fewest for verdict in outcome.verdicts), default=0)
        return f"No verdict yet: {rounds} of the {fewest} rounds that one needs{_so_far(labels, outcome)}."
    winner = fastest(labels, outcome.verdicts)
    return _shared(outcome, labels) if winner is None else _wins(winner, labels, outcome)


def _unranked(outcome: Outcome) -> str:
    """Return what became of the contenders where none has a rank; empty where there was none."""
    found = {status: [one.label for one in outcome.contenders if one.status == status] for status in _UNRANKED}
    told = [f"{listed(labels)} {_UNRANKED[status]}" for status, labels in found.items() if labels]
    return f": {'; '.join(told)}" if told else ""


def _by_devices(outcome: Outcome) -> str:
    """Return the answer for each number of devices, and how well contenders scale."""
    said = [scaling.headline(outcome)]
    for devices, part in sorted(by_devices(outcome).items()):
        if len(ranked(part)) > 1:
            said.append(f"On {count(devices, 'device')}: {headline(part)}")
    return " ".join(said)


def by_devices(outcome: Outcome) -> dict[int, Outcome]:
    """Return the outcome parted by the number of devices: verdicts are on contenders with as many."""
    parts = {}
    for devices in {one.plan.devices for one in outcome.contenders}:
        mine = [one for one in outcome.contenders if one.plan.devices == devices]
        labels = {one.label for one in mine}
        pairs = [pair for pair in outcome.verdicts if pair.first in labels]
        parts[devices] = msgspec.structs.replace(outcome, contenders=mine, verdicts=pairs, scalings=[])
    return parts


def _so_far(labels: list[str], outcome: Outcome) -> str:
    """Return how the first of the table stands to the others before there is a verdict; empty without any round."""
    margin, first = outcome.comparison.procedure.margin, labels[0]
    pairs = [pair for other in labels[1:] if (pair := between(outcome.verdicts, other, first)) and pair.ratio]
    if pairs and all(map(is_disturbed, pairs)):
        return ", and other processes disturbed every turn"
    each = [times_text(pair, margin, pair.first, names_level=number == 0) for number, pair in enumerate(pairs)]
    return f"; so far {first} leads: {', '.join(each)}" if each else ""


def _alone(outcome: Outcome) -> str:
    """Return the step time of the only contender that is ranked."""
    (one,) = ranked(outcome)
    step, interval = step_parts(one, step_unit(outcome))
    known = f" ({percent(LEVEL)} CI {interval})" if interval else ""
    samples = throughput_parts(one, outcome.comparison.batch_size)[0]
    rest = "; no other contender is ranked" if len(outcome.contenders) > 1 else ""
    return f"{one.label} takes {step} a step{known}: {samples} samples/s{rest}."


def _wins(winner: str, labels: list[str], outcome: Outcome) -> str:
    """Return the sentence that one contender is faster than every other, and how many times."""
    margin = outcome.comparison.procedure.margin
    pairs = [pair for other in labels if (pair := between(outcome.verdicts, other, winner))]
    each = [times_text(pair, margin, pair.first, names_level=number == 0) for number, pair in enumerate(pairs)]
    is_close = [pair.first for pair in pairs if pair.under_margin]
    doubt = f"; the lead over {listed(is_close)} may be under the {percent(margin)} margin" if is_close else ""
    return f"{winner} is {'fastest' if len(pairs) > 1 else 'faster'}: {', '.join(each)}{doubt}."


def _shared(outcome: Outcome, labels: list[str]) -> str:
    """Return the sentence that several contenders may be the fastest, and why none of them is named."""
    front = leaders(labels, outcome.verdicts)
    pairs = _among(front, outcome.verdicts)
    kinds, margin = {kind(pair) for pair in pairs}, outcome.comparison.procedure.margin
    if len(front) < 2:  # noqa: PLR2004 (two can share the lead)
        return "No contender is faster than every other; the sentences below say what is decided."
    states = {"equal": f"practically equal (within {percent(margin)})", "undecided": "undecided"}
    state = states[kinds.pop()] if len(kinds) == 1 and kinds <= set(states) else "not all decided"
    ratio = f": {pairs[0].first} over {pairs[0].second} {ratio_with_level(pairs[0], margin)}" if len(pairs) == 1 else ""
    rest = [f"{label} {_slower_than(label, front, outcome.verdicts)}" for label in labels if label not in front]
    return "; ".join([f"{listed(front)} are {state}{ratio}", *([listed(rest)] if rest else [])]) + "."


def _among(labels: list[str], verdicts: list[Verdict]) -> list[Verdict]:
    """Return the pairs of these contenders, each with a ratio of at least 1."""
    return [slower_first(verdict) for verdict in verdicts if {verdict.first, verdict.second} <= set(labels)]


def _slower_than(label: str, front: list[str], verdicts: list[Verdict]) -> str:
    """Return which of the leaders a contender is slower than."""
    faster = [other for other in front if (verdict := between(verdicts, label, other)) and kind(verdict) == "slower"]
    both = "both" if len(front) == 2 else "all of them"  # noqa: PLR2004 (the word for two)
    if faster == front:
        return f"is slower than {both}"
    return f"is slower than {listed(faster)}" if faster else "is slower than others"


def sentences(outcome: Outcome) -> list[str]:
    """Return what is known of every pair that the headline does not tell all of: decided, equal, undecided.

    Pairs of every number of devices that have too few rounds stand together: one command goes on with all of them.
    """
    parts = [part for _, part in sorted(by_devices(outcome).items())] if outcome.scalings else [outcome]
    said = [sentence for part in parts for sentence in _with_rounds(part)]
    early = [pair for part in parts for pair in _untold(part) if kind(pair) == "no verdict"]
    return [*said, _early(early, outcome)] if early else said


def _untold(outcome: Outcome) -> list[Verdict]:
    """Return the pairs without the winner, of which the headline tells."""
    labels = [contender.label for contender in ranked(outcome)]
    winner = fastest(labels, outcome.verdicts)
    return [pair for pair in _ordered(outcome.verdicts, labels) if winner not in (pair.first, pair.second)]


def _with_rounds(outcome: Outcome) -> list[str]:
    """Return what is known of pairs with enough rounds."""
    labels = [contender.label for contender in ranked(outcome)]
    margin, pairs = outcome.comparison.procedure.margin, _untold(outcome)
    said = [_decided([pair for pair in pairs if pair.second == label], margin) for label in labels]
    if len(leaders(labels, outcome.verdicts)) != 2:  # noqa: PLR2004 - of two the headline has the ratio
        said += [_equal(pair, margin) for pair in pairs if kind(pair) == "equal"]
    said += [_undecided(pair, outcome) for pair in pairs if kind(pair) == "undecided"]
    return [sentence for sentence in said if sentence]


def _ordered(verdicts: list[Verdict], labels: list[str]) -> list[Verdict]:
    """Return every pair turned so that its ratio is at least 1, in the order of the table."""
    place = {label: index for index, label in enumerate(labels)}
    pairs = [slower_first(verdict) for verdict in verdicts]
    return sorted(pairs, key=lambda pair: (place.get(pair.first, 0), place.get(pair.second, 0)))


def _decided(pairs: list[Verdict], margin: float) -> str:
    """Return all that one contender is faster than, in a sentence; empty where there is none."""
    slower = [pair for pair in pairs if kind(pair) == "slower"]
    if not slower:
        return ""
    each = [
        times_text(pair, margin, f"as fast as {pair.first}", names_level=number == 0)
        + (f", which may be under the {percent(margin)} margin" if pair.under_margin else "")
        for number, pair in enumerate(slower)
    ]
    return f"{slower[0].second} is {' and '.join(each)}."


def _equal(pair: Verdict, margin: float) -> str:
    """Return the sentence that a pair is equal within the margin."""
    equal = f"practically equal (within {percent(margin)})"
    return f"{pair.first} and {pair.second} are {equal}: ratio {ratio_with_level(pair, margin)}."


def _undecided(pair: Verdict, outcome: Outcome) -> str:
    """Return the sentence that a pair is undecided, why it was left so, and what would decide it."""
    parts = [f"{pair.first} and {pair.second} are undecided: {_after(pair, outcome.comparison.procedure.margin)}"]
    if pair.stopped:
        parts.append(_GIVEN_UP[pair.stopped])
    command = ""
    if pair.stopped != "futility" or pair.level is None:
        more, command = _more(pair, outcome)
        parts += [more] if more else []
    return with_command("; ".join(parts), command)


def _early(pairs: list[Verdict], outcome: Outcome) -> str:
    """Return which pairs have too few rounds for a verdict, and what goes on."""
    names = _every_pair(pairs, outcome) or listed(f"{pair.first} / {pair.second}" for pair in pairs)
    fewest = max(pair.fewest for pair in pairs)
    missing = max(pair.fewest - pair.rounds for pair in pairs)
    command = _going_on(outcome, missing)
    # A race that was asked for fewer rounds would end where it is.
    if (outcome.comparison.procedure.max_rounds or fewest) < fewest:
        command = _asking(command, "--rounds", str(fewest))
    took = f", about {duration(missing * outcome.round_s)}" if outcome.round_s is not None else ""
    return with_command(f"{names}: {count(missing, 'more round')}{took}, for a verdict", command)


_ROOM = 1.2
"""How much more time than rounds have taken so far is asked for so many more: one that would end late is not begun."""


def _going_on(outcome: Outcome, more: int) -> str:
    """Return the command that goes on, with time for so many more rounds where its own budget, begun anew, has none."""
    command = f"{outcome.comparison.command or 'bakeoff run ...'} --resume"
    budget_s = outcome.comparison.procedure.budget_s
    if budget_s is None or outcome.round_s is None or more * outcome.round_s <= budget_s:
        return command
    return _asking(command, "--budget", f"{10 * math.ceil(_ROOM * more * outcome.round_s / 10)}s")


def _asking(command: str, option: str, value: str) -> str:
    """Return a command with this value of an option, in the place of its own value if it has one."""
    return re.sub(rf" {option}[= ](?:'[^']*'|\S+)", "", command) + f" {option} {value}"


_MANY = 4
"""So many pairs, if they are all that there are, are not named one by one: of four contenders there are six."""


def _every_pair(pairs: Sequence[Verdict], outcome: Outcome) -> str:
    """Return how all pairs of a comparison are called together; empty where some are left out, or they are few."""
    return f"all {len(pairs)} pairs" if _MANY <= len(pairs) == len(outcome.verdicts) else ""


def _after(pair: Verdict, margin: float) -> str:
    """Return "ratio 1.04 (95 % CI 0.99 to 1.09) after 7 rounds"."""
    told = f"ratio {ratio_with_level(pair, margin)} after {count(pair.rounds, 'round')}"
    is_clear = (
        pair.level is not None and pair.low is not None and pair.high is not None and not pair.low <= 1 <= pair.high
    )
    return f"{told}, an interval of this pair alone, which does not decide" if is_clear else told


def _more(pair: Verdict, outcome: Outcome) -> tuple[str, str]:
    """Return how many more rounds would be needed, and the command that runs them where the procedure allows it."""
    more = pair.more_rounds
    command = _going_on(outcome, _look(pair) - pair.rounds)
    if more is None:
        return ("" if pair.level is None else "no coming look is likely to decide it"), ""
    needed = f"about {rounded(more) if more > LOOKS[-1] else more} more {'round' if more == 1 else 'rounds'}"
    if outcome.round_s is not None and pair.level is not None:
        needed += f", {duration(more * outcome.round_s)}"
    if pair.chance is not None:
        chance = f"{needed}, would decide it with a chance of {percent(pair.chance)}"
        return chance, _asking(command, "--rounds", str(_look(pair)))
    needed += " would be needed"
    if outcome.comparison.procedure.aim == "until-sure":
        return needed, command
    if pair.rounds + more > LOOKS[-1]:
        return f"{needed}, beyond the {LOOKS[-1]} that the procedure allows", ""
    return needed, _asking(command, "--rounds", str(_look(pair)))


def _look(pair: Verdict) -> int:
    """Return the look that an undecided pair's coming rounds reach."""
    wanted = pair.rounds + (pair.more_rounds or 0)
    return next((look for look in LOOKS if look >= wanted), LOOKS[-1])


# --- Pair by pair -------------------------------------------------------------------------------------------------


def cautions(outcome: Outcome) -> list[str]:
    """Return what weakens verdicts: disturbed blocks, wide intervals, means that disagree."""
    pairs = [slower_first(verdict) for verdict in outcome.verdicts]
    margin = outcome.comparison.procedure.margin
    said = [sentence for pair in pairs for sentence in _doubts(pair, margin)]
    return said + _without_turns([pair for pair in pairs if is_disturbed(pair)], outcome)


def _doubts(pair: Verdict, margin: float) -> list[str]:
    """Return what weakens one verdict."""
    said = []
    name = f"{pair.first} over {pair.second}"
    ratio = "unknown" if pair.ratio is None else rounded(pair.ratio, 3)
    if pair.ratio_unflagged is not None and _is_outside(pair.ratio_unflagged, pair, margin):
        disturbed = f"{pair.flagged_blocks} of {count(pair.blocks, 'block')} that other processes disturbed"
        without = f"{rounded(pair.ratio_unflagged, 3)} without the {disturbed}, {ratio} with them"
        said.append(f"{name}: {without}. Run again on a calm machine (--wait-for-calm).")
    if pair.wide:
        why = {"budget": "the time budget has ended", "rounds": "all rounds are done"}.get(pair.stopped, "not finished")
        said.append(
            f"{name}: the direction is decided, but the size is known less narrowly than was asked for ({why}); "
            "--resume with more time narrows it."
        )
    if pair.ratio_of_means is not None and _is_outside(pair.ratio_of_means, pair, margin):
        said.append(
            f"{name}: {rounded(pair.ratio_of_means, 3)} by mean step times, {ratio} by medians: one of them has rare "
            "long steps, which count in a whole run (--epochs)."
        )
    return said


def _is_outside(ratio: float, pair: Verdict, margin: float) -> bool:
    """Return whether another ratio of a pair contradicts its own: it leaves the interval and is beyond the margin."""
    if pair.ratio is None or pair.low is None or pair.high is None or pair.low <= ratio <= pair.high:
        return False
    return not 1.0 / (1.0 + margin) <= ratio / pair.ratio <= 1.0 + margin


def _without_turns(pairs: list[Verdict], outcome: Outcome) -> list[str]:
    """Return, of all such pairs at once, that other processes have left nothing to compare."""
    if not pairs:
        return []
    names = _every_pair(pairs, outcome) or "; ".join(f"{pair.first} over {pair.second}" for pair in pairs)
    flagged, blocks = sum(pair.flagged_blocks for pair in pairs), sum(pair.blocks for pair in pairs)
    # A block is one of every pair that its contender is in, so that of several pairs only the share means anything.
    counted = f"{flagged:,} of {blocks:,} blocks" if len(pairs) == 1 else f"{percent(flagged / blocks)} of the blocks"
    disturbed = f"other processes disturbed {counted}"
    return [f"{names}: {disturbed}, so that no turn is left to check the ratio on. Run again with --wait-for-calm."]


def pair_table(outcome: Outcome) -> Table:
    """Return what the third picture shows."""
    heads = ["pair", "verdict", "ratio", "interval", "rounds", "of means", "disturbed blocks", "without them"]
    margin = outcome.comparison.procedure.margin
    levels = {percent(pair.level) for pair in outcome.verdicts if pair.level is not None and pair.low is not None}
    heads[3] = f"{levels.pop()} CI" if len(levels) == 1 else heads[3]
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
    picture = Picture(" ".join([headline(outcome), *sentences(outcome)]), lambda width: ratio_chart(outcome, width))
    return [Section(kind="page", leads=True, picture=picture, tables=[pair_table(outcome)])]


def _data(outcome: Outcome) -> dict[str, object]:
    """Return what is known of each pair; below the first look its verdict is "no verdict"."""
    return {"verdicts": [msgspec.to_builtins(pair) | {"verdict": kind(pair)} for pair in outcome.verdicts]}


VERDICTS = Subject(sections=lambda outcome: [Section(words=sentences(outcome))], cautions=cautions, data=_data)
PAIRS = Subject(sections=_pairs)
