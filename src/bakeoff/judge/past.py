"""The verdicts of a workload over time: a history for each pair on each machine, with what changed: pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.change import Change, ratio_change
from bakeoff.judge.likeness import changed_facts, contender_key, hardware_of, work_of
from bakeoff.spec.per_sample import clipping_words
from bakeoff.spec.verdict import Verdict, mirrored
from bakeoff.stats.steps import steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.judge.likeness import Value
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.comparison import Comparison


GPU_SETTINGS = ("gpu_driver", "gpu_uuid", "gpu_power_limit_w", "gpu_clock_applications_mhz", "gpu_ecc", "gpu_pcie")
"""How a GPU is set, and which one of its name it is."""


class PastVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A pair in one comparison."""

    comparison: str
    path: str
    created_at: str
    bakeoff: str
    verdict: Verdict
    """Turned as in all entries of its history."""
    margin: float
    versions: dict[str, str]
    """Of both contenders' packages, those of the first before those of the second."""
    changed: dict[str, tuple[str, str]] = {}
    """What is not as it was in the entry before, each with both values; empty in the first."""
    ratio_change: Change | None = None
    """From the entry before; None in the first, and where one of them has no interval."""


class RatioStep(msgspec.Struct, frozen=True, kw_only=True):
    """A place from which on a pair's ratio is another one (`bakeoff.stats.steps`)."""

    comparison: str
    """Id of the first one after the step."""
    before: float
    """Median ratio of the entries before it, back to the step before."""
    after: float
    """Median ratio from it on, until the next step."""
    p: float
    """The probability of a step as clear as this one where there is none."""


class PairHistory(msgspec.Struct, frozen=True, kw_only=True):
    """A pair over time, of the same work on the same machine; on another machine it has a history of its own."""

    workload: str
    scenario: str
    size: str
    batch_size: int
    clipping: str
    """How each sample's gradient is clipped; empty in scenarios without per-sample gradients."""
    data: str
    first: str
    second: str
    options: dict[str, dict[str, str]]
    """Of both contenders, those that are not left as they are by themselves."""
    machine: dict[str, str | int | float | None]
    """As it was in the last entry."""
    entries: list[PastVerdict]
    """By date, the oldest first."""
    steps: list[RatioStep] = []
    """In the order of the entries; none is found in fewer than `bakeoff.stats.steps.FEWEST` entries with a ratio."""


def histories(outcomes: Iterable[Outcome]) -> list[PairHistory]:
    """Return the history of every pair of comparable contenders; those of one pair stand together, whatever machine."""
    found: dict[tuple[object, ...], list[tuple[Outcome, Verdict]]] = {}
    for outcome in sorted(outcomes, key=lambda one: one.comparison.created_at):
        for verdict in outcome.verdicts:
            key, turned = _place(outcome, verdict)
            found.setdefault(key, []).append((outcome, turned))
    made = [(key, _history(known)) for key, known in found.items()]
    return [one for _, one in sorted(made, key=_order)]


def _order(made: tuple[tuple[object, ...], PairHistory]) -> tuple[list[str], list[str], list[str]]:
    """Return what histories are sorted by: the work, the pair, then machine and options."""
    (*work, first, second, hardware), one = made
    return [str(part) for part in work], sorted((one.first, one.second)), [str(hardware), str(first), str(second)]


def _place(outcome: Outcome, verdict: Verdict) -> tuple[tuple[object, ...], Verdict]:
    """Return what a pair's entry must share with others of its history, and its verdict turned as theirs."""
    comparison = outcome.comparison
    keys = {one.label: (*contender_key(one.plan), "") for one in outcome.contenders}
    if keys[verdict.first] == keys[verdict.second]:
        # Two versions, or environments, of the same: only their labels tell them apart.
        keys = {label: (*key[:2], label) for label, key in keys.items()}
    if keys[verdict.first] > keys[verdict.second]:
        verdict = mirrored(verdict)
    work = (*work_of(comparison), comparison.data.sha256)
    return (*work, keys[verdict.first], keys[verdict.second], hardware_of(comparison)), verdict


