"""Tiers in tables: those of a framework side by side, and every setting of `best`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.details import Line, Table
from bakeoff.report.pairs import between, kind, ratio_text
from bakeoff.report.tiers import ORDER, tier_of

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.report.model import Report


def tier_table(report: Report) -> Table:
    """Give the tiers of each framework side by side; no lines where there is one tier only."""
    tiers = [tier for tier in ORDER if any(tier_of(one) == tier for one in report.outcome.contenders)]
    groups: dict[object, dict[str, ContenderOutcome]] = {}
    for one in report.outcome.contenders:
        groups.setdefault(_without_tier(one), {}).setdefault(tier_of(one), one)
    heads = ["", *tiers, *(f"{tier} / matched" for tier in tiers if tier != ORDER[0] and ORDER[0] in tiers)]
    if len(tiers) == 1:
        return Table(heads, [])
    steps = {row.label: row.step for row in report.rows}
    lines = []
    for members in groups.values():
        found = [members.get(tier) for tier in tiers]
        cells = ["" if one is None else steps.get(one.label, one.status) for one in found]
        matched = members.get(ORDER[0])
        ratios = [_ratio(members.get(head.partition(" ")[0]), matched, report) for head in heads[1 + len(tiers) :]]
        lines.append(Line([_name(members), *cells, *ratios]))
    return Table(heads, lines)


def _without_tier(contender: ContenderOutcome) -> object:
    """Give what a contender shares with itself in other tiers: framework, environment and what else was asked."""
    plan = contender.plan
    preset = {setting.option for setting in plan.best}
    asked = {name: value for name, value in plan.asked.items() if name != "tier" and name not in preset}
    return plan.contender.framework, plan.contender.environment, tuple(sorted(asked.items()))


def _name(members: dict[str, ContenderOutcome]) -> str:
    """Give the label of a contender without its tier."""
    tier, one = next(iter(members.items()))
    return one.label.removesuffix(f" ({tier})")


def _ratio(contender: ContenderOutcome | None, matched: ContenderOutcome | None, report: Report) -> str:
    """Give the ratio of the step times of two tiers, with its interval and verdict."""
    if contender is None or matched is None:
        return ""
    verdict = between(report.outcome.verdicts, contender.label, matched.label)
    return "" if verdict is None else f"{ratio_text(verdict, report.margin)} {kind(verdict)}"


def preset_table(report: Report) -> Table:
    """Give every setting of the tier `best`: in force or left out, why, and by which document."""
    lines = []
    for one in report.outcome.contenders:
        lines += [Line([one.label, f"{it.option}={it.value}", "", it.reason, it.source]) for it in one.plan.best]
        lines += [Line([one.label, setting, f"left out: {why}", "", ""]) for setting, why in one.plan.best_left.items()]
    return Table(["tier best of", "setting", "", "reason", "document"], lines, words=5)
