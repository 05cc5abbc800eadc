"""Runs of any length from a cold start: who is ahead until when, and the second picture with its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.coldruns import ColdRun, crossings, longest, runs_of, starts_earlier, steps_text
from bakeoff.report.page import Line, Picture, Section, Subject, Table
from bakeoff.report.pictures.comparison import runs_chart
from bakeoff.report.standings import kind, ranked
from bakeoff.report.units import duration, listed
from bakeoff.spec.verdict import between

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.verdict import Verdict


def short_runs(runs: list[ColdRun], verdicts: list[Verdict]) -> str:
    """Return who is ahead in short runs, and until when; empty where there are no two to compare."""
    if len(runs) < 2:  # noqa: PLR2004 (two make a comparison)
        return ""
    first = min(runs, key=lambda run: run.seconds(1))
    beside = [run.label for run in runs if not starts_earlier(first, run)]
    if len(beside) > 1:
        return f"Short runs: {listed(beside)} start about equally fast; first step after {duration(first.seconds(1))}."
    ahead = f"Short runs: {first.label} starts fastest (first step after {duration(first.seconds(1))}, no interval)"
    passed = next((crossing for crossing in crossings(runs, verdicts) if crossing.early == first.label), None)
    if passed is not None:
        return f"{ahead} and is ahead until about step {steps_text(passed.steps)}, where {passed.late} catches up."
    others = [between(verdicts, run.label, first.label) for run in runs if run is not first]
    if all(verdict is not None and kind(verdict) == "slower" for verdict in others):
        return f"{ahead} and stays ahead."
    if any(verdict is not None and kind(verdict) == "no verdict" for verdict in others):
        return f"{ahead}; whether another one catches up is not known before a verdict."
    return f"{ahead}, and no other contender is shown to catch up."


def run_table(outcome: Outcome) -> Table:
    """Return what the second picture shows: the time of runs of some lengths, and the break-evens."""
    runs = runs_of(ranked(outcome))
    last = longest(runs, outcome.verdicts, None)
    lengths = [10**power for power in range(len(f"{last}"))]
    found = crossings(runs, outcome.verdicts)
    lines = []
    for run in runs:
        overtakes = [f"{one.early} at step {steps_text(one.steps)}" for one in found if one.late == run.label]
        lines.append(Line([run.label, *(duration(run.seconds(steps)) for steps in lengths), ", ".join(overtakes)]))
    return Table(
        ["contender", *(f"{steps:,} {'step' if steps == 1 else 'steps'}" for steps in lengths), "overtakes"], lines
    )


def _sections(outcome: Outcome) -> list[Section]:
    """Return the sentence, and the second picture where there is something to draw."""
    runs = runs_of(ranked(outcome))
    said = short_runs(runs, outcome.verdicts)
    found = [Section(words=[said])] if said else []
    if not runs:
        return found
    finding = said or f"Time of a run of {runs[0].label} against its number of steps."
    picture = Picture(finding, lambda width: runs_chart(outcome, width))
    return [*found, Section(kind="page", picture=picture, tables=[run_table(outcome)])]


RUNS = Subject(sections=_sections)
