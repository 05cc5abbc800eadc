"""Standard normal inputs with uniform labels, from a seed: for speed, there is nothing to learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bakeoff.data.samples import Samples
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.spec.workload import Size

ENDLESS = True
"""It has no end of its own: its epoch is as many batches as a race takes."""


def load(size: Size, count: int, seed: int, location: str | None) -> Samples:
    """Draw `count` samples; RandomState's streams are frozen (NEP 19), so a seed gives the same everywhere."""
    if location is not None:
        msg = f"synthetic data has no location: write 'synthetic' instead of 'synthetic:{location}'"
        raise UsageError(msg)
    stream = np.random.RandomState(seed)
    return Samples(
        source=f"synthetic (seed {seed})",
        x=stream.standard_normal((count, *size.input_shape)).astype(np.float32),
        y=stream.randint(0, size.classes, count, dtype=np.int32),
    )
