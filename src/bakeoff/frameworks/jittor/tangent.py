"""The hyperbolic tangent, with a slope that is a number everywhere."""

from __future__ import annotations

from typing import Any

import jittor as jt

_SATURATED = 20.0
"""Beyond this tanh is 1 in float32, from 9.02 on, and its slope is less than 1e-16."""


def tanh(x: Any) -> Any:
    """Hyperbolic tangent; its slope is 1 / cosh(x)^2 to Jittor, which overflows from 44.4 on and is no number then."""
    return jt.tanh(jt.clamp(x, -_SATURATED, _SATURATED))
