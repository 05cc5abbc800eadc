"""Check running statistics: what one training step adds to them, against the reference in float64.

A framework moves a running variance towards the batch's biased variance v, or towards the unbiased variance
v n / (n - 1), where the batch has n values of a channel (docs/decisions/007). Evidence holds what a step adds, so that
the two rules differ by a single factor (n - 1) / n for all channels of a layer. Evidence does not hold n, but it is at
least the batch size.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.certify.errors import STATE_FLOOR, finite
from bakeoff.certify.sample import distance
from bakeoff.spec.verdict import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from bakeoff.spec.record import Evidence
    from bakeoff.workloads.optimizers import Arrays


def check_state(
    evidence: Evidence, arrays: Arrays, reference: Evidence, expected: Arrays, *, trained: bool, allowed: float
) -> Check:
    """Check names, shapes and, where steps were trained, what one step adds, against the reference's.

    `arrays` has `state/<name>` and `output/0` (batch, classes), as `Evidence` says.
    """
    shapes = reference.state_shapes
    if wrong := sorted(set(evidence.state_shapes.items()) ^ set(shapes.items())):
        detail = f"its running statistics differ from the reference's in {wrong[0][0]}"
        return Check(name="state", passed=False, detail=detail)
    count = f"{sum(math.prod(shape) for shape in shapes.values()):,} running statistics in {len(shapes)} arrays"
    if not trained:
        return Check(name="state", passed=True, detail=f"{count}, read by the outputs")
    names = {f"state/{name}" for name in shapes}
    if missing := sorted(name for name in names if name not in arrays or name not in expected):
        return Check(name="state", passed=False, detail=f"no evidence: {missing[0]}", allowed=allowed)
    rules = (evidence.running_variance, reference.running_variance)
    fewest = len(expected["output/0"]) // reference.shards  # each shard has statistics of its own
    errors = {name: _error(name, arrays, expected, rules, allowed, fewest) for name in sorted(names)}
    worst = max(errors, key=lambda name: errors[name])
    error = errors[worst]
    detail = f"{count}; largest error of what a step adds in {worst}: {error:.1e} (allowed {allowed:.0e})"
    if len(set(rules)) > 1:
        detail += f"; the running variance takes the {rules[0]} one, the reference's the {rules[1]} one"
    return Check(name="state", passed=error <= allowed, detail=detail, error=finite(error), allowed=allowed)


def _error(name: str, arrays: Arrays, expected: Arrays, rules: tuple[str, str], allowed: float, fewest: int) -> float:
    """Return the error of one array, without the factor by which the two rules of the variance differ."""
    actual, wanted = arrays[name], expected[name]
    if not name.endswith("running_variance") or rules[0] == rules[1] or actual.shape != wanted.shape:
        return distance(actual, wanted, STATE_FLOOR)
    # The factor that fits best, by least squares; it has to be one that some number of values could cause.
    factor = float(actual @ wanted / (wanted @ wanted)) if wanted.any() else math.nan
    least, most = sorted((1.0, _extreme(rules, batch_size=fewest)))
    if not least - allowed <= factor <= most + allowed:
        return math.inf
    return distance(actual, factor * wanted, STATE_FLOOR)


def _extreme(rules: tuple[str, str], *, batch_size: int) -> float:
    """Return the factor between two rules that is farthest from 1: that of channels with one value in each sample."""
    fewest = max(batch_size, 2)  # a single value has no unbiased variance
    factor = (fewest - 1) / fewest
    return factor if rules == ("biased", "unbiased") else 1 / factor


def added(after: Arrays, before: Arrays, momentum: Mapping[str, float]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield what one step added to each running statistic: its momentum times the batch's statistic."""
    for name, value in after.items():
        yield name, np.asarray(value, np.float64) - (1 - momentum[name]) * before[name]
