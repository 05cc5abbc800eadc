"""Check that parameters which are not trained stay what they were, to the last bit, in every step.

That trained ones move is what `certify.update` holds; gradients of frozen ones are not compared, since there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bakeoff.spec.verdict import Check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.workloads.optimizers import Arrays

DIGEST_BYTES = 32
"""Of SHA-256, by which evidence holds the whole of an array."""


def check_frozen(names: Sequence[str], arrays: Arrays, *, steps: int) -> Check:
    """Check `frozen/NAME`, the digests of each of these parameters before the first of `steps` steps and after each."""
    for name in names:
        rows = arrays.get(f"frozen/{name}")
        if rows is None or rows.shape != (steps + 1, DIGEST_BYTES):
            detail = f"no evidence: frozen/{name} is missing or not of {steps} steps"
            return Check(name="frozen", passed=False, detail=detail)
        if gradient := next((kind for kind in ("gradient", "update") if f"{kind}/{name}" in arrays), ""):
            detail = f"{name} is not to be trained, and there is a {gradient}/{name}: its gradient was computed"
            return Check(name="frozen", passed=False, detail=detail)
        moved = np.flatnonzero((rows[1:] != rows[0]).any(axis=1))
        if moved.size:
            detail = f"{name} is not to be trained, and step {moved[0]} has changed it"
            return Check(name="frozen", passed=False, detail=detail)
    detail = f"{len(names)} arrays that are not trained are to the last bit what they were, in {steps} steps"
    return Check(name="frozen", passed=True, detail=detail)
