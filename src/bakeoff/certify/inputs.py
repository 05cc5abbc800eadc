"""Whether a contender's own input delivers the samples that all other contenders take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.verdict import Check

if TYPE_CHECKING:
    from bakeoff.spec.record import Fed

SHUFFLED = "pipeline"
"""The value of the option `input` with which a framework's own loader shuffles."""


def check_inputs(fed: Fed) -> Check:
    """Check one pass: every sample comes once with its own label, and in order unless the loader shuffles."""
    passed = not (fed.missing or fed.strange) and (fed.in_order or fed.mode == SHUFFLED)
    detail = f"input={fed.mode} gives each of {fed.samples:,} samples once with its own label"
    if fed.missing or fed.strange:
        detail = (
            f"of {fed.samples:,} samples, input={fed.mode} leaves out {fed.missing:,} and gives {fed.strange:,} that "
            "are others, have another label or come twice"
        )
    elif not passed:
        detail = f"input={fed.mode} gives the samples in another order"
    elif fed.mode == SHUFFLED:
        detail += ", in an order of its own"
    return Check(name="inputs", passed=passed, detail=detail)
