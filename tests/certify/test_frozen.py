"""Whether parameters that are not trained have stayed as they were, by digests of their whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bakeoff.certify.frozen import DIGEST_BYTES, check_frozen

STEPS = 3
STILL = np.tile(np.arange(DIGEST_BYTES, dtype=np.uint8), (STEPS + 1, 1))


def moved(step: int) -> Any:
    """Return the digests of an array that changes in one step, by one byte alone."""
    rows = STILL.copy()
    rows[step + 1 :, 5] += 1
    return rows


def test_what_stays_as_it_was_passes() -> None:
    """The detail counts the arrays."""
    check = check_frozen(["a", "b"], {"frozen/a": STILL, "frozen/b": STILL}, steps=STEPS)
    assert check.passed
    assert "2 arrays" in check.detail


@pytest.mark.parametrize("step", range(STEPS))
def test_a_parameter_that_moves_in_any_step_is_refused(step: int) -> None:
    """The first step that has changed it is named."""
    check = check_frozen(["a", "b"], {"frozen/a": STILL, "frozen/b": moved(step)}, steps=STEPS)
    assert not check.passed
    assert f"b is not to be trained, and step {step} has changed it" in check.detail


@pytest.mark.parametrize("kind", ["gradient", "update"])
def test_a_gradient_of_a_frozen_parameter_is_refused(kind: str) -> None:
    """It costs a backward pass, and would be in the norm by which gradients are clipped."""
    check = check_frozen(["a"], {"frozen/a": STILL, f"{kind}/a": np.zeros(3)}, steps=STEPS)
    assert not check.passed
    assert "its gradient was computed" in check.detail


@pytest.mark.parametrize("rows", [{}, {"frozen/a": STILL[1:]}, {"frozen/a": STILL[:, 1:]}])
def test_digests_that_are_missing_are_no_evidence(rows: dict[str, Any]) -> None:
    """Nothing passes by what is not there."""
    check = check_frozen(["a"], rows, steps=STEPS)
    assert not check.passed
    assert "no evidence: frozen/a" in check.detail
