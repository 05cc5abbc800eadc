"""What moves the reference's operations: results of numbers, forward and backward, and nothing that is exact."""

from __future__ import annotations

import pytest
from asking import answer

pytestmark = pytest.mark.slow

SHARE = 1e-6


@pytest.mark.by_turns
def test_operations_are_moved_and_nothing_else() -> None:
    """By the share at most where one operation made it; views, what is done in place, counts and copies stay."""
    told = answer("torch", "rounding_child.py")
    assert SHARE / 10 < told["product"] <= 1.001 * SHARE
    assert SHARE / 10 < told["gradient"] < 100 * SHARE
    assert [told[name] for name in ("view", "in place", "counts", "copy", "argument")] == [0.0] * 5
    assert told["saved"] <= 3.001 * SHARE  # beside the result, the sum's gradient and the product are moved
    assert told["repeats"]
    assert told["elsewhere"]  # factors lie where the results do
    assert told["differs"]
    gradient, off = told["solved"]  # a probability less one, of which each is off by a share
    assert gradient < 1e-8
    assert SHARE / 2 < off <= 1.001 * SHARE
    # By up to 200 shares: a mean of 200 deviations is moved by its share before it is taken away.
    for name, (most, alike) in [one for norms in told["norms"] for one in norms.items()]:  # also in inference_mode
        assert 20 * SHARE < alike <= most < 300 * SHARE, name
