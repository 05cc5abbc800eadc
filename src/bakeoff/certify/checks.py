"""The checks of one stage of a certificate, each over both sides' evidence; a check without its evidence fails."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.certify.errors import bound, finite, loss_errors, norm_error
from bakeoff.certify.sample import distance, largest
from bakeoff.certify.tolerances import Allowed, least_error
from bakeoff.certify.update import DIVERGES, gradient_floors
from bakeoff.certify.varying import same_for_all
from bakeoff.spec.evidence import Evidence
from bakeoff.spec.optimizer import Optimizer, trained_of
from bakeoff.spec.per_sample import PerSample
from bakeoff.spec.scenario import EvidencePart
from bakeoff.spec.verdict import Check, Stage
from bakeoff.workloads.optimizers import Arrays

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.spec.workload import Size

LEAST_CHANGE = 1e-4
"""Share of the largest loss that the reference's losses have to differ by: each batch is another, and the smallest
difference found in the shipped workloads is 4e-2."""

_VARIATION = 1e-3  # of the largest output: outputs that differ less between samples prove nothing


class Exhibit(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of one side, with the arrays of its evidence.npz."""

    label: str
    evidence: Evidence
    arrays: Arrays
    precision: str = "float32"
    """The precision of its arithmetic: how much it may lose."""
    device: str = "cpu"
    """Where it was computed: an accelerator need not compute the same twice."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """Both sides' evidence of one stage, and how closely they must agree."""

    contender: Exhibit
    reference: Exhibit
    stage: Stage
    allowed: Allowed
    optimizer: Optimizer | None
    steps: int
    """How many losses there have to be at least."""
    updates: int = 1
    """Of the parameters in each step."""
    owed: frozenset[EvidencePart]
    batch_size: int = 0
    per_sample: PerSample | None = None
    """How gradients were clipped, in scenarios with per-sample gradients."""


def check_parameters(contender: Exhibit, reference: Exhibit, size: Size) -> Check:
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


def check_outputs(case: Case) -> Check:
    """Check the outputs in evaluation mode against the reference's; in half precision they have to show it, too."""
    expected = {f"output/{index}" for index in range(case.reference.evidence.outputs)}
    if case.contender.evidence.outputs != case.reference.evidence.outputs:
        expected = set()
    check, least = _arrays("outputs", case, expected, case.allowed.output), least_error(case.contender.precision)
    if not check.passed or check.error is None or check.error >= least:
        return check
    outputs = [case.reference.arrays[name] for name in expected]
    if all(np.array_equal(one, np.rint(one)) for one in outputs):  # places or counts, which no precision rounds
        return check
    detail = f"{check.detail}; {case.contender.precision} is off by {least:.0e} or more: this is not computed in it"
    return msgspec.structs.replace(check, passed=False, detail=detail)


def check_gradients(case: Case) -> Check:
    """Check the gradient at step 0 of every parameter that is trained against the reference's, each and all together.

    Together, formulas matter more than a few elements at kinks.
    """
    names = trained_of(case.optimizer, case.reference.evidence.parameter_shapes)
    expected = {f"gradient/{name}" for name in names}
    check = _arrays("gradients", case, expected, case.allowed.gradient, gradient_floors(case.reference.arrays))
    if check.error is None:  # Something is missing, has another shape, or is not finite.
        return check
    most = case.allowed.gradient_norm
    error = norm_error(sorted(expected), case.contender.arrays, case.reference.arrays)
    detail = f"{check.detail}; all together: {error:.1e} of the reference's norm ({bound(most)})"
    return msgspec.structs.replace(check, passed=check.passed and error <= most, detail=detail)


