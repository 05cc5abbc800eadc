"""A search for the largest batch: attempts at one batch size after another, each a process of its own."""

from __future__ import annotations

import msgspec

from bakeoff.spec.comparison import Comparison


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What is searched, and within what: search.json, written once before the first trial."""

    version: int = 1
    plan: Comparison
    """Workload, contenders, data and machine, as for a race; its batch size is the first that is tried."""
    limit_bytes: int
    """Of resident memory beyond that after the framework's import, from the first step on."""
    asked_bytes: int | None = None
    """The limit as the user gave it; None: a share of what was available."""
    available_bytes: int
    """What the machine could give without swapping when the search began."""
    precision: float
    """A search ends where the smallest batch that did not fit is within this share of the largest that did."""
