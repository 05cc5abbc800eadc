"""Noise: how calm the machine was, and what the figures rest on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.standings import ranked
from bakeoff.report.units import listed, percent, rounded
from bakeoff.report.words import remarks
from bakeoff.spec.text import count
from bakeoff.spec.trial import KINDS

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.stats.levels import LevelRatio, Levels

_AIMS = {
    "size": [],
    "direction": ["until the directions were decided (--direction)"],
    "verdict": [],
    "how-much": ["until the ratios were known narrowly (--how-much)"],
    "until-sure": ["decided by intervals that hold at every round (--until-sure)"],
}


def evidence(outcome: Outcome) -> str:
    """Return what the numbers rest on."""
    aim = _AIMS[outcome.comparison.procedure.aim]
    return ", ".join([count(outcome.rounds, "round"), count(outcome.processes, "fresh process"), *aim])


def _calm(outcome: Outcome) -> list[str]:
    """Return what holds for the whole comparison: the machine's settings, its load, and that it is not finished."""
    said = remarks(outcome.comparison.machine)
    if outcome.calm is False or outcome.flagged_rounds:
        share = outcome.foreign_share
        took = f" ({percent(share or 0)} of its processors in the median block)"
        seen = f": other processes were busy in parts of {outcome.flagged_rounds} of {count(outcome.rounds, 'round')}"
        load = "" if share is None else took
        said.append(
            f"The machine was not calm{seen}{load}. No block is dropped for its time; for narrower intervals stop "
            "other programs, or run again with --wait-for-calm."
        )
    said += _speeds(outcome)
    is_begun = outcome.rounds or outcome.comparison.command
    if outcome.ended == "unfinished" and not outcome.rounds and _was_racing(outcome):
        said.append(
            "The race was interrupted before its first round had ended: nothing is timed yet, and the same command "
            "with --resume goes on."
        )
    elif outcome.ended == "unfinished" and not is_begun and _lacks_certificates(outcome):
        said.append(
            "Nothing is timed in these records, and not every certificate is there: bakeoff verify was ended before "
            "its end. The same command makes them."
        )
    elif outcome.ended == "unfinished" and not is_begun:
        said.append("Nothing is timed in these records: they are certificates alone, as bakeoff verify leaves them.")
    elif outcome.ended == "unfinished":
        said.append(
            "The comparison is not finished: these numbers are interim; the same command with --resume goes on."
        )
    return said


def _speeds(outcome: Outcome) -> list[str]:
    """Return that the machine changed its speed under all contenders at once, and what that did to ratios."""
    levels = outcome.other_speeds
    if levels is None:
        return []
    times = " to ".join(dict.fromkeys(rounded(level) for level in (levels.low, levels.high)))
    rounds = f"round{'s' if len(levels.rounds) > 1 else ''} {listed(map(str, levels.rounds))}"
    beside = "" if outcome.foreign_share is None else ", beside no other process"
    said = (
        f"The machine itself changed its speed: in {len(levels.changed)} of "
        f"{count(levels.turns, 'turn')} ({rounds}){beside}, all contenders took {times} times as "
        "long as they usually do, at once. Other machines on the same host do so, and lowered clocks."
    )
    moved = [one for one in levels.ratios if abs(math.log(one.then / one.otherwise)) > math.log1p(_margin(outcome))]
    moved.sort(key=lambda one: -abs(math.log(one.then / one.otherwise)))
    pairs = listed(_then_and_otherwise(one) for one in moved[:_MOST_PAIRS])
    said += f" By medians over turns {pairs}: verdicts take both together." if moved else ""
    return [f"{said} Race again at another time, or on a machine that nobody shares, for narrower intervals."]


_MOST_PAIRS = 3
"""Those that it moved most; ten pairs of five contenders would be a table."""


def _margin(outcome: Outcome) -> float:
    """Return what counts as equal in this comparison."""
    return outcome.comparison.procedure.margin


def _then_and_otherwise(one: LevelRatio) -> str:
    """Return a pair's ratio at both speeds, the slower one first as in verdicts."""
    first, second, then, otherwise = one.first, one.second, one.then, one.otherwise
    if otherwise < 1.0:
        first, second, then, otherwise = second, first, 1.0 / then, 1.0 / otherwise
    digits = next((some for some in (2, 3) if rounded(then, some) != rounded(otherwise, some)), 4)
    here, there = rounded(then, digits), rounded(otherwise, digits)
    return f"{first} over {second} is {here} in these turns and {there} in the others"


