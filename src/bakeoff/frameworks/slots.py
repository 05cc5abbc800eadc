"""What the arrays are called that an optimiser keeps for each parameter, whatever its framework calls them."""

from __future__ import annotations

FIRST_MOMENT = "first moment"
SECOND_MOMENT = "second moment"
MOMENTUM = "momentum"
MEAN_SQUARE = "mean square"
"""Adam and AdamW have the first two, SGD and RMSprop with momentum the third, RMSprop the last."""


def slot_name(slot: str, parameter: str) -> str:
    """Return the name of one of an optimiser's arrays: `first moment/hidden.weight`."""
    return f"{slot}/{parameter}"
