"""What a source of data returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bakeoff.spec.batch import Batch


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Samples to train on, in the order in which they are used, and held-out ones to be tested on."""

    source: str
    """The source with its version."""
    train: Batch
    test: Batch | None = None
