"""What a contender's own way of input was seen to give."""

from __future__ import annotations

import msgspec


class Fed(msgspec.Struct, frozen=True, kw_only=True):
    """One pass through the samples of a trial, held against the batches that every contender is to take."""

    mode: str
    """The option `input`."""
    samples: int
    """That were to be given."""
    missing: int
    """Samples that were not given with their own label."""
    strange: int
    """Given ones that are none of them, or came a second time."""
    in_order: bool
    """They came in the order of the batches."""
