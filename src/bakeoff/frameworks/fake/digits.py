"""The digits that the scripted framework keeps in each precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

STORED_BITS = {"tf32": 10, "bfloat16": 7}
"""Of a number's fraction, in the precisions that keep fewer than float32 (IEEE 754 counts them without the first)."""


def factor(options: Mapping[str, str]) -> float:
    """Return how many times as long a step takes in its precision as in float32."""
    return float(options["reduced_factor"]) if options["precision"] in STORED_BITS else 1.0


def shortened(values: NDArray[Any], options: Mapping[str, str]) -> NDArray[Any]:
    """Return what numbers keep in a precision, and by the fault tf32 in that one; in those not listed, all of them."""
    bits = STORED_BITS.get("tf32" if options["wrong"] == "tf32" else options["precision"])
    if bits is None:
        return values
    fraction, exponent = np.frexp(values)
    kept: NDArray[Any] = np.ldexp(np.round(fraction * 2.0 ** (bits + 1)) / 2.0 ** (bits + 1), exponent)
    return kept
