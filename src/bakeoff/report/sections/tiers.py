"""Tiers: those of a framework side by side, what is ready-made, and what `best` has set or left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.standings import kind, ranked, ratio_text, step_parts, step_unit
from bakeoff.report.units import listed
from bakeoff.spec.verdict import between

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

ORDER = ("matched", "native", "best")


def tier_of(contender: ContenderOutcome) -> str:
    """Return a contender's tier; before there were any, all were matched."""
    return contender.plan.contender.options.get("tier", ORDER[0])


def tier_sentences(outcome: Outcome) -> list[str]:
    """Return what the tier `best` has set, and what of it is not in force."""
    said = []
    for one in outcome.contenders:
        settings = listed(f"{setting.option}={setting.value}" for setting in one.plan.best)
        if settings:
            said.append(f"{one.label} runs with {settings}, documented as faster for {one.plan.title}{_left(one)}.")
        elif tier_of(one) == "best":
            said.append(f"{one.label} runs as matched does: no other setting is documented as faster here{_left(one)}.")
    return said


def _left(contender: ContenderOutcome) -> str:
    """Return what of the tier `best` is not in force; empty where all of it is."""
    left = [f"{setting} is left out ({why})" for setting, why in contender.plan.best_left.items()]
    return f"; {listed(left)}" if left else ""


def _cautions(outcome: Outcome) -> list[str]:
    """Return which models are not the workload's own."""
    return [
        f"{_ready_made(contender)} Its ratios to others compare two models, not only two frameworks."
        for contender in outcome.contenders
        if contender.certificate is not None and contender.certificate.ready_made
    ]


def _ready_made(contender: ContenderOutcome) -> str:
    """Return what a ready-made model is, and that nothing was held against it."""
    certificate = contender.certificate
    assert certificate is not None
    parameters = next((check.detail for check in certificate.checks if check.name == "parameters"), "")
    return f"{contender.label} is ready-made ({certificate.ready_made}): not held against the reference; {parameters}."


def tier_table(outcome: Outcome) -> Table:
    """Return the tiers of each framework side by side; no lines where there is one tier only."""
    tiers = [tier for tier in ORDER if any(tier_of(one) == tier for one in outcome.contenders)]
    groups: dict[object, dict[str, ContenderOutcome]] = {}
    for one in outcome.contenders:
        groups.setdefault(_without_tier(one), {}).setdefault(tier_of(one), one)
    heads = ["", *tiers, *(f"{tier} / matched" for tier in tiers if tier != ORDER[0] and ORDER[0] in tiers)]
    if len(tiers) == 1:
        return Table(heads, [])
    steps = {one.label: step_parts(one, step_unit(outcome))[0] for one in ranked(outcome)}
    lines = []
    for members in groups.values():
        found = [members.get(tier) for tier in tiers]
        cells = ["" if one is None else steps.get(one.label, one.status) for one in found]
        matched = members.get(ORDER[0])
        ratios = [_ratio(members.get(head.partition(" ")[0]), matched, outcome) for head in heads[1 + len(tiers) :]]
        lines.append(Line([_name(members), *cells, *ratios]))
    return Table(heads, lines)


def _without_tier(contender: ContenderOutcome) -> object:
    """Return what a contender shares with itself in other tiers: framework, environment and what else was asked."""
    plan = contender.plan
    preset = {setting.option for setting in plan.best}
    asked = {name: value for name, value in plan.asked.items() if name != "tier" and name not in preset}
    return plan.contender.framework, plan.contender.environment, tuple(sorted(asked.items()))


def _name(members: dict[str, ContenderOutcome]) -> str:
    """Return the label of a contender without its tier."""
    tier, one = next(iter(members.items()))
    return one.label.removesuffix(f" ({tier})")


def _ratio(contender: ContenderOutcome | None, matched: ContenderOutcome | None, outcome: Outcome) -> str:
    """Return the ratio of the step times of two tiers, with its interval and verdict."""
    if contender is None or matched is None:
        return ""
    verdict = between(outcome.verdicts, contender.label, matched.label)
    return "" if verdict is None else f"{ratio_text(verdict, outcome.comparison.procedure.margin)} {kind(verdict)}"


def preset_table(outcome: Outcome) -> Table:
    """Return every setting of the tier `best`: in force or left out, why, and by which document."""
    lines = []
    for one in outcome.contenders:
        lines += [Line([one.label, f"{it.option}={it.value}", "", it.reason, it.source]) for it in one.plan.best]
        lines += [Line([one.label, setting, f"left out: {why}", "", ""]) for setting, why in one.plan.best_left.items()]
    return Table(["tier best of", "setting", "", "reason", "document"], lines, words=5)


def _sections(outcome: Outcome) -> list[Section]:
    """Return the tiers side by side, where there are several, and the sentences."""
    table = tier_table(outcome)
    return [Section(tables=[table] if table.lines else []), Section(words=tier_sentences(outcome))]


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return a contender's tier, and what follows from it."""
    plan = contender.plan
    return {"tier": tier_of(contender), "best": msgspec.to_builtins(plan.best), "best_left": plan.best_left}


TIERS = Subject(sections=_sections, cautions=_cautions, fields=_fields)
