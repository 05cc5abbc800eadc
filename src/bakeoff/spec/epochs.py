"""A run of whole epochs, or of so many steps, as published comparisons run them: what one process leaves of it."""

from __future__ import annotations

import msgspec


class EpochRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run from the first step to the last; the first step's time is the record's `first_step_ns`."""

    steps: list[int]
    """Of each epoch; the first one's leave out the first step, which is timed by itself."""
    epochs_ns: list[int]
    """From the start of each epoch until its last result was there: streamed within, waited for once."""
    foreign_shares: list[float | None] = []
    """Processor time of other processes over all there was, beside each epoch; None is unknown."""
    loss: float | None = None
    """Of the last step, in training; None where it is not finite."""
    accuracy: float | None = None
    """On held-out data after the last step, 0 to 1; None where there is none."""
    test_samples: int = 0
    """Held-out samples that it was counted over."""
