"""The caption of a document's table or figure: what differs in hardware, versions and scale, and what is left open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge import reproduction
from bakeoff.report.units import listed
from bakeoff.report.words import machine_line, machines_line, packages
from bakeoff.spec.contender import parse_contender

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.published import PublishedStudy


def caption(study: StudyOutcome, published: PublishedStudy) -> list[str]:
    """Return what was measured on what, there and here, and what the document leaves open."""
    here = study.study.reproduces
    assert here is not None
    machines = "; ".join(machine.hardware for machine in published.machines)
    if published.is_silent():
        said = [f"Meant there for {machines}; no figures are published. {_sentence(published.method)}"]
    else:
        said = [f"Published on {machines}; {_versions(published)}. {_sentence(published.method)}"]
        said.append(f"Compile time there: {published.compile_time}; step times here never hold it.")
    if study.outcomes:
        who = _contenders(study, published)
        said.append(f"Measured here on {_here(study.outcomes)}, device {here.device}.{f' {who}.' if who else ''}")
    if smaller := _smaller(study, published):
        there = f"; the published ran on {listed(one.name for one in published.machines)}"
        said.append(f"Scaled down: {smaller}{'' if published.is_silent() else there}.")
    return [*said, *(f"The document leaves open: {text}" for text in published.not_stated)]


def _versions(published: PublishedStudy) -> str:
    """Return the versions that the document states, each once: with its rows where a framework has several."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in published.rows:
        if row.version:
            framework = parse_contender(row.contender).framework
            found.setdefault(framework, {}).setdefault(row.version, []).append(row.name)
    told = [
        f"{framework} {version}" + (f" ({'; '.join(rows)})" if len(versions) > 1 else "")
        for framework, versions in found.items()
        for version, rows in versions.items()
    ]
    return ", ".join(told) or "versions not stated"


def _here(outcomes: Sequence[Outcome]) -> str:
    """Return this machine, and beside how many comparisons something else ran."""
    return machine_line(outcomes[0]) if len(outcomes) == 1 else machines_line(outcomes)


def _contenders(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return which contender, of which versions, stands for each row."""
    raced = [(row.name, _raced(study, row.name)) for row in published.rows]
    placed = [f"{row} by {_by(places)}" for row, places in raced if places.keys() - {row}]
    told = packages(contender for outcome in study.outcomes for contender in outcome.contenders)
    between = "; " if any("," in one for one in placed) else ", "
    return "; ".join(part for part in (f"Rows: {between.join(placed)}" if placed else "", told) if part)


def _raced(study: StudyOutcome, row: str) -> dict[str, list[str]]:
    """Return the contenders that stood for a row, each with the comparisons in which it raced."""
    found: dict[str, list[str]] = {}
    for point in study.points:
        label = point.point.rows.get(row)
        if label and point.outcome and any(one.label == label for one in point.outcome.contenders):
            found.setdefault(label, []).append(point.point.title)
    return found


def _by(places: dict[str, list[str]]) -> str:
    """Return the one contender of a row, or each with its comparisons: "torch (MLP) and torch:mode=compiled (CNN)"."""
    if len(places) == 1:
        return next(iter(places))
    return listed(f"{label} ({', '.join(titles)})" for label, titles in places.items())


def _sentence(text: str) -> str:
    """Return a clause as a sentence."""
    return f"{text[0].upper()}{text[1:]}."


def _smaller(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return what is smaller here than there; empty where nothing is."""
    told: dict[str, list[str]] = {}
    for declared, point in reproduction.both(study, published):
        asked = point.point.request
        size = f"the network's {asked.size} size instead of the {declared.size} one"
        parts = [] if asked.size == declared.size else [size]
        same = asked.batch_size == declared.batch_size
        parts += [] if same else [f"batch {asked.batch_size} instead of {declared.batch_size}"]
        steps = declared.run_steps()
        fewer = asked.steps is not None and steps is not None and asked.steps < steps
        what = "epochs" if declared.epochs_apart else "whole runs"
        parts += [f"{what} of {asked.steps:,} steps instead of {steps:,}"] if fewer else []
        told.setdefault(", ".join(parts), []).append(declared.name)
    told.pop("", None)
    everywhere = len(reproduction.both(study, published))
    return "; ".join(text if len(one) == everywhere else f"{listed(one)}: {text}" for text, one in told.items())
