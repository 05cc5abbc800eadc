"""What one framework reaches on this machine, whatever the workload: products of matrices, and sums of long arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.measure import contention, peaks
from bakeoff.measure.clock import monotonic
from bakeoff.measure.machine import available_memory_bytes, last_level_cache_bytes
from bakeoff.spec.peaks import PeakReading

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.peaks import Timing
    from bakeoff.trial.opened import Opened

ITEM_BYTES = 4
"""Of float32."""

BEYOND = 4
"""Both arrays of a sum together are so many times the last-level cache, so that at most a quarter of them is found in
it. STREAM (McCalpin, "STREAM: Sustainable Memory Bandwidth") asks for it of each array; where caches have hundreds of
MB that would take longer than all else."""

UNKNOWN_CACHE_BYTES = 64 << 20
"""What is taken for a cache that nobody reports on a processor: its bandwidth is measured, and no share is stated."""

ACCELERATOR_BYTES = 1 << 30
"""Of both arrays together on an accelerator: four times the largest cache of one (256 MB: AMD, "CDNA 3 Architecture",
Infinity Cache of the MI300)."""

MOST_BYTES = 2 << 30
"""Of both arrays together on a processor: touching them for the first time takes about a second."""

MOST_SHARE = 0.125
"""And at most this share of the memory that is available."""


def reading(opened: Opened) -> PeakReading:
    """Return what was measured; what cannot be measured here is missing, and the reason says why."""
    engine, on_processor = opened.engine, opened.trial.contender.device == "cpu"
    if not hasattr(engine, "product"):
        return PeakReading(reason="this framework's engine has no plain product to time")
    cache_bytes = last_level_cache_bytes() if on_processor else None
    is_real = opened.clock is monotonic
    count = _sum_bytes(cache_bytes, on_processor=on_processor) // (2 * ITEM_BYTES)
    before = contention.read()
    products, why_none = _tried(lambda: peaks.products(engine.product, opened.clock))
    sums, why_no_sums = _tried(lambda: [peaks.sums(engine.sums, opened.clock, count)])
    return PeakReading(
        products=products,
        sums=sums[0] if sums else None,
        cache_bytes=cache_bytes,
        # What really runs beside a scripted clock takes nothing from it.
        foreign_share=contention.between(before, contention.read()).foreign_share if is_real else None,
        reason="; ".join(why for why in (why_none, why_no_sums) if why),
    )


def _tried(work: Callable[[], list[Timing]]) -> tuple[list[Timing], str]:
    """Return what was timed, and why nothing was: a device may lack the memory, a framework the operation."""
    try:
        return work(), ""
    except Exception as error:  # noqa: BLE001 - whatever a framework raises, its contender can race without it
        return [], f"{type(error).__name__}: {error}"


def _sum_bytes(cache_bytes: int | None, *, on_processor: bool) -> int:
    """Return how much memory both arrays of a sum take together."""
    if not on_processor:
        return ACCELERATOR_BYTES
    wanted = min(MOST_BYTES, BEYOND * (cache_bytes or UNKNOWN_CACHE_BYTES))
    available = available_memory_bytes()
    return wanted if available is None else min(wanted, int(MOST_SHARE * available))
