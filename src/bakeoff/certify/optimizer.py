"""Check the optimiser by itself: given the same gradients, it computes the same parameters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.certify.errors import finite
from bakeoff.certify.probe import PROBE_STEPS, probe_gradients, probe_parameters, probed
from bakeoff.certify.tolerances import parameter_rounding, roundings_of_a_step
from bakeoff.spec.optimizer import beside, frozen_of
from bakeoff.spec.verdict import Check
from bakeoff.workloads.optimizers import trajectory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from bakeoff.spec.optimizer import Optimizer


def check_optimizer(
    arrays: Mapping[str, NDArray[Any]], optimizer: Optimizer | None, *, precision: str, allowed: float
) -> Check:
    """Check the parameters after each step on the probe's gradients against the formula in float64.

    `arrays` has `optimizer/<step>/<array>`, as `Evidence` says.
    """
    if optimizer is None:
        return Check(name="optimizer", passed=False, detail="no evidence: the workload has no optimiser")
    errors: dict[tuple[int, str], float] = {}
    roundoff, frozen = parameter_rounding(precision), frozen_of(probed(optimizer), probe_parameters(optimizer))
    for t, name, expected, path in _expected(optimizer):
        actual = arrays.get(f"optimizer/{t}/{name}")
        if actual is None or actual.shape != expected.shape:
            detail = f"no evidence: optimizer/{t}/{name} is missing or not of shape {expected.shape}"
            return Check(name="optimizer", passed=False, detail=detail, allowed=allowed)
        roundings = (t + 1) * roundings_of_a_step(probed(optimizer), name)
        rounding = roundings * roundoff * (np.abs(expected) + path) * (name not in frozen)
        errors[t, name] = _largest_excess(actual - expected, rounding, path)
    # Report the first step that exceeds the tolerance: later errors follow from it.
    beyond = [key for key, error in errors.items() if not error <= allowed]
    t, name = beyond[0] if beyond else max(errors, key=lambda key: errors[key])
    error = errors[t, name]
    detail = (
        f"{PROBE_STEPS} steps on given gradients: parameter {name!r} after step {t} off by {error:.1e} of the path it"
        f" travelled, beyond rounding (allowed {allowed:.0e})"
    )
    if more := beside(optimizer):
        detail += f"; {', '.join(more)}"
    if probed(optimizer).schedule != optimizer.schedule:
        detail += f"; its schedule is shortened to these {PROBE_STEPS} steps"
    return Check(name="optimizer", passed=not beyond, detail=detail, error=finite(error), allowed=allowed)


def _expected(optimizer: Optimizer) -> Iterator[tuple[int, str, NDArray[Any], NDArray[Any]]]:
    """Yield each step and array: step, name, parameters after the step, and the summed sizes of all updates so far."""
    before = probe_parameters(optimizer)
    path = {name: np.zeros_like(value) for name, value in before.items()}
    gradients = probe_gradients(optimizer.clip_norm)
    for t, state in enumerate(trajectory(probed(optimizer), before, gradients)):
        for name, value in state.items():
            path[name] = path[name] + np.abs(value - before[name])
            yield t, name, value, path[name]
        before = state


def _largest_excess(difference: NDArray[Any], rounding: NDArray[Any], path: NDArray[Any]) -> float:
    """Return the largest error relative to the path, beyond what rounding the parameter itself explains."""
    if not np.isfinite(difference).all():
        return math.inf
    excess = np.maximum(np.abs(difference) - rounding, 0.0)
    relative = np.full_like(excess, math.inf)
    np.divide(excess, path, out=relative, where=path > 0)
    return float(np.where(excess == 0.0, 0.0, relative).max())
