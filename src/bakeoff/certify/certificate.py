"""Whether a contender computes the same as the reference; a check without its evidence fails."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.certify.inputs import check_inputs
from bakeoff.certify.optimizer import check_optimizer
from bakeoff.certify.ran import check_ran
from bakeoff.certify.sample import distance, kept, largest
from bakeoff.certify.state import check_state
from bakeoff.certify.tolerances import own_tolerance, tolerance, update_tolerance
from bakeoff.certify.update import check_updates
from bakeoff.certify.varying import same_for_all
from bakeoff.spec.optimizer import Optimizer
from bakeoff.spec.record import Evidence
from bakeoff.spec.scenario import SCENARIOS, EvidencePart
from bakeoff.spec.verdict import Certificate, Check
from bakeoff.spec.workload import Tolerance
from bakeoff.workloads.optimizers import Arrays

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size, Workload

GRADIENT_FLOOR = 1e-3
"""The least scale of a gradient array's error, as a share of the largest gradient of all parameters. A smaller array,
such as that of a bias before a normalisation, is zero but for rounding, so that an error relative to itself means
nothing."""

_CHANGE = 3  # times the tolerance: losses that change less could agree although one side does not train at all

_VARIATION = 1e-3  # of the largest output: outputs that differ less between samples prove nothing


class Exhibit(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of one side, with the arrays of its evidence.npz."""

    label: str
    evidence: Evidence
    arrays: Arrays
    precision: str = "float32"
    """The precision of its arithmetic: a reduced precision has larger tolerances."""
    device: str = "cpu"
    """Where it was computed: an accelerator need not compute the same twice."""


class _Case(msgspec.Struct, frozen=True, kw_only=True):
    """Both sides' evidence, and how closely they must agree."""

    contender: Exhibit
    reference: Exhibit
    allowed: Tolerance
    optimizer: Optimizer | None
    steps: int
    """How many losses there have to be at least."""


_CHECKS: dict[EvidencePart, Callable[[_Case], Check]] = {
    "outputs": lambda case: _outputs(case.contender, case.reference, case.allowed.output),
    "ran": lambda case: check_ran(
        case.contender.arrays,
        case.reference.evidence.outputs,
        case.contender.precision,
        reference=case.reference.arrays,
        allowed=case.allowed.output,
    ),
    "losses": lambda case: _loss(case.contender, case.reference, case.allowed, case.steps),
    "gradients": lambda case: _gradients(case.contender, case.reference, case.allowed),
    "optimizer": lambda case: check_optimizer(case.contender.arrays, case.optimizer),
    "updates": lambda case: check_updates(
        list(case.reference.evidence.parameter_shapes),
        case.contender.arrays,
        case.reference.arrays,
        case.optimizer,
        steps=case.steps,
        precision=case.contender.precision,
        allowed=update_tolerance(case.contender.precision, case.contender.device, case.allowed),
    ),
}
"""What is checked for each part that a scenario can owe; `state`, which not every model has, is checked beside them."""

_OF_VERSION_1: frozenset[EvidencePart] = frozenset({"ran", "updates"})
"""Evidence that is kept since version 1."""


def certify(
    contender: Exhibit, reference: Exhibit, *, workload: Workload, size: Size, scenario: Scenario, steps: int
) -> Certificate:
    """Compare all that the scenario owes of a contender's evidence with the reference's.

    Where losses are owed there have to be at least `steps` of them. A scenario that is unknown, or that owes what
    nothing checks, is refused.
    """
    if reason := _why_uncertifiable(scenario):
        return refuse(contender.label, reference.label, reason)
    owed = SCENARIOS[scenario].evidence
    allowed = tolerance(workload, size, contender.precision)
    case = _Case(contender=contender, reference=reference, allowed=allowed, optimizer=workload.optimizer, steps=steps)
    checks = [_parameters(contender, reference, size)]
    checks += [check(case) for part, check in _CHECKS.items() if part in owed - _not_kept(contender.evidence)]
    if contender.evidence.state_shapes or reference.evidence.state_shapes:
        sides = contender.evidence, contender.arrays, reference.evidence, reference.arrays
        checks.append(check_state(*sides, trained="state" in owed, allowed=allowed.output))
    if contender.evidence.input_pass is not None:
        checks.append(check_inputs(contender.evidence.input_pass))
    checks.append(_informative(reference, owed, own_tolerance(workload, size).loss))
    failed = [f"{check.name}: {check.detail}" for check in checks if not check.passed]
    return Certificate(
        contender=contender.label,
        reference=reference.label,
        passed=not failed,
        checks=tuple(checks),
        reason="; ".join(failed),
    )


