"""The reference's large convolutions: a part of the batch at a time, the same numbers in less memory."""

from __future__ import annotations

import pytest
from asking import answer

pytestmark = pytest.mark.slow

WINDOWS_BYTES = 8 * 32 * 8 * 5 * 5 * 56 * 56
"""Of the whole batch in `held_bytes` of parts_child.py."""


@pytest.mark.by_turns
def test_a_batch_in_parts_gives_the_same_in_less_memory() -> None:
    """Outputs and gradients are the same but for rounding, small ones are left alone, windows do not pile up."""
    told = answer("torch", "parts_child.py")
    for name, (apart, error) in told["layers"].items():
        assert apart == 2, name  # forward and backward
        assert error < 1e-14, name
    assert set(told["alone"].values()) == {0}
    in_parts, at_once = told["bytes"]
    assert at_once > 0.8 * WINDOWS_BYTES
    assert in_parts < 0.5 * WINDOWS_BYTES
