"""How calm the machine is now, as seen by a process that does nothing."""

from __future__ import annotations

import os
import time

import msgspec

from bakeoff.measure.contention import FOREIGN_LIMIT, between, read

PROBE_S = 0.5
"""How long to watch: 50 clock ticks of each core, so that one tick is at most 2 %."""


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """What an idle process saw of others; None is unknown here."""

    seconds: float
    foreign_share: float | None
    steal_share: float | None
    pressure_share: float | None
    """Share of the time in which some task waited for a processor."""
    load: float | None
    """The system's load average over one minute."""

    @property
    def calm(self) -> bool | None:
        """Return whether others take less than the share at which blocks are flagged; None where unknown.

        Others are other processes and, on a virtual machine, other machines on the same processors.
        """
        if self.foreign_share is None:
            return None
        return self.foreign_share + (self.steal_share or 0.0) <= FOREIGN_LIMIT


def probe(seconds: float = PROBE_S) -> Noise:
    """Sleep for so many seconds and return what other processes did meanwhile."""
    before = read()
    time.sleep(seconds)
    signals = between(before, read())
    pressure = None if signals.pressure_us is None else signals.pressure_us * 1000 / signals.wall_ns
    return Noise(
        seconds=signals.wall_ns / 1e9,
        foreign_share=signals.foreign_share,
        steal_share=signals.steal_share,
        pressure_share=pressure,
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    )
