"""Two comparisons side by side: what changed, what is comparable, and how times and ratios changed: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from bakeoff.judge.change import Change, ratio_change, step_change
from bakeoff.judge.likeness import HARDWARE, changed_facts, contender_key, hardware_of, matched, work_of
from bakeoff.spec.comparison import goal_of
from bakeoff.spec.text import count
from bakeoff.spec.verdict import Interval, Verdict, between, mirrored

if TYPE_CHECKING:
    from bakeoff.judge.likeness import Value
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

Comparable = Literal["times", "ratios", "nothing"]
"""times: the same work on the same machine.  ratios: the same work on another machine, whose step times are its own.
nothing: another work."""

Subject = Literal["work", "procedure", "machine", "contender", "bakeoff"]


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """Something that differs."""

    subject: Subject
    contender: str = ""
    """By its label in the first comparison, where it is about one."""
    name: str
    before: str | int | float | bool | None
    after: str | int | float | bool | None


class ComparedStepTimes(msgspec.Struct, frozen=True, kw_only=True):
    """A contender's step time in both."""

    before_label: str
    after_label: str
    before_s: Interval | None
    after_s: Interval | None
    change: Change | None
    """None where it cannot be compared."""


class ComparedPair(msgspec.Struct, frozen=True, kw_only=True):
    """A pair's verdict in both, turned so that its ratio was at least 1."""

    before: Verdict
    after: Verdict
    change: Change | None
    """None where it cannot be compared."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """All that two comparisons differ in."""

    comparable: Comparable
    reasons: list[str]
    """What is not, or only carefully, comparable, in sentences."""
    changed: list[Changed]
    steps: list[ComparedStepTimes]
    pairs: list[ComparedPair]
    only_before: list[str]
    """Contenders that the other comparison does not have."""
    only_after: list[str]


_WORK = ("workload", "scenario", "size", "batch size", "clipping")


def difference(before: Outcome, after: Outcome) -> Difference:
    """Return how a comparison differs from an earlier one."""
    level = _comparable(before, after)
    both = matched(before.contenders, after.contenders)
    known_before = {one.label for one, _ in both}
    known_after = {one.label for _, one in both}
    only_before = [one for one in before.contenders if one.label not in known_before]
    only_after = [one for one in after.contenders if one.label not in known_after]
    return Difference(
        comparable=level,
        reasons=_reasons(before, after, level) + (_meanwhile(before, after, level) if both else []),
        changed=[
            *_work(before, after),
            *_procedure(before, after),
            *_machine(before, after),
            *_contenders(both),
            *_options(only_before, only_after),
        ],
        steps=[_steps(one, other, level) for one, other in both],
        pairs=_pairs(before, after, both, level),
        only_before=[one.label for one in only_before],
        only_after=[one.label for one in only_after],
    )


def _comparable(before: Outcome, after: Outcome) -> Comparable:
    """Return what can be compared."""
    if work_of(before.comparison) != work_of(after.comparison):
        return "nothing"
    return "times" if hardware_of(before.comparison) == hardware_of(after.comparison) else "ratios"


def _reasons(before: Outcome, after: Outcome, level: Comparable) -> list[str]:
    """Return what to be careful with, and why."""
    one, other = before.comparison, after.comparison
    if level == "nothing":
        names = [name for name, a, b in zip(_WORK, work_of(one), work_of(other), strict=True) if a != b]
        return [f"Another {' and '.join(names)}: different work was measured, so no number is held against another."]
    said = []
    if level == "ratios":
        said.append(
            "Another machine: step times say how fast the machines are, so only ratios are compared, carefully: each "
            "machine favours what suits its processor, caches and memory."
        )
    if one.workload_sha256 != other.workload_sha256:
        said.append("The workload's file, or what it imports, has changed: see that it still is the same model.")
    if one.data.sha256 != other.data.sha256:
        said.append("Other data of the same shapes: times compare as far as no step hangs on the values themselves.")
    if one.procedure.rules != other.procedure.rules:
        said.append(
            "Other rules of deciding: intervals of the first rules hold over all looks and pairs and are wider, so "
            "that the test finds less; a verdict may change with its rules alone."
        )
    return said


def _meanwhile(before: Outcome, after: Outcome, level: Comparable) -> list[str]:
    """Return what the machine did while contenders of both ran."""
    if level == "nothing":
        return []
    said = [
        f"In {name} the machine itself changed its speed, in {len(one.other_speeds.changed)} of "
        f"{count(one.other_speeds.turns, 'turn')}: its step times and ratios are of both speeds together."
        for name, one in (("A", before), ("B", after))
        if one.other_speeds
    ]
    if level == "times":
        said.append(
            "Two runs also differ by what the machine did meanwhile: a ratio, measured within one run, is steadier "
            "than a step time."
        )
    return said


# --- What changed -------------------------------------------------------------------------------------------------


def _work(before: Outcome, after: Outcome) -> list[Changed]:
    """Return what differs in the work, its data, and bakeoff's version."""
    facts = []
    for one in (before.comparison, after.comparison):
        work = dict(zip(_WORK, work_of(one), strict=True))
        facts.append(
            {**work, "workload's file": one.workload_sha256[:12], "data": one.data.source}
            | {"data's content": one.data.sha256[:12]}
        )
    found = [Changed(subject="work", name=name, before=a, after=b) for name, (a, b) in changed_facts(*facts).items()]
    versions = before.comparison.bakeoff, after.comparison.bakeoff
    if versions[0] != versions[1]:
        found.append(Changed(subject="bakeoff", name="version", before=versions[0], after=versions[1]))
    return found


