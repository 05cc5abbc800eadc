"""Check the parameters after each training step against the reference's, for programs in float64.

Where a gradient is nearly zero, its rounding decides what RMSprop and Adam do: each makes nearly a whole step of its
sign. So each element's error counts by its gradient, as it would in the loss, and is taken relative to the largest way
that an element of its array has gone, counted likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.certify.errors import bound, finite, quotient
from bakeoff.certify.update import with_gradient
from bakeoff.spec.verdict import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bakeoff.workloads.optimizers import Arrays


def check_trajectory(
    names: Sequence[str], arrays: Arrays, reference: Arrays, *, steps: int, allowed: Sequence[float]
) -> Check:
    """Check the parameters after each of `steps` steps at the kept positions; arrays are named as `Evidence` says."""
    held = with_gradient(names, reference)
    missing = [name for name in held if not (_is_whole(name, arrays, steps) and _is_whole(name, reference, steps))]
    if missing or not held or len(allowed) < steps:
        why = f"update/{missing[0]} is missing or not of {steps} steps" if missing else "nothing has to change"
        why = why if missing or not held else f"the reference has measured {len(allowed)} of {steps} steps"
        most = finite(allowed[0]) if allowed else None
        return Check(name="trajectory", passed=False, detail=f"no evidence: {why}", allowed=most)
    errors = trajectory_errors(held, arrays, reference)
    # The first step that is too far is reported: what follows it is its consequence.
    beyond = [step for step, (error, _) in enumerate(errors) if not error <= allowed[step]]
    step = beyond[0] if beyond else max(range(steps), key=lambda step: errors[step][0] / allowed[step])
    error, name = errors[step]
    detail = f"{name} after step {step}: off by {error:.1e} of the way it has gone ({bound(allowed[step])})"
    return Check(
        name="trajectory", passed=not beyond, detail=detail, error=finite(error), allowed=finite(allowed[step])
    )


def trajectory_errors(names: Sequence[str], arrays: Arrays, reference: Arrays) -> list[tuple[float, str]]:
    """Return for each step the largest error of a parameter, and its name; all have rows of the same steps."""
    each = {name: list(_errors(*_shared(name, arrays, reference))) for name in names}
    steps = len(next(iter(each.values())))
    return [max((errors[step], name) for name, errors in each.items()) for step in range(steps)]


def _is_whole(name: str, arrays: Arrays, steps: int) -> bool:
    """Return whether there are rows of all steps, and their positions."""
    rows, places = arrays.get(f"update/{name}"), arrays.get(f"position/{name}")
    return rows is not None and places is not None and rows.shape == (2 * steps + 1, places.size)


def _shared(name: str, arrays: Arrays, reference: Arrays) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both sides' rows at the positions that both have kept: each chose them by its own gradients."""
    places = arrays[f"position/{name}"], reference[f"position/{name}"]
    _, mine, theirs = np.intersect1d(*places, return_indices=True)
    return arrays[f"update/{name}"][:, mine], reference[f"update/{name}"][:, theirs]


def _errors(found: NDArray[np.float64], expected: NDArray[np.float64]) -> Iterator[float]:
    """Yield the error after each step; rows are parameters, then by turns a gradient and parameters."""
    if not found.size or not (np.isfinite(found).all() and np.isfinite(expected).all()):
        yield from [float("inf")] * (len(expected) // 2)
        return
    weight = np.zeros_like(expected[0])
    for row in range(1, len(expected), 2):
        weight = np.maximum(weight, np.abs(expected[row]))
        with np.errstate(over="ignore"):  # of a training that diverges: what is infinite is not within what is allowed
            gone = float((np.abs(expected[row + 1] - expected[0]) * weight).max())
            off = float((np.abs(found[row + 1] - expected[row + 1]) * weight).max())
        yield quotient(off, gone)
