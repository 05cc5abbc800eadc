"""The certificates in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.units import error, listed

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.verdict import Certificate

_WORDS = {
    "outputs": "outputs",
    "loss": "losses",
    "gradients": "gradients",
    "state": "running statistics",
    "optimizer": "optimiser steps",
}


def certificate_line(outcome: Outcome) -> str:
    """Tell what the contenders have in common, and who has no certificate."""
    certificates = [contender.certificate for contender in outcome.contenders if contender.certificate]
    passed = [certificate for certificate in certificates if certificate.passed]
    if not certificates:
        return "none yet"
    if not passed:
        return "not passed by any contender"
    missing = [contender.label for contender in outcome.contenders if contender.certificate not in passed]
    held = [certificate for certificate in passed if not certificate.ready_made]
    state = "passed" if not missing else f"passed by {listed(one.contender for one in held)}"
    ready_made = [f"{one.contender} is ready-made, held against nothing" for one in passed if one.ready_made]
    return "; ".join([*_common(outcome, held), *([state] if held else []), *ready_made])


def _common(outcome: Outcome, passed: list[Certificate]) -> list[str]:
    """Tell the parameters and the largest errors over all passed certificates."""
    size = outcome.comparison.workload.sizes.get(outcome.comparison.size)
    same = ["parameters" in {check.name for check in certificate.checks} for certificate in passed]
    told = bool(same) and all(same)
    parameters = f"same {size.parameters:,} parameters" if size and size.parameters and told else ""
    errors = [f"{word} within {error(worst)}" for name, word in _WORDS.items() if (worst := _worst(passed, name))]
    against = f"{', '.join(errors)} of float64{_reference(outcome)}" if errors else ""
    return [part for part in (parameters, against) if part]


def _worst(passed: list[Certificate], name: str) -> float | None:
    """Give the largest error of one check; None where no contender has it."""
    errors = [check.error for one in passed for check in one.checks if check.name == name and check.error is not None]
    return max(errors, default=None)


def _reference(outcome: Outcome) -> str:
    """Name what computed the reference."""
    plan = outcome.comparison.reference
    return f" ({plan.title or plan.contender.framework})" if plan else ""