def _lacks_certificates(outcome: Outcome) -> bool:
    """Return whether evidence of a contender was still to be computed."""
    pending = [one for one in outcome.contenders if one.status == "pending"]
    return any(one.certificate is None or not one.certificate.checks for one in pending)


def _was_racing(outcome: Outcome) -> bool:
    """Return whether a trial of a round was started, which its folder tells although it has no record."""
    return any(Path(outcome.path).glob(KINDS["time"].folder.format(round=1, label="*")))


def noise_line(outcome: Outcome) -> str:
    """Return how calm the machine was."""
    if outcome.foreign_share is None:
        return "What other processes took is not known here."
    share = percent(outcome.foreign_share)
    said = f"Other processes took {share} of the processors (median over blocks); {evidence(outcome)}."
    if outcome.repeated_turns:
        said += f" {_repeats(outcome)}"
    if outcome.clock_mhz is None:
        return said
    clocks = " to ".join(dict.fromkeys(f"{clock:,.0f}" for clock in outcome.clock_mhz))
    return f"{said} Clock of the processors at the ends of trials: {clocks} MHz."


def _repeats(outcome: Outcome) -> str:
    """Return how many turns were run again, and beside whose blocks others had run."""
    beside = [f"{one.label} in {one.disturbed_turns}" for one in outcome.contenders if one.disturbed_turns]
    turns = count(outcome.repeated_turns, "turn")
    whose = f": beside {', '.join(beside)}, else beside all blocks of a turn together" if beside else ""
    return f"{turns} that others disturbed ran again, for all contenders alike{whose}."


def noise_table(outcome: Outcome) -> Table:
    """Return how many blocks of each round and contender other processes disturbed; such rounds are marked."""
    found = ranked(outcome)
    rounds = sorted({block.round_number for one in found for block in one.blocks})
    lines = []
    for number in rounds:
        mine = [[block for block in one.blocks if block.round_number == number] for one in found]
        flagged = [sum(block.flagged for block in blocks) for blocks in mine]
        cells = [f"{some} of {len(all_)}" if all_ else "" for some, all_ in zip(flagged, mine, strict=True)]
        lines.append(Line([f"round {number}", *cells], marked=any(flagged)))
    return Table(["blocks disturbed by other processes", *(one.label for one in found)], lines)


def _sections(outcome: Outcome) -> list[Section]:
    """Return the fold on other processes."""
    return [Section(kind="fold", title="Other processes", notes=[noise_line(outcome)], tables=[noise_table(outcome)])]


def _data(outcome: Outcome) -> dict[str, Any]:
    """Return how calm the machine was, and the records that are not used."""
    names = ("calm", "foreign_share", "flagged_rounds", "clock_mhz")
    noise = {name: getattr(outcome, name) for name in names} | {"levels": _levels(outcome.levels)}
    return {"noise": noise, "damaged": outcome.damaged, "again": outcome.again}


def _levels(levels: Levels | None) -> dict[str, Any]:
    """Return the changes of the machine's speed as numbers; null where no two contenders took turns."""
    if levels is None:
        return dict.fromkeys(("turns", "changed", "rounds", "low", "high", "is_found")) | {"ratios": []}
    numbers = {name: getattr(levels, name) for name in ("turns", "rounds", "low", "high", "is_found")}
    return numbers | {"changed": len(levels.changed), "ratios": [msgspec.structs.asdict(one) for one in levels.ratios]}


def _damaged(outcome: Outcome) -> list[str]:
    """Return the records that are not used, the trials that came to nothing, and the rounds that somebody lacks."""
    again = "The same command with --resume runs it again, or of a round another one in its stead."
    said = [f"Not used: {sentence}. {again}" for sentence in outcome.damaged]
    if outcome.again:
        trials = listed(f"{name} ({how})" for name, how in sorted(outcome.again.items()))
        them = "it" if len(outcome.again) == 1 else "them"
        said.append(f"Came to nothing: {trials}. The same command with --resume does {them} again.")
    for label, numbers in outcome.gone.items():
        which = f"round{'s' if len(numbers) > 1 else ''} {listed(map(str, numbers))}"
        said.append(
            f"{label} has no record of {which}, so that no pair of it counts what others took there. The same command "
            "with --resume has as many more run in their stead, once."
        )
    return said


CALM = Subject(cautions=_calm)
NOISE = Subject(sections=_sections, cautions=_damaged, data=_data)
