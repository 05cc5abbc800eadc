"""What of evidence is evidence: arrays of the axes that the checks count on.

A stranger may have sealed any others. They are left out, as if they were missing: a check without its evidence fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bakeoff.workloads.optimizers import Arrays

AXES = {
    **dict.fromkeys(("gradient", "state", "later", "first", "norms", "norm", "position"), 1),
    **dict.fromkeys(("update", "used", "noise", "frozen"), 2),
}
"""Of each kind of array, as `trial.evidence` and `trial.updates` keep them; what is not named may have any but none."""

INTEGERS = frozenset({"position", "frozen"})
"""The kinds that consist of integers; all others are real numbers."""


def well_formed(arrays: Arrays) -> Arrays:
    """Return the arrays that have as many axes as their kind, and at least one element, all of its type."""
    return {name: array for name, array in arrays.items() if _is_well_formed(name.partition("/")[0], array)}


def _is_well_formed(kind: str, array: NDArray[Any]) -> bool:
    """Return whether an array is what is kept of this kind."""
    is_of_type = array.dtype.kind in ("iu" if kind in INTEGERS else "f")
    return is_of_type and array.size > 0 and array.ndim == AXES.get(kind, max(array.ndim, 1))
