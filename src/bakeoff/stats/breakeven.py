"""When a slower start has paid."""

from __future__ import annotations

import math

# Differences of binary fractions are off in their last digits: 10 / (0.7 - 0.5) must be 50 and not 51.
ROUNDING = 1e-9


def break_even(start_a: float, step_a: float, start_b: float, step_b: float) -> int | None:
    """Give the number of steps after which the side with the slower start has caught up.

    Times in any one unit. None where it never does, or where the starts are equal and there is nothing to catch up.
    """
    lead = start_a - start_b
    gain = step_b - step_a
    if lead < 0:
        lead, gain = -lead, -gain
    if lead == 0 or gain <= 0:
        return None
    return math.ceil(lead / gain * (1.0 - ROUNDING))
