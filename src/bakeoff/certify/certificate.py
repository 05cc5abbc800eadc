"""Whether a contender computes the same as the reference; a check without its evidence fails.

In two stages, each as tight as it can be: a contender's own program, run in float64, and the settings that are timed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from bakeoff.certify.checks import (
    Case,
    Exhibit,
    check_gradients,
    check_informative,
    check_losses,
    check_outputs,
    check_parameters,
)
from bakeoff.certify.frozen import check_frozen
from bakeoff.certify.inputs import check_inputs
from bakeoff.certify.metric import check_metric
from bakeoff.certify.optimizer import check_optimizer
from bakeoff.certify.per_sample import check_noise, check_norms
from bakeoff.certify.ran import check_ran
from bakeoff.certify.state import check_state
from bakeoff.certify.tolerances import MEASURED_FROM, allowed, is_measured
from bakeoff.certify.trajectory import check_trajectory
from bakeoff.certify.update import check_updates
from bakeoff.spec.optimizer import frozen_of, trained_of
from bakeoff.spec.per_sample import PerSample
from bakeoff.spec.scenario import SCENARIOS, EvidencePart
from bakeoff.spec.verdict import Certificate, Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bakeoff.spec.evidence import Evidence
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size, Workload

_CHECKS: dict[EvidencePart, Callable[[Case], Check]] = {
    "outputs": check_outputs,
    "ran": lambda case: check_ran(
        case.contender.arrays,
        case.reference.evidence.outputs,
        case.contender.precision,
        reference=case.reference.arrays,
        allowed=case.allowed.output,
    ),
    "losses": check_losses,
    "gradients": check_gradients,
    "optimizer": lambda case: check_optimizer(
        case.contender.arrays,
        case.optimizer,
        precision=case.contender.precision,
        allowed=case.allowed.optimizer,
    ),
    "updates": lambda case: check_updates(
        list(case.reference.evidence.parameter_shapes),
        case.contender.arrays,
        case.reference.arrays,
        case.optimizer,
        steps=case.steps * case.updates,
        precision=case.contender.precision,
        allowed=case.allowed.update,
        losses=case.reference.evidence.losses,
        own_gradients=case.contender.evidence.own_gradients if case.stage == "program" else None,
    ),
    "norms": lambda case: check_norms(
        case.contender.arrays,
        case.reference.arrays,
        case.per_sample or PerSample(),
        batch_size=case.batch_size,
        allowed=case.allowed.norms,
    ),
    "noise": lambda case: check_noise(
        list(case.reference.evidence.parameter_shapes),
        case.contender.arrays,
        case.per_sample or PerSample(),
        batch_size=case.batch_size,
        steps=case.steps,
    ),
}
"""What is checked for each part that a scenario can owe; `state`, which not every model has, is checked beside them."""

NOISE: frozenset[EvidencePart] = frozenset({"noise"})
"""Owed where the comparison asks for noise alone."""

_OF_VERSION_1: frozenset[EvidencePart] = frozenset({"ran", "updates"})
"""Evidence that is kept since version 1."""


def certify(  # noqa: PLR0913 - both sides, and what is asked of them
    contender: Exhibit,
    reference: Exhibit,
    *,
    workload: Workload,
    size: Size,
    scenario: Scenario,
    steps: int,
    per_sample: PerSample | None = None,
    program: Exhibit | None = None,
    alone: str = "",
) -> Certificate:
    """Compare all that the scenario owes of a contender's evidence with the reference's.

    `program` is the evidence of its code in float64; `alone` is why there is none. Where losses are owed there have to
    be at least `steps` of them. A scenario that is unknown, or that owes what nothing checks, is refused.
    """
    in_float64 = contender.precision == "float64"
    # What is timed in float64 is its own program.
    exhibits = [contender] if in_float64 or program is None else [program, contender]
    for one in exhibits:
        if reason := _why_uncertifiable(scenario, reference.evidence, one.precision):
            return refuse(contender.label, reference.label, reason)
    noisy = per_sample is not None and per_sample.is_noisy
    whole = SCENARIOS[scenario].evidence - (frozenset() if noisy else NOISE)
    cases = [
        Case(
            contender=exhibit,
            reference=reference,
            stage="program" if exhibit.precision == "float64" else "timed",
            allowed=allowed(
                reference.evidence, exhibit.precision, exhibit.device, steps, updates=size.updates, noisy=noisy
            ),
            optimizer=workload.optimizer,
            steps=steps,
            owed=whole - _not_kept(exhibit.evidence),
            updates=size.updates,
            batch_size=size.batch_size,
            per_sample=per_sample,
        )
        for exhibit in exhibits
    ]
    checks = [check for case in cases for check in _staged(case, size, scenario)]
    if contender.evidence.input_pass is not None:
        checks.append(check_inputs(contender.evidence.input_pass))
    checks.append(check_informative(reference, whole))
    held = sum(map(math.isfinite, cases[-1].allowed.losses))
    failed = [f"{in_words(check)}: {check.detail}" for check in checks if not check.passed]
    return Certificate(
        contender=contender.label,
        reference=reference.label,
        passed=not failed,
        checks=tuple(checks),
        reason="; ".join([*failed, *_in_one_stage(contender.precision, checks)]),
        alone="" if in_float64 or program is not None else alone,
        losses=held if "losses" in whole and held < steps else None,
    )


def _in_one_stage(precision: str, checks: Sequence[Check]) -> list[str]:
    """Return that a contender's code passes in float64, where it fails in the settings that are timed alone."""
    failed = {check.name for check in checks if not check.passed}
    in_float64 = {check.name for check in checks if check.passed and check.stage == "program"}
    if not failed or not failed <= in_float64:
        return []
    return [f"in float64 the same code passes: it differs in {precision} alone"]


