"""Bakeoff's step beside a framework's bare loop: what was found, and whether the two agree."""

from __future__ import annotations

import msgspec

from bakeoff.judge.ping_pong import AGREED
from bakeoff.spec.verdict import Interval


class AgainstBare(msgspec.Struct, frozen=True, kw_only=True):
    """One contender's step beside that of its framework's bare loop."""

    label: str
    rounds: int
    bakeoff_s: float | None = None
    bare_s: float | None = None
    """Medians over rounds; None without any."""
    ratio: Interval | None = None
    """Bakeoff over bare, with its 95 % interval; None below three rounds."""

    @property
    def agrees(self) -> bool | None:
        """Whether the two agree within 2 %, by all of the interval; None: neither is known."""
        found = self.ratio
        if found is None:
            return None
        if found.low >= 1.0 - AGREED and found.high <= 1.0 + AGREED:
            return True
        return False if found.high < 1.0 - AGREED or found.low > 1.0 + AGREED else None
