"""The page of an explanation: the answer in sentences, the parts of each gap, what was raced, what is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.judge.explain_again import explaining_command
from bakeoff.report.gaps import paired, verdict_of
from bakeoff.report.page import Page, Section
from bakeoff.report.pages.comparison import finite_only, work
from bakeoff.report.sections import profiles, suspects
from bakeoff.report.sections.certificate import same_work
from bakeoff.report.sections.parts import kinds, layers, others
from bakeoff.report.sections.why import headline, of_others, sentences
from bakeoff.report.standings import bounds, kind
from bakeoff.report.words import machine_line, measured_line
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.explanation import ContenderProfile, Explanation, Gap, MeanOverRounds, Row, Suspect
    from bakeoff.spec.verdict import Interval

VERSION = 1
"""Of the JSON object, which docs/json-explain.md documents: raised when a key changes its meaning or goes away."""

PREFIX = "why-"
"""Before the names of an explanation's files: its comparison's report stands in the same folder."""


def page(explanation: Explanation) -> Page:
    """Return the page of an explanation."""
    outcome = explanation.outcome
    comparison = outcome.comparison
    return Page(
        title=f"why, {work(outcome)}",
        headline=headline(explanation),
        beside=machine_line(outcome),
        trust=f"{same_work(outcome)}. {_traced(explanation)}",
        sections=_sections(explanation),
        unpictured=(_unpictured(explanation),),
        measured=measured_line(outcome.contenders, comparison.bakeoff, comparison.created_at),
        command=explaining_command(comparison, outcome.path),
        path=outcome.path,
        prefix=PREFIX,
        data=_data(explanation),
    )


def _unpictured(explanation: Explanation) -> str:
    """Return why there is no picture, where there is none."""
    several = len([one for one in explanation.profiles if one.level != "none"]) > 1
    return f"No two contenders {f'were {paired(explanation)}' if several else 'have a profile'}."


def _traced(explanation: Explanation) -> str:
    """Return what the answer rests on: how many rounds were traced."""
    rounds = [one.rounds for one in explanation.profiles if one.level != "none"]
    if not rounds:
        return "Nothing was traced."
    return f"Shares from {count(min(rounds), 'round')} of traces, scaled to the raced step times."


def _sections(explanation: Explanation) -> list[Section]:
    """Return sentences, the parts by kind and by layer, what was raced, other causes, and what the profiles hold."""
    found = [
        Section(words=sentences(explanation)),
        *kinds(explanation),
        *layers(explanation),
        *suspects.suspects(explanation),
        *suspects.causes(explanation),
        Section(title="Other pairs", words=of_others(explanation)),
        *others(explanation),
        *profiles.profiles(explanation),
        Section(kind="warnings", words=_cautions(explanation)),
    ]
    return [section for section in found if not section.is_empty]


def _cautions(explanation: Explanation) -> list[str]:
    """Return what a reader must know before believing the answer."""
    return [*_interrupted(explanation), *suspects.cautions(explanation), *profiles.cautions(explanation)]


def _interrupted(explanation: Explanation) -> list[str]:
    """Return that the race was not run to its end, and what goes on with it."""
    outcome = explanation.outcome
    if outcome.ended != "unfinished":
        return []
    if not outcome.comparison.command and not outcome.rounds:  # What `bakeoff verify` leaves, which has no --resume.
        return ["Nothing is timed in these records, so there is no gap to explain: race the same contenders first."]
    again = f"{outcome.comparison.command or 'bakeoff run ...'} --resume"
    return [f"The race is not finished: step times are interim, and contenders may be missing; this goes on: {again}"]


# --- For programs -------------------------------------------------------------------------------------------------


def _data(explanation: Explanation) -> dict[str, Any]:
    """Return the JSON object; every documented key is there, and null is not known."""
    outcome = explanation.outcome
    comparison = outcome.comparison
    known = {
        name: getattr(comparison, name) for name in ("id", "created_at", "command", "scenario", "size", "batch_size")
    }
    document = {
        "version": VERSION,
        "bakeoff": comparison.bakeoff,
        "headline": headline(explanation),
        "sentences": [*sentences(explanation), *of_others(explanation)],
        "comparison": known | {"path": outcome.path, "workload": comparison.workload.name},
        "machine": comparison.machine,
        "profiles": [_profile(one) for one in explanation.profiles],
        "gaps": [_gap(explanation, gap) for gap in explanation.gaps],
        "causes": explanation.causes,
        "unjudged": explanation.unjudged,
        "suspects": [_suspect(one) for one in explanation.suspects],
        "warnings": _cautions(explanation),
    }
    told: dict[str, Any] = finite_only(msgspec.to_builtins(document))
    return told


def _profile(profile: ContenderProfile) -> dict[str, Any]:
    """Return one profile; what varies over rounds has its interval beside it."""
    fields: dict[str, Any] = msgspec.to_builtins(profile)
    for name, key in (("compute", "compute_share"), ("copies", "copy_share"), ("launches", "launches_per_step")):
        part: MeanOverRounds | None = getattr(profile, name)
        del fields[name]
        fields |= {key: part.mean if part else None, f"{key}_interval": bounds(part.interval) if part else None}
    return fields


def _gap(explanation: Explanation, gap: Gap) -> dict[str, Any]:
    """Return one pair with its parts and what the race says of it."""
    verdict = verdict_of(explanation, gap)
    return {
        "first": gap.first,
        "second": gap.second,
        "first_s": gap.first_s,
        "second_s": gap.second_s,
        "gap_s": gap.gap_s,
        "ratio": verdict.ratio if verdict else None,
        "ratio_interval": [verdict.low, verdict.high] if verdict and verdict.low is not None else None,
        "verdict": kind(verdict) if verdict else None,
        "by_kind": [_row(row) for row in gap.by_kind],
        "by_layer": [_row(row) for row in gap.by_layer],
    }


def _row(row: Row) -> dict[str, Any]:
    """Return one part of a gap."""
    fields: dict[str, Any] = msgspec.to_builtins(row)
    return fields | {"difference_s": row.gap_s, "difference_interval_s": bounds(row.difference_s)}


def _suspect(suspect: Suspect) -> dict[str, Any]:
    """Return one suspect with what was raced of it."""
    fields: dict[str, Any] = msgspec.to_builtins(suspect)
    row = None if suspect.row is None else {name: getattr(suspect.row, name) for name in ("kind", "phase", "layer")}
    return fields | {
        "row": row,
        "saved_s": _estimate(suspect.saved_s),
        "saved_interval_s": bounds(suspect.saved_s),
        "ratio": _estimate(suspect.ratio),
        "ratio_interval": bounds(suspect.ratio),
    }


def _estimate(interval: Interval | None) -> float | None:
    """Return an interval's estimate."""
    return None if interval is None else interval.estimate