def _arrays(name: Any, case: Case, expected: set[str], most: float, floors: Mapping[str, float] | None = None) -> Check:
    """Check arrays by name against the reference's, each with its least scale; the detail names the worst."""
    found, wanted = case.contender.arrays, case.reference.arrays
    missing = sorted(name for name in expected if name not in found or name not in wanted)
    if missing or not expected:
        detail = f"no evidence: {_and_others(missing[0], missing) if missing else 'no arrays'}"
        return Check(name=name, passed=False, detail=detail, allowed=finite(most))
    errors = {key: distance(found[key], wanted[key], (floors or {}).get(key, 0.0)) for key in sorted(expected)}
    worst = max(errors, key=lambda key: errors[key])
    error = errors[worst]
    detail = f"largest error in {worst}: {error:.1e} of the reference's largest magnitude ({bound(most)})"
    passed = math.isfinite(error) and error <= most
    return Check(name=name, passed=passed, detail=detail, error=finite(error), allowed=finite(most))


def check_losses(case: Case) -> Check:
    """Check the losses of the trajectory against the reference's, as far as they can be held."""
    found, expected = case.contender.evidence.losses, case.reference.evidence.losses
    most = case.allowed.losses
    if len(found) != len(expected) or len(expected) < case.steps:
        detail = f"no evidence: losses of {len(found)} steps against {len(expected)}, and {case.steps} are needed"
        return Check(name="loss", passed=False, detail=detail, allowed=finite(max(most)))
    errors = loss_errors(found, expected)[: sum(map(math.isfinite, most))]
    # The first step that is too far is reported: what follows it is its consequence.
    beyond = [step for step, error in enumerate(errors) if not error <= most[step]]
    step = beyond[0] if beyond else max(range(len(errors)), key=lambda step: errors[step])
    detail = (
        f"loss at step {step}: {_number(found[step])} against {_number(expected[step])} "
        f"(relative {errors[step]:.1e}, allowed {most[step]:.0e})"
    )
    if len(errors) < len(found):
        detail += f"; of {len(found)} steps the first {len(errors)} are held"
    return Check(name="loss", passed=not beyond, detail=detail, error=finite(errors[step]), allowed=most[step])


def _number(loss: float | None) -> str:
    """Return a loss in words."""
    return "no finite number" if loss is None else f"{loss:.6g}"


def check_informative(reference: Exhibit, owed: frozenset[EvidencePart]) -> Check:
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
        losses = [loss for loss in reference.evidence.losses if loss is not None and math.isfinite(loss)]
        if not losses or len(losses) < len(reference.evidence.losses):
            faults.append("the reference's losses are missing or not finite")
        elif max(losses) - min(losses) <= LEAST_CHANGE * max(map(abs, losses)):
            faults.append("the reference's loss does not change over the steps")
    if "gradients" in owed:
        gradients = [value for name, value in reference.arrays.items() if name.startswith("gradient/")]
        if not all(np.isfinite(value).all() for value in gradients):
            faults.append("the reference's gradients are not finite")
        elif not any(largest(value) > 0 for value in gradients):
            faults.append("every gradient of the reference is zero")
    far = diverging(reference.evidence.losses)
    known = ["outputs differ between samples, and nothing is constant, zero or NaN", *([far] if far else [])]
    detail = "; ".join(faults or known)
    return Check(name="informative", passed=not faults, detail=detail)


DIVERGED, GROWN = 100.0, 10.0
"""Times its first loss, and its second, beyond which training diverges: a loss that is noisy stays within some times
its first, and one that is nearly zero before any update, as PPO's is, within some times its second."""


def diverging(losses: Sequence[float | None]) -> str:
    """Return that the reference's training diverges, from which loss to which; empty where it does not."""
    first, *later = losses or [None]
    known = [abs(one) for one in later if one is not None]
    most = max(known, default=0.0)
    is_near = most <= DIVERGED * abs(first or 0.0) or most <= GROWN * known[0]
    if not first or (len(known) == len(later) and is_near):
        return ""
    largest = f"{most:.3g}" if len(known) == len(later) else "no finite number"
    return f"{DIVERGES}: in {len(losses)} steps the reference's loss goes from {first:.3g} to {largest}"


def _shape(shape: tuple[int, ...] | None) -> str:
    """Return a shape in words."""
    return "missing" if shape is None else "x".join(map(str, shape)) or "a scalar"


def _and_others(detail: str, all_of_them: list[str]) -> str:
    """Return that there are more."""
    return detail if len(all_of_them) == 1 else f"{detail}, and {len(all_of_them) - 1} more"