def _not_kept(evidence: Evidence) -> frozenset[EvidencePart]:
    """Return what evidence did not hold yet when it was gathered: those records keep their certificates."""
    return _OF_VERSION_1 if evidence.version < 1 else frozenset()


def _why_uncertifiable(scenario: Scenario) -> str:
    """Return why nothing certifies a scenario; empty where something does."""
    if scenario not in SCENARIOS:
        return f"nothing says which evidence the scenario {scenario!r} owes"
    if not SCENARIOS[scenario].evidence & _CHECKS.keys():
        return f"the scenario {scenario!r} owes no evidence that could be checked"
    unchecked = SCENARIOS[scenario].evidence - _CHECKS.keys() - {"state"}
    return f"nothing checks what the scenario {scenario!r} owes: {', '.join(sorted(unchecked))}" if unchecked else ""


def refuse(contender: str, reference: str, reason: str) -> Certificate:
    """Return the certificate of a contender that is not certified, for this reason."""
    return Certificate(contender=contender, reference=reference, passed=False, checks=(), reason=reason)


def _parameters(contender: Exhibit, reference: Exhibit, size: Size) -> Check:
    """Check the parameters' names and shapes against the reference's, and their count against the declared count."""
    found, expected = contender.evidence.parameter_shapes, reference.evidence.parameter_shapes
    count = sum(math.prod(shape) for shape in found.values())
    wrong = [name for name in sorted(found.keys() | expected.keys()) if found.get(name) != expected.get(name)]
    if wrong:
        name = wrong[0]
        detail = f"{name} is {_shape(found.get(name))} against {_shape(expected.get(name))}"
        return Check(name="parameters", passed=False, detail=_and_others(detail, wrong))
    if size.parameters is not None and count != size.parameters:
        detail = f"{count:,} parameters, and the workload declares {size.parameters:,}"
        return Check(name="parameters", passed=False, detail=detail)
    return Check(name="parameters", passed=bool(found), detail=f"{count:,} parameters in {len(found)} arrays")


def _outputs(contender: Exhibit, reference: Exhibit, allowed: float) -> Check:
    """Check the outputs in evaluation mode against the reference's."""
    expected = {f"output/{index}" for index in range(reference.evidence.outputs)}
    if contender.evidence.outputs != reference.evidence.outputs:
        expected = set()
    return _arrays("outputs", contender, reference, expected, allowed)


def _gradients(contender: Exhibit, reference: Exhibit, allowed: Tolerance) -> Check:
    """Check every parameter's gradient at step 0 against the reference's, each element and all together."""
    expected = {f"gradient/{name}" for name in reference.evidence.parameter_shapes}
    sizes = (largest(reference.arrays[name]) for name in expected & reference.arrays.keys())
    floor = GRADIENT_FLOOR * max(sizes, default=0.0)
    check = _arrays("gradients", contender, reference, expected, allowed.gradient, floor)
    if check.error is None:  # Something is missing, has another shape, or is not finite.
        return check
    return _together(check, contender, reference, sorted(expected), allowed.gradient_norm)


def _together(check: Check, contender: Exhibit, reference: Exhibit, names: list[str], allowed: float) -> Check:
    """Add the check of all gradients as one vector, in which formulas matter more than a few elements at kinks."""
    found, expected = (np.concatenate([kept(side.arrays[name]) for name in names]) for side in (contender, reference))
    error = _quotient(float(np.linalg.norm(found - expected)), float(np.linalg.norm(expected)))
    detail = f"{check.detail}; all together: {error:.1e} of the reference's norm (allowed {allowed:.0e})"
    return msgspec.structs.replace(check, passed=check.passed and error <= allowed, detail=detail)


