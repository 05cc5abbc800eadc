"""The speed of light: what share of this machine's peaks a step reaches, and whether it is faster than they allow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.measure.contention import FOREIGN_LIMIT
from bakeoff.spec.record import NS
from bakeoff.store.results import finished, of_purpose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.peaks import PeakReading, Timing, Work
    from bakeoff.spec.record import Record

SURE = 2.0
"""From so many times a peak on a step is refused; from one time on there is a warning. It is room for what a peak that
was measured once may be too low by: the highest clock is up to 1.9 times the lowest that is promised (Intel, Xeon
Platinum 8480+: 2.0 GHz, at most 3.8 GHz), a virtual machine's host may have been busy, a model's last operations may be
left out where nobody reads them, and one level of Strassen's algorithm saves an eighth."""

SURE_BESIDE_OTHERS = 100.0
"""The same where other processes ran beside a peak's measuring. For an honest step to be refused they would have had to
leave the best of some thirty blocks less than a hundredth of what the machine can do."""

FEWEST_BLOCKS = 15
"""Blocks of a disturbed reading's products from which that holds. Sizes grow until one would take too long, as the
smallest may beside others: a reading then ends with 3 blocks of it and 5 more, none of which any other has checked."""

FEWEST_CACHES = 2
"""Arrays of fewer times the last-level cache say nothing about the memory behind it."""

ACCELERATOR_CACHE_BYTES = 256 << 20
"""The largest cache of an accelerator (AMD, "CDNA 3 Architecture": the MI300's Infinity Cache), where nobody tells."""

SUM_BYTES = 12
"""Of a sum of float32 in its place, for each value: two read and one written."""

ITEM_BYTES = {"float64": 8, "bfloat16": 2, "float16": 2}
"""Of a parameter in inference; all other precisions hold 4. In training, precisions of 2 bytes keep parameters of 4."""


class Peak(msgspec.Struct, frozen=True, kw_only=True):
    """The best that was measured on this machine for one device, precision and number of threads."""

    device: str
    precision: str
    threads: str
    macs_per_s: float
    macs_by: str
    """The contender whose framework has reached it, with the date."""
    bytes_per_s: float | None = None
    """Of memory; None where no array was large enough to be beyond the caches."""
    bytes_by: str = ""
    cache_bytes: int | None = None
    calm: bool = True
    """False: other processes ran beside the best readings, which then refuse only what is far beyond them."""
    blocks: int = FEWEST_BLOCKS
    """Of products in the reading of the best one."""


class Light(msgspec.Struct, frozen=True, kw_only=True):
    """One contender's step against the peaks of its device, precision and threads."""

    peak: Peak
    macs: int
    """Of one step, as the formulas are written."""
    least_macs: int
    bytes: int
    """Parameters, the optimiser's state and the batch, each read once a step and, where they change, written once."""
    beyond_cache_bytes: int
    """What of these no cache can hold from one step to the next."""
    macs_per_s: float
    """MACs over the step time."""
    macs_share: float
    """Of the peak; above 1 where an algorithm has saved multiplications, such as Winograd's for convolutions."""
    bytes_share: float | None
    """What must come from memory, over the step time, as a share of the peak; None: caches may hold it all, or the
    peak is unknown."""
    least_share: float
    """The larger of the shares that no algorithm can honestly have above 1."""
    finding: str = ""
    """That the step is faster than a peak allows, in a sentence; empty where it is not."""

    @property
    def is_refused(self) -> bool:
        """Whether the step is faster than a machine with so many times these peaks would allow."""
        is_sure = self.peak.calm or self.peak.blocks >= FEWEST_BLOCKS
        return is_sure and self.least_share > (SURE if self.peak.calm else SURE_BESIDE_OTHERS)


class PeakKey(NamedTuple):
    """What a peak hangs on, beside the machine."""

    device: str
    precision: str
    threads: str


def place_of(options: Mapping[str, str]) -> PeakKey:
    """Return where a contender with these options computes."""
    return PeakKey(options.get("device", "cpu"), options.get("precision", "float32"), options.get("threads", ""))


def peak_of(records: Iterable[Record], plan: ContenderPlan) -> Peak | None:
    """Return the peak for one contender: the best of all readings for its device, precision and threads."""
    place = place_of(plan.contender.options)
    known = [
        (record, record.peaks)
        for record in finished(of_purpose(records, "peak"))
        if record.peaks is not None
        and macs_per_s(record.peaks) > 0
        and place_of(record.trial.contender.options) == place
    ]
    if not known:
        return None
    best, reading = max(known, key=lambda one: macs_per_s(one[1]))
    streamed = [(record, rate, one) for record, one in known if (rate := bytes_per_s(one, place.device)) is not None]
    fastest = max(streamed, key=lambda one: one[1], default=None)
    return Peak(
        **place._asdict(),
        macs_per_s=macs_per_s(reading),
        macs_by=_by(best),
        bytes_per_s=fastest[1] if fastest else None,
        bytes_by=_by(fastest[0]) if fastest else "",
        cache_bytes=_cache_bytes(reading, place.device),
        calm=is_calm(reading) and (fastest is None or is_calm(fastest[2])),
        blocks=sum(len(timing.blocks_ns) for timing in reading.products),
    )


