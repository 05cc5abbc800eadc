"""Check running statistics: what training steps add to them, against the reference in float64.

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

    from bakeoff.spec.evidence import Evidence
    from bakeoff.workloads.optimizers import Arrays


VARIANCE = "running_variance"

LATER_FROM = 3
"""The version of evidence from which it holds what later steps add."""


def check_state(  # noqa: PLR0913 - both sides, and what they are held by
    evidence: Evidence,
    arrays: Arrays,
    reference: Evidence,
    expected: Arrays,
    *,
    trained: bool,
    allowed: float,
    later: float = math.inf,
) -> Check:
    """Check names, shapes and, where steps were trained, what the first step adds, against the reference's.

    `arrays` has `state/<name>` and `output/0` (batch, classes), as `Evidence` says. Where `later` is finite, what all
    steps after the first add is held to it, too; a variance by another rule is not, for batches may have other lengths.
    """
    shapes = reference.state_shapes
    if wrong := sorted(set(evidence.state_shapes.items()) ^ set(shapes.items())):
        detail = f"its running statistics differ from the reference's in {wrong[0][0]}"
        return Check(name="state", passed=False, detail=detail)
    count = f"{sum(math.prod(shape) for shape in shapes.values()):,} running statistics in {len(shapes)} arrays"
    if not trained:
        return Check(name="state", passed=True, detail=f"{count}, read by the outputs")
    rules = (evidence.running_variance, reference.running_variance)
    names = {f"state/{name}" for name in shapes}
    if math.isfinite(later) and _keep_later(evidence, reference):
        names |= {f"later/{name}" for name in shapes if len(set(rules)) == 1 or not name.endswith(VARIANCE)}
    missing = sorted(name for name in names if name not in arrays or name not in expected)
    if missing or "output/0" not in expected:
        which = missing[0] if missing else "output/0"
        return Check(name="state", passed=False, detail=f"no evidence: {which}", allowed=allowed)
    fewest = len(expected["output/0"]) // max(reference.shards, 1)  # each shard has statistics of its own
    most = {name: later if name.startswith("later/") else allowed for name in names}
    errors = {name: _error(name, arrays, expected, rules, most[name], fewest) for name in sorted(names)}
    worst = max(errors, key=lambda name: errors[name] / most[name])
    error, within = errors[worst], most[worst]
    which = "all steps after it add" if worst.startswith("later/") else "a step adds"
    detail = f"{count}; largest error of what {which} in {worst}: {error:.1e} (allowed {within:.0e})"
    if math.isinf(error):
        detail = f"{count}; what {which} in {worst} is no multiple of the reference's that its rule explains"
    if len(set(rules)) > 1:
        detail += f"; the running variance takes the {rules[0]} one, the reference's the {rules[1]} one"
    return Check(name="state", passed=error <= within, detail=detail, error=finite(error), allowed=finite(within))


def _keep_later(evidence: Evidence, reference: Evidence) -> bool:
    """Return whether both sides have kept what later steps add, of all samples: of shards each has statistics apart."""
    return min(evidence.version, reference.version) >= LATER_FROM and reference.shards == 1


def _error(name: str, arrays: Arrays, expected: Arrays, rules: tuple[str, str], allowed: float, fewest: int) -> float:
    """Return the error of one array, without the factor by which the two rules of the variance differ."""
    actual, wanted = arrays[name], expected[name]
    if not name.endswith(VARIANCE) or rules[0] == rules[1] or actual.shape != wanted.shape:
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
