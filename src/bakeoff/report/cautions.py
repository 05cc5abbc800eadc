"""What a reader must know before trusting a number: noise, flagged blocks, unsteady or faulting contenders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.ledger import mismatches
from bakeoff.report.gpu import gpu_cautions
from bakeoff.report.machine_words import remarks
from bakeoff.report.pairs import slower_first
from bakeoff.report.tiers import tier_cautions
from bakeoff.report.timers import timer_cautions
from bakeoff.report.units import count, listed, percent, rounded

if TYPE_CHECKING:
    from bakeoff.judge.ledger import Entry
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.verdict import Verdict

MOST_FAULTS_PER_STEP = 1.0
"""Above this the step time holds the kernel's work of handing out memory (docs/method.md)."""

MOST_BLOCKS = 3
"""Blocks that a warning names one by one."""


def cautions(outcome: Outcome) -> list[str]:
    """Give every warning in a sentence, those of the judge first; none twice."""
    said = [*remarks(outcome.comparison.machine), *_noise(outcome), *_rounds(outcome)]
    pairs = [slower_first(verdict) for verdict in outcome.verdicts]
    for pair in pairs:
        said += _pair(pair)
    said += _without_turns([pair for pair in pairs if pair.flagged_blocks and pair.ratio_unflagged is None])
    said += [_mismatch(entry, outcome) for entry in mismatches(outcome.contenders)]
    for contender in outcome.contenders:
        said += _contender(contender)
    said += timer_cautions(outcome)
    said += tier_cautions(outcome)
    said += gpu_cautions(outcome)
    said += [f"Set aside, not used: {sentence}." for sentence in outcome.damaged]
    return list(dict.fromkeys(said))


def _noise(outcome: Outcome) -> list[str]:
    """Tell of a machine that was not calm."""
    if outcome.calm is not False and not outcome.flagged_rounds:
        return []
    share = outcome.foreign_share
    load = "" if share is None else f"; other processes took {percent(share)} of its processors (median over blocks)"
    seen = f": foreign load in {outcome.flagged_rounds} of {count(outcome.rounds, 'round')}"
    return [f"The machine was not calm{seen}{load}. Nothing is dropped; a calm machine needs fewer rounds."]


def _rounds(outcome: Outcome) -> list[str]:
    """Tell of a comparison that is not finished."""
    if outcome.ended != "unfinished":
        return []
    return ["The comparison is not finished: what is told here is interim (go on with --resume)."]


def _without_turns(pairs: list[Verdict]) -> list[str]:
    """Tell, of all such pairs at once, that foreign load has left nothing to compare."""
    if not pairs:
        return []
    names = "; ".join(f"{one.first} over {one.second}" for one in pairs)
    blocks = sum(one.flagged_blocks for one in pairs), sum(one.blocks for one in pairs)
    flagged = f"{blocks[0]:,} of {blocks[1]:,} blocks beside foreign load"
    return [f"{names}: {flagged}, so that no turn is left for a ratio without them."]


def _pair(pair: Verdict) -> list[str]:
    """Tell of flagged blocks that matter to a pair, of a wide interval, and of a mean that disagrees."""
    said = []
    name = f"{pair.first} over {pair.second}"
    ratio = "unknown" if pair.ratio is None else rounded(pair.ratio, 3)
    flagged = f"{pair.flagged_blocks} of {count(pair.blocks, 'block')} beside foreign load"
    if pair.ratio_unflagged is not None:
        said.append(f"{name}: {rounded(pair.ratio_unflagged, 3)} without the {flagged}, {ratio} with.")
    if pair.wide:
        said.append(f"{name}: the verdict stands, but its interval is wider than --how-much asks for; {_ended(pair)}.")
    mean = pair.ratio_of_means
    outside = mean is not None and pair.low is not None and pair.high is not None and not pair.low <= mean <= pair.high
    if mean is not None and outside:
        said.append(
            f"{name}: the ratio of mean step times, {rounded(mean, 3)}, lies outside the interval of the ratio of "
            f"medians, {ratio}: one of them has rare long steps."
        )
    return said


def _ended(pair: Verdict) -> str:
    """Say why an interval is not narrower."""
    return {"budget": "the time budget has ended", "rounds": "all rounds are done"}.get(pair.stopped, "not finished")


def _mismatch(entry: Entry, outcome: Outcome) -> str:
    """Tell of a setting that differs although nobody asked for that."""
    values = listed(f"{label} {value}" for label, value in entry.values.items() if value is not None)
    if entry.origin == "variable":
        return (
            f"{entry.key} is set in the environment and does not count for all contenders alike: {values}. Unset it, "
            "or name only contenders for which it counts."
        )
    options = {one.label: one.plan.contender.options for one in outcome.contenders}
    wanted = [f"{label} {options[label][entry.key]}" for label in entry.strays if entry.key in options[label]]
    if wanted:
        return f"{entry.key} is not what it was to be: {values} in force, where {listed(wanted)} was set."
    return f"{entry.key} differs although nobody asked for that: {values}."


def _contender(contender: ContenderOutcome) -> list[str]:
    """Tell of a contender without a steady state, or with page faults in its steps."""
    said = []
    if not contender.steady:
        said.append(f"{contender.label}: no steady state was found in its warm-up; its step time may still drift.")
    again = contender.compiling.again if contender.compiling else []
    if again:
        where = listed(again) if len(again) <= MOST_BLOCKS else f"{listed(again[:1])} and {len(again) - 1} more blocks"
        said.append(f"{contender.label}: compiled again within its timed steps ({where}); they hold that work.")
    faults = contender.counters.minor_faults_per_step
    if faults is not None and faults > MOST_FAULTS_PER_STEP:
        said.append(
            f"{contender.label}: {rounded(faults)} page faults a step: memory that it frees goes back to the system "
            "and is fetched again, and its step time holds that work."
        )
    if contender.counters.major_faults:
        said.append(
            f"{contender.label}: {count(contender.counters.major_faults, 'page fault')} within its blocks had to wait "
            "for a disk: memory was short, or a part of a program was read for the first time."
        )
    return said


def unknowns(outcome: Outcome) -> str:
    """Name what could not be measured here; empty where nothing is missing."""
    missing = []
    if outcome.foreign_share is None:
        missing.append("foreign load")
    ranked = [contender for contender in outcome.contenders if contender.status == "ranked"]
    if any(contender.memory is None or contender.memory.peak_bytes is None for contender in ranked):
        missing.append("memory")
    return f"Not known here: {listed(missing)}." if missing else ""