def _procedure(before: Outcome, after: Outcome) -> list[Changed]:
    """Return what differs in how it was measured and decided."""
    facts: list[dict[str, Value]] = []
    for outcome in (before, after):
        told = outcome.comparison.procedure
        facts.append(
            msgspec.to_builtins(told) | {"aim": goal_of(told.aim), "rounds run": outcome.rounds, "ended": outcome.ended}
        )
    return [
        Changed(subject="procedure", name=name.replace("_", " "), before=a, after=b)
        for name, (a, b) in changed_facts(*facts).items()
        if name != "trial_limit_s"
    ]


def _machine(before: Outcome, after: Outcome) -> list[Changed]:
    """Return what differs in the machine: what it is before how it is set."""
    found = changed_facts(before.comparison.machine, after.comparison.machine)
    names = sorted(found, key=lambda name: name not in HARDWARE)
    return [Changed(subject="machine", name=name, before=found[name][0], after=found[name][1]) for name in names]


def _contenders(both: list[tuple[ContenderOutcome, ContenderOutcome]]) -> list[Changed]:
    """Return what differs in each contender: versions, options, settings that were in force, variables, status."""
    return [
        Changed(subject="contender", contender=one.label, name=name, before=a, after=b)
        for one, other in both
        for name, (a, b) in changed_facts(*_facts_of_both(one, other)).items()
    ]


def _facts_of_both(one: ContenderOutcome, other: ContenderOutcome) -> list[dict[str, Value]]:
    """Return what a contender ran with on either side; where it did not run on one, what was asked of it alone."""
    if one.settings and other.settings:
        return [_facts(one), _facts(other)]
    unread: dict[str, Any] = {"settings": {}, "versions": {}, "python": "", "inherited": {}}
    return [_facts(msgspec.structs.replace(side, **unread)) for side in (one, other)]


def _options(only_before: list[ContenderOutcome], only_after: list[ContenderOutcome]) -> list[Changed]:
    """Return the options that make contenders of one name two, as --threads does, which stands in no label."""
    later: dict[str, dict[str, Value]] = {one.label: {**dict(contender_key(one.plan)[1])} for one in only_after}
    return [
        Changed(subject="contender", contender=one.label, name=f"option {name}", before=a, after=b)
        for one in only_before
        if one.label in later
        for name, (a, b) in changed_facts({**dict(contender_key(one.plan)[1])}, later[one.label]).items()
    ]


def _facts(one: ContenderOutcome) -> dict[str, Value]:
    """Return what a contender ran with."""
    read = {f"setting {name}": value for name, value in one.settings.items()}
    return {
        "label": one.label,
        **one.versions,
        "Python": one.python,
        **{
            f"option {name}": value
            for name, value in one.plan.contender.options.items()
            if f"setting {name}" not in read
        },
        **read,
        **{f"variable {name}": value for name, value in one.inherited.items()},
        "status": one.status,
        "certificate": None if one.certificate is None else "passed" if one.certificate.passed else "not passed",
    }


# --- Times and ratios ---------------------------------------------------------------------------------------------


def _steps(before: ContenderOutcome, after: ContenderOutcome, level: Comparable) -> ComparedStepTimes:
    """Return a contender's step time in both."""
    return ComparedStepTimes(
        before_label=before.label,
        after_label=after.label,
        before_s=before.step_s,
        after_s=after.step_s,
        change=step_change(before, after) if level == "times" else None,
    )


def _pairs(
    before: Outcome, after: Outcome, both: list[tuple[ContenderOutcome, ContenderOutcome]], level: Comparable
) -> list[ComparedPair]:
    """Return every pair that both have."""
    labels = {one.label: other.label for one, other in both}
    found = []
    for verdict in before.verdicts:
        turned = mirrored(verdict) if (verdict.ratio or 1.0) < 1.0 else verdict
        other = between(after.verdicts, labels.get(turned.first, ""), labels.get(turned.second, ""))
        if other is not None:
            change = None if level == "nothing" else ratio_change(turned, other)
            found.append(ComparedPair(before=turned, after=other, change=change))
    return found