def _arrays(
    name: Any, contender: Exhibit, reference: Exhibit, expected: set[str], allowed: float, floor: float = 0.0
) -> Check:
    """Check arrays by name against the reference's; the detail names the worst."""
    missing = sorted(name for name in expected if name not in contender.arrays or name not in reference.arrays)
    if missing or not expected:
        detail = f"no evidence: {_and_others(missing[0], missing) if missing else 'no arrays'}"
        return Check(name=name, passed=False, detail=detail, allowed=allowed)
    errors = {key: distance(contender.arrays[key], reference.arrays[key], floor) for key in sorted(expected)}
    worst = max(errors, key=lambda key: errors[key])
    error = errors[worst]
    detail = f"largest error in {worst}: {error:.1e} of the reference's largest magnitude (allowed {allowed:.0e})"
    return Check(name=name, passed=error <= allowed, detail=detail, error=_finite(error), allowed=allowed)


def _loss(contender: Exhibit, reference: Exhibit, tolerance: Tolerance, steps: int) -> Check:
    """Check the losses of the trajectory, of all steps or of the first, against the reference's."""
    found, expected, allowed = _losses(contender), _losses(reference), tolerance.loss
    if len(found) != len(expected) or len(expected) < steps:
        detail = f"no evidence: losses of {len(found)} steps against {len(expected)}, and {steps} are needed"
        return Check(name="loss", passed=False, detail=detail, allowed=allowed)
    errors = [_relative(*pair) for pair in zip(found, expected, strict=True)][: tolerance.losses]
    # The first step that is too far is reported: what follows it is its consequence.
    beyond = [step for step, error in enumerate(errors) if not error <= allowed]
    step = beyond[0] if beyond else max(range(len(errors)), key=lambda step: errors[step])
    detail = (
        f"loss at step {step}: {found[step]:.6g} against {expected[step]:.6g} "
        f"(relative {errors[step]:.1e}, allowed {allowed:.0e})"
    )
    if len(errors) < len(found):
        detail += f"; of {len(found)} steps the first {len(errors)} are held"
    return Check(name="loss", passed=not beyond, detail=detail, error=_finite(errors[step]), allowed=allowed)


def _informative(reference: Exhibit, owed: frozenset[EvidencePart], loss_tolerance: float) -> Check:
    """Check that agreeing with the reference means something: what it computed is neither constant nor zero nor NaN."""
    faults = []
    outputs = [reference.arrays.get(f"output/{index}") for index in range(reference.evidence.outputs)]
    for index, output in enumerate(outputs):
        if output is None or not output.size or not np.isfinite(output).all():
            faults.append(f"output {index} of the reference is missing or not finite")
    if not faults:
        whole = [output for output in outputs if output is not None]
        faults += [f"{which} of the reference {what}" for which, what in same_for_all(whole, _VARIATION)]
    if "losses" in owed:
        losses = _losses(reference)
        if not losses or not all(map(math.isfinite, losses)):
            faults.append("the reference's losses are missing or not finite")
        elif max(losses) - min(losses) <= _CHANGE * loss_tolerance * max(map(abs, losses)):
            faults.append("the reference's loss does not change over the steps")
    if "gradients" in owed:
        gradients = [value for name, value in reference.arrays.items() if name.startswith("gradient/")]
        if not any(largest(value) > 0 for value in gradients):
            faults.append("every gradient of the reference is zero")
    detail = "; ".join(faults) or "outputs differ between samples, and nothing is constant, zero or NaN"
    return Check(name="informative", passed=not faults, detail=detail)


def _losses(exhibit: Exhibit) -> list[float]:
    """Return the losses as numbers."""
    return [math.nan if loss is None else loss for loss in exhibit.evidence.losses]


def _relative(found: float, expected: float) -> float:
    """Return a relative error; where one side is not finite it is infinite."""
    if not (math.isfinite(found) and math.isfinite(expected)):
        return math.inf
    return _quotient(abs(found - expected), abs(expected))


def _quotient(error: float, scale: float) -> float:
    """Return an error in units of a scale."""
    if error == 0.0:
        return 0.0
    return error / scale if scale else math.inf


def _finite(error: float) -> float | None:
    """Return an error that JSON can hold; None where it is not finite."""
    return error if math.isfinite(error) else None


def _shape(shape: tuple[int, ...] | None) -> str:
    """Return a shape in words."""
    return "missing" if shape is None else "x".join(map(str, shape)) or "a scalar"


def _and_others(detail: str, all_of_them: list[str]) -> str:
    """Return that there are more."""
    return detail if len(all_of_them) == 1 else f"{detail}, and {len(all_of_them) - 1} more"
