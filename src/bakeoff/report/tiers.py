"""Tiers in words: what is ready-made, and what `best` has set or left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.units import listed

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

ORDER = ("matched", "native", "best")


def tier_of(contender: ContenderOutcome) -> str:
    """Give a contender's tier; before there were any, all were matched."""
    return contender.plan.contender.options.get("tier", ORDER[0])


def tier_sentences(outcome: Outcome) -> list[str]:
    """Say what the tier `best` has set, and what of it is not in force."""
    said = []
    for one in outcome.contenders:
        settings = listed(f"{setting.option}={setting.value}" for setting in one.plan.best)
        if settings:
            said.append(f"{one.label} runs with {settings}, documented as faster for {one.plan.title}{_left(one)}.")
        elif tier_of(one) == "best":
            said.append(f"{one.label} runs as matched does: no other setting is documented as faster here{_left(one)}.")
    return said


def _left(contender: ContenderOutcome) -> str:
    """Tell what of the tier `best` is not in force; nothing where all of it is."""
    left = [f"{setting} is left out ({why})" for setting, why in contender.plan.best_left.items()]
    return f"; {listed(left)}" if left else ""


def tier_cautions(outcome: Outcome) -> list[str]:
    """Tell which models are not the workload's own."""
    return [
        f"{ready_made(one)} Its ratios to others compare two models, not only two frameworks."
        for one in outcome.contenders
        if one.certificate is not None and one.certificate.ready_made
    ]


def ready_made(contender: ContenderOutcome) -> str:
    """Say what a ready-made model is, and that nothing was held against it."""
    certificate = contender.certificate
    assert certificate is not None
    parameters = next((check.detail for check in certificate.checks if check.name == "parameters"), "")
    return f"{contender.label} is ready-made ({certificate.ready_made}): not held against the reference; {parameters}."
