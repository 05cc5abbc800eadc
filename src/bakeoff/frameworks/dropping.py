"""Whether a layer of dropout drops in the steps that are timed, for functions that take one and compute otherwise then.

The certificate has a layer of rate 0 in the place of each: with the note of what it stands for, the function is
certified as it is computed in those steps, by the same kernel, and drops nothing.
"""

from __future__ import annotations

from typing import Any

_NOTE = "stands_for"


def standing_for(rate: float, layer: Any) -> Any:
    """Return a layer that drops nothing, with the rate that it has in the steps that are timed."""
    setattr(layer, _NOTE, rate)
    return layer


def stands_for_one(layer: Any) -> bool:
    """Return whether a layer that drops nothing stands in the place of one that drops."""
    return getattr(layer, _NOTE, 0.0) > 0


def drops(layer: Any, rate: float) -> bool:
    """Return whether a layer of this rate drops in the steps that are timed; None drops nothing."""
    return layer is not None and (rate > 0 or stands_for_one(layer))