def _by(record: Record) -> str:
    """Return whose reading this is, and of which day."""
    return f"{record.trial.contender.label}, {record.started_at.partition('T')[0]}"


def is_calm(reading: PeakReading) -> bool:
    """Return whether a reading was not disturbed, as far as the system says so."""
    return reading.foreign_share is None or reading.foreign_share <= FOREIGN_LIMIT


def macs_per_s(reading: PeakReading) -> float:
    """Return the best rate of products; 0 where there is none."""
    return max((timing.size**3 * _per_s(timing) for timing in reading.products), default=0.0)


def bytes_per_s(reading: PeakReading, device: str) -> float | None:
    """Return the rate of memory; None where caches may have held the arrays."""
    sums, cache_bytes = reading.sums, _cache_bytes(reading, device)
    if sums is None or cache_bytes is None or 2 * 4 * sums.size < FEWEST_CACHES * cache_bytes:
        return None
    return SUM_BYTES * sums.size * _per_s(sums)


def _per_s(timing: Timing) -> float:
    """Return the operations of a second in the fastest block: a peak is what was reached once; 0 without any."""
    if not timing.blocks_ns or min(timing.size, timing.count) < 1:
        return 0.0
    return timing.count / (max(1, min(timing.blocks_ns)) * NS)


def _cache_bytes(reading: PeakReading, device: str) -> int | None:
    """Return how much may stay in caches; None where it is unknown."""
    return reading.cache_bytes if device == "cpu" else ACCELERATOR_CACHE_BYTES


def light_of(work: Work | None, peak: Peak | None, step_s: float | None) -> Light | None:
    """Return how a step stands against the peaks; None where work, peak or step time are unknown."""
    if work is None or peak is None or step_s is None or not 0 < step_s < math.inf or not _is_countable(work):
        return None
    beyond = beyond_cache_bytes(work, peak)
    bytes_share = beyond / step_s / peak.bytes_per_s if beyond and peak.bytes_per_s else None
    least = max(work.least_macs / step_s / peak.macs_per_s, bytes_share or 0.0)
    light = Light(
        peak=peak,
        macs=work.macs,
        least_macs=work.least_macs,
        bytes=_held_bytes(work, peak) + _written_bytes(work, peak) + work.batch_bytes,
        beyond_cache_bytes=beyond,
        macs_per_s=work.macs / step_s,
        macs_share=work.macs / step_s / peak.macs_per_s,
        bytes_share=bytes_share,
        least_share=least,
    )
    return msgspec.structs.replace(light, finding=_finding(light, step_s)) if least > 1 else light


def _is_countable(work: Work) -> bool:
    """Return whether there is anything to state a share of; a comparison of strangers may hold any numbers."""
    is_held = work.frozen <= work.parameters and work.parameters + work.batch_bytes > 0
    return work.macs > 0 and is_held and min(msgspec.structs.astuple(work)) >= 0


def _held_bytes(work: Work, peak: Peak) -> int:
    """Return the size of parameters and the optimiser's state."""
    item = ITEM_BYTES.get(peak.precision, 4)
    return (max(4, item) if work.trains else item) * (work.parameters + work.state)


def _written_bytes(work: Work, peak: Peak) -> int:
    """Return what a step writes of them."""
    return _held_bytes(msgspec.structs.replace(work, parameters=work.parameters - work.frozen), peak) * work.trains


def beyond_cache_bytes(work: Work, peak: Peak) -> int:
    """Return the bytes that a step must have from memory, or write there, whatever caches hold from the step before.

    Of what is read at most one cache's content is there already, and of what is written at most as much can stay.
    """
    if peak.cache_bytes is None:
        return 0
    held = _held_bytes(work, peak)
    read = max(0, held + work.batch_bytes - peak.cache_bytes)
    return read + max(0, _written_bytes(work, peak) - peak.cache_bytes)


def _finding(light: Light, step_s: float) -> str:
    """Return that a step is faster than the peak of products allows, or than that of memory."""
    peak = light.peak
    where = f"{peak.precision} on {peak.device}, {peak.threads} thread{'' if peak.threads == '1' else 's'}"
    if light.bytes_share is not None and light.bytes_share == light.least_share:
        amount = f"moves at least {light.beyond_cache_bytes / 1e6:,.4g} MB beyond the caches"
        rate = f"{(peak.bytes_per_s or 0.0) / 1e9:,.3g} GB/s of memory ({peak.bytes_by})"
    else:
        amount = f"multiplies at least {light.least_macs / 1e6:,.4g} million times"
        rate = f"{peak.macs_per_s / 1e9:,.3g} GMAC/s of matrix products ({where}; {peak.macs_by})"
    return (
        f"a step takes {step_s * 1e3:,.3g} ms and {amount}, for which the best measured on this machine, {rate}, takes "
        f"{light.least_share * step_s * 1e3:,.3g} ms"
    )