def in_words(check: Check) -> str:
    """Return a check's name, with its stage where that is float64."""
    return f"{check.name} in float64" if check.stage == "program" else check.name


def _staged(case: Case, size: Size, scenario: Scenario) -> Iterator[Check]:
    """Yield every check of one stage."""
    checks = [check_parameters(case.contender, case.reference, size)]
    checks += [check(case) for part, check in _CHECKS.items() if part in case.owed]
    names, steps = list(case.reference.evidence.parameter_shapes), case.steps * case.updates
    frozen = frozen_of(case.optimizer, names)
    if frozen and "updates" in case.owed:
        checks.append(check_frozen(frozen, case.contender.arrays, steps=steps))
    is_followed = "updates" in case.owed and "noise" not in case.owed
    if case.stage == "program" and is_followed and case.reference.evidence.version >= MEASURED_FROM:
        trained = trained_of(case.optimizer, names)
        sides = case.contender.arrays, case.reference.arrays
        checks.append(check_trajectory(trained, *sides, steps=steps, allowed=case.allowed.trajectory))
    if is_followed and size.metric is not None:
        checks.append(check_metric(size.metric, case))
    if case.contender.evidence.state_shapes or case.reference.evidence.state_shapes:
        evidence = case.contender.evidence, case.contender.arrays, case.reference.evidence, case.reference.arrays
        moves = "state" in SCENARIOS[scenario].evidence
        checks.append(check_state(*evidence, trained=moves, allowed=case.allowed.state, later=case.allowed.later))
    yield from (msgspec.structs.replace(check, stage=case.stage) for check in checks)


def _not_kept(evidence: Evidence) -> frozenset[EvidencePart]:
    """Return what evidence did not hold yet when it was gathered: those records keep their certificates."""
    return _OF_VERSION_1 if evidence.version < 1 else frozenset()


def _why_uncertifiable(scenario: Scenario, reference: Evidence, precision: str) -> str:
    """Return why nothing certifies a scenario in a precision; empty where something does."""
    if scenario not in SCENARIOS:
        return f"nothing says which evidence the scenario {scenario!r} owes"
    if not SCENARIOS[scenario].evidence & _CHECKS.keys():
        return f"the scenario {scenario!r} owes no evidence that could be checked"
    if unchecked := SCENARIOS[scenario].evidence - _CHECKS.keys() - {"state"}:
        return f"nothing checks what the scenario {scenario!r} owes: {', '.join(sorted(unchecked))}"
    return "" if is_measured(reference, precision) else f"the reference has not measured what {precision} loses"


def refuse(contender: str, reference: str, reason: str) -> Certificate:
    """Return the certificate of a contender that is not certified, for this reason."""
    return Certificate(contender=contender, reference=reference, passed=False, checks=(), reason=reason)
