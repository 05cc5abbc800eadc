"""Whether a contender's own way of input delivers the batches that all contenders are to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.verdict import Check

if TYPE_CHECKING:
    from bakeoff.spec.evidence import InputPass

SHUFFLED = "pipeline"
"""The value of the option `input` with which a framework's own loader shuffles."""


def check_inputs(seen: InputPass) -> Check:
    """Check that one pass had each sample once with its own targets, and in order unless the loader shuffles."""
    complete = not (seen.missing or seen.unexpected)
    passed = complete and (seen.in_order or seen.mode == SHUFFLED)
    detail = f"input={seen.mode} gives each of {seen.samples:,} samples once with its own label"
    if not complete:
        detail = (
            f"of {seen.samples:,} samples, input={seen.mode} leaves out {seen.missing:,} and gives "
            f"{seen.unexpected:,} that are others, have another label or come twice"
        )
    elif not passed:
        detail = f"input={seen.mode} gives the samples in another order"
    elif seen.mode == SHUFFLED:
        detail += ", in an order of its own"
    return Check(name="inputs", passed=passed, detail=detail)
