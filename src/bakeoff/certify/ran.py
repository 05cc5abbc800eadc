"""Check what timed steps keep: in inference that is all there is to show that the work was done."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.certify.errors import finite
from bakeoff.certify.sample import distance
from bakeoff.certify.tolerances import ran_tolerance
from bakeoff.spec.verdict import Check

if TYPE_CHECKING:
    from bakeoff.workloads.optimizers import Arrays


def check_ran(arrays: Arrays, count: int, precision: str, *, reference: Arrays | None, allowed: float) -> Check:
    """Check `ran/N` against the contender's own `output/N` and, where there is a reference, against the reference's.

    `allowed` is what outputs may be off from the reference's. The contender's own come from the same function, so that
    they agree more closely, whatever the depth of the model.
    """
    names = [(f"ran/{index}", f"output/{index}") for index in range(count)]
    missing = [kept for kept, asked in names if kept not in arrays or asked not in arrays]
    if missing or not names:
        detail = f"no evidence: {missing[0] if missing else 'no arrays'}"
        return Check(name="ran", passed=False, detail=detail, allowed=allowed)
    closely = ran_tolerance(precision, allowed)
    own = max(distance(arrays[kept], arrays[asked]) for kept, asked in names)
    detail = f"what timed steps keep is off by {own:.1e} from its own outputs (allowed {closely:.0e})"
    if reference is None:
        return Check(name="ran", passed=own <= closely, detail=detail, error=finite(own), allowed=closely)
    away = max(distance(arrays[kept], reference[asked]) if asked in reference else math.inf for kept, asked in names)
    detail += f" and by {away:.1e} from the reference's (allowed {allowed:.0e})"
    passed = own <= closely and away <= allowed
    return Check(name="ran", passed=passed, detail=detail, error=finite(away), allowed=allowed)
