"""The reference's large convolutions: by other calls, the same numbers in less memory or time."""

from __future__ import annotations

import pytest
from asking import answer

pytestmark = pytest.mark.slow

WINDOWS_BYTES = 8 * 32 * 8 * 5 * 5 * 56 * 56
"""Of the whole batch in `held_bytes` of parts_child.py."""


@pytest.mark.by_turns
def test_other_calls_give_the_same_in_less_memory() -> None:
    """Outputs and gradients are the same but for rounding, small ones are left alone, windows do not pile up."""
    told = answer("torch", "parts_child.py")
    others = {}
    for reason in ("large", "few"):
        others[reason] = {name for name, (passes, _) in told[reason].items() if passes == 2}  # forward and backward
        for name, (passes, error) in told[reason].items():
            assert passes in {0, 2}, name
            assert error < 1e-14, name
    every = set(told["large"])
    assert every - others["large"] == {"few places of a kernel of 1"}
    assert every - others["few"] == {"maps", "strided, dilated, in groups, without a bias"}
    assert set(told["alone"].values()) == {0}
    assert told["purposes"] == ["reference"]
    in_parts, at_once = told["bytes"]
    assert at_once > 0.8 * WINDOWS_BYTES
    assert in_parts < 0.5 * WINDOWS_BYTES