def _history(known: list[tuple[Outcome, Verdict]]) -> PairHistory:
    """Return one history; it is turned so that the last ratio is at least 1."""
    last, verdict = known[-1]
    if (verdict.ratio or 1.0) < 1.0:
        known = [(outcome, mirrored(one)) for outcome, one in known]
    entries: list[PastVerdict] = []
    before: tuple[Outcome, Verdict] | None = None
    for outcome, one in known:
        entries.append(_entry(outcome, one, before))
        before = outcome, one
    _, verdict = known[-1]
    comparison = last.comparison
    return PairHistory(
        workload=comparison.workload.name,
        scenario=comparison.scenario,
        size=comparison.size,
        batch_size=comparison.batch_size,
        clipping=clipping_words(comparison.per_sample),
        data=comparison.data.source,
        first=verdict.first,
        second=verdict.second,
        options={label: dict(contender_key(_of(last, label).plan)[1]) for label in (verdict.first, verdict.second)},
        machine=comparison.machine,
        entries=entries,
        steps=_steps(entries),
    )


def _steps(entries: list[PastVerdict]) -> list[RatioStep]:
    """Return where the ratio steps: of its logarithm, which a pair that is turned only gives another sign."""
    known = [(entry, math.log(entry.verdict.ratio)) for entry in entries if entry.verdict.ratio]
    return [
        RatioStep(
            comparison=known[step.place][0].comparison,
            before=math.exp(step.before),
            after=math.exp(step.after),
            p=step.p,
        )
        for step in steps([value for _, value in known])
    ]


def _entry(outcome: Outcome, verdict: Verdict, before: tuple[Outcome, Verdict] | None) -> PastVerdict:
    """Return one entry, with what changed since the one before."""
    comparison = outcome.comparison
    now = _facts(outcome, verdict)
    changed = changed_facts(_facts(*before), now) if before else {}
    return PastVerdict(
        comparison=comparison.id,
        path=outcome.path,
        created_at=comparison.created_at,
        bakeoff=comparison.bakeoff,
        verdict=verdict,
        margin=comparison.procedure.margin,
        versions=_versions(outcome, verdict),
        changed={name: (_text(was), _text(is_now)) for name, (was, is_now) in changed.items()},
        ratio_change=ratio_change(before[1], verdict) if before else None,
    )


def _of(outcome: Outcome, label: str) -> ContenderOutcome:
    """Return a contender's outcome."""
    return next(one for one in outcome.contenders if one.label == label)


def _facts(outcome: Outcome, verdict: Verdict) -> dict[str, Value]:
    """Return all that could move a pair's ratio on the same machine, by name."""
    comparison = outcome.comparison
    found: dict[str, Value] = dict(_versions(outcome, verdict))
    for label in (verdict.first, verdict.second):
        one = _of(outcome, label)
        found[f"{label}'s Python"] = one.python
        found |= {f"{label}'s {name}": value for name, value in one.inherited.items()}
    return found | {
        "bakeoff": comparison.bakeoff,
        "rules of deciding": comparison.procedure.rules,
        "margin": comparison.procedure.margin,
        "workload's file": comparison.workload_sha256[:12],
        **_settings(comparison),
    }


def _versions(outcome: Outcome, verdict: Verdict) -> dict[str, str]:
    """Return the versions of a pair's packages; with the contender's name where both are of one framework."""
    pair = [_of(outcome, label) for label in (verdict.first, verdict.second)]
    is_one = len({one.plan.contender.framework for one in pair}) == 1
    return {
        f"{one.label}: {name}" if is_one else name: version for one in pair for name, version in one.versions.items()
    }


def _settings(comparison: Comparison) -> dict[str, Value]:
    """Return how the machine was set."""
    names = ("kernel", "huge_pages", "numa_balancing", "governor", "turbo", "sibling_threads", "address_layout")
    return {name: comparison.machine.get(name) for name in (*names, *GPU_SETTINGS)}


def _text(value: Value) -> str:
    """Return a value as text."""
    return "unknown" if value in (None, "") else str(value)
