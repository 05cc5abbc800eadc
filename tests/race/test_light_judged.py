"""What is judged of a step against given peaks: honest algorithms, caches, and steps beyond what is possible."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from bakeoff.judge.light import Peak, bytes_per_s, light_of, macs_per_s, peak_of
from bakeoff.spec.peaks import PeakReading, Timing, Work

PEAK = Peak(
    device="cpu",
    precision="float32",
    threads="2",
    macs_per_s=1e11,
    macs_by="a, 2026-11-22",
    bytes_per_s=1e10,
    bytes_by="b, 2026-11-22",
    cache_bytes=32 << 20,
)
CONVOLUTION = Work(macs=9_000_000_000, least_macs=1_000_000_000, parameters=1000, trains=False)
"""Of 3 x 3."""
LARGE = Work(macs=3_000_000, least_macs=3_000_000, parameters=10**8, state=2 * 10**8, batch_bytes=0, trains=True)
"""Far more bytes than MACs."""


@pytest.mark.parametrize("saved", [2.25, 4.0, 5.0625])
def test_an_algorithm_that_saves_multiplications_is_believed(saved: float) -> None:
    """Winograd's F(2x2), F(4x4) and F(6x6) for 3 x 3, at the very peak, have a share above 1 and no finding."""
    light = light_of(CONVOLUTION, PEAK, CONVOLUTION.macs / saved / PEAK.macs_per_s)
    assert light is not None
    assert light.macs_share == pytest.approx(saved)
    assert light.macs_per_s == pytest.approx(saved * PEAK.macs_per_s)
    assert (light.finding, light.is_refused) == ("", False)


def test_a_convolution_that_is_not_computed_is_refused() -> None:
    """Beyond one multiplication for each output there is no algorithm."""
    light = light_of(CONVOLUTION, PEAK, CONVOLUTION.least_macs / 2.1 / PEAK.macs_per_s)
    assert light is not None
    assert light.is_refused
    assert "multiplies at least 1,000 million times" in light.finding
    assert "(float32 on cpu, 2 threads; a, 2026-11-22)" in light.finding
    alone = msgspec.structs.replace(PEAK, threads="1")
    light = light_of(CONVOLUTION, alone, CONVOLUTION.least_macs / 2.1 / PEAK.macs_per_s)
    assert light is not None
    assert "(float32 on cpu, 1 thread; a, 2026-11-22)" in light.finding


@pytest.mark.parametrize(("times", "is_refused"), [(1.5, False), (99.0, False), (101.0, True), (63_000.0, True)])
def test_a_peak_from_beside_other_processes_refuses_what_is_far_beyond(times: float, is_refused: bool) -> None:  # noqa: FBT001
    """Outputs that MLX had kept from an earlier step came at 63,000 times the peak, and were ranked."""
    busy = msgspec.structs.replace(PEAK, calm=False)
    light = light_of(CONVOLUTION, busy, CONVOLUTION.least_macs / times / PEAK.macs_per_s)
    assert light is not None
    assert light.finding
    assert light.is_refused == is_refused


def test_a_peak_of_few_blocks_from_beside_other_processes_refuses_nothing() -> None:
    """One that was held up in its first block ended there, and a step came at 230 times what it had reached."""
    cut = msgspec.structs.replace(PEAK, calm=False, blocks=8)  # three of one size, and five more
    light = light_of(CONVOLUTION, cut, CONVOLUTION.least_macs / 230.0 / PEAK.macs_per_s)
    assert light is not None
    assert light.finding
    assert not light.is_refused


@pytest.mark.parametrize(("times", "is_refused"), [(0.9, False), (1.9, False), (2.1, True)])
def test_what_no_cache_holds_has_to_come_from_memory(times: float, is_refused: bool) -> None:  # noqa: FBT001
    """Parameters and state beyond the cache are read and written in every step, and memory has a peak, too."""
    moved = 2 * (4 * 3 * 10**8 - PEAK.cache_bytes) if PEAK.cache_bytes else 0
    light = light_of(LARGE, PEAK, moved / times / 1e10)
    assert light is not None
    assert light.beyond_cache_bytes == moved
    assert light.bytes_share == pytest.approx(times)
    assert light.is_refused == is_refused
    assert ("GB/s of memory (b, 2026-11-22)" in light.finding) == (times > 1)


def test_what_a_cache_may_hold_is_no_finding() -> None:
    """A model that fits in the cache, or a cache that nobody knows, says nothing about memory."""
    small = msgspec.structs.replace(LARGE, parameters=1000, state=2000)
    unknown = msgspec.structs.replace(PEAK, cache_bytes=None)
    for work, peak in ((small, PEAK), (LARGE, unknown)):
        light = light_of(work, peak, 1e-3)
        assert light is not None
        assert light.bytes_share is None
        assert not light.finding


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, 12e9), ({"cache_bytes": 1 << 30}, None), ({"cache_bytes": None}, None), ({"sums": None}, None)],
)
def test_arrays_within_the_cache_say_nothing_about_memory(changes: dict[str, Any], expected: float | None) -> None:
    """A rate of memory is that of arrays of at least twice the last-level cache."""
    reading = PeakReading(sums=Timing(size=1 << 26, count=1, blocks_ns=[1 << 27, 1 << 26]), cache_bytes=64 << 20)
    found = bytes_per_s(msgspec.structs.replace(reading, **changes), "cpu")
    assert found is expected is None or found == pytest.approx(expected)


def test_unknown_stays_unknown() -> None:
    """Without the work, the peak or a step time there is no share."""
    assert light_of(None, PEAK, 1.0) is None
    assert light_of(LARGE, None, 1.0) is None
    assert light_of(LARGE, PEAK, None) is None
    assert light_of(msgspec.structs.replace(LARGE, macs=0), PEAK, 1.0) is None


@pytest.mark.parametrize("value", [-(2**62), -1, 0, 2**62])
@pytest.mark.parametrize("field", ["macs", "least_macs", "parameters", "state", "batch_bytes"])
def test_any_number_in_a_strangers_comparison_is_survived(field: str, value: int) -> None:
    """Work that cannot be has no share, and what is absurd but possible has finite ones."""
    light = light_of(msgspec.structs.replace(LARGE, **{field: value}), PEAK, 1e-3)
    if light is not None:
        assert value >= 0
        assert light.bytes > 0
        assert 0 <= light.least_share < float("inf")


@pytest.mark.parametrize(
    "timing", [Timing(size=64, count=1, blocks_ns=[]), Timing(size=0, count=-1, blocks_ns=[0, -5])]
)
def test_a_reading_without_time_is_no_peak(timing: Timing) -> None:
    """What was not timed has no rate."""
    assert macs_per_s(PeakReading(products=[timing])) == 0


def test_a_peak_is_that_of_the_device_precision_and_threads_alone() -> None:
    """A reading in shorter arithmetic, or by more threads, is far above what this contender can reach."""
    here = {"device": "cpu", "precision": "float32", "threads": "2"}
    others: list[dict[str, str]] = [{"precision": "bfloat16"}, {"threads": "8"}, {"device": "cuda"}]
    readings: Any = [
        SimpleNamespace(
            trial=SimpleNamespace(purpose="peak", contender=SimpleNamespace(options=here | other, label=f"{other}")),
            outcome="done",
            started_at="2026-11-22T10:00:00",
            peaks=PeakReading(products=[Timing(size=1000, count=1, blocks_ns=[block_ns, 2 * block_ns])]),
        )
        for other, block_ns in [*((other, 10**5) for other in others), ({}, 10**7), ({}, 10**8)]
    ]
    plan: Any = SimpleNamespace(contender=SimpleNamespace(options=here))
    peak = peak_of(readings, plan)
    assert peak is not None
    assert peak.macs_per_s == pytest.approx(1000**3 / 0.01), "the best of both readings here, of its fastest block"


def test_a_batch_beyond_the_cache_has_to_come_from_memory_too() -> None:
    """It is read once a step beside the parameters, and never written."""
    assert PEAK.cache_bytes is not None
    small = msgspec.structs.replace(LARGE, parameters=1000, state=0, batch_bytes=PEAK.cache_bytes)
    light = light_of(small, PEAK, 1.0)
    assert light is not None
    assert light.beyond_cache_bytes == 4 * 1000


def test_a_rate_of_memory_from_beside_other_processes_makes_the_peak_uncertain() -> None:
    """The best products may be of a calm reading, and the best sums of another one that was not."""
    sums = Timing(size=1 << 26, count=1, blocks_ns=[1 << 26])
    calm = PeakReading(products=[Timing(size=1000, count=1, blocks_ns=[1_000_000])], cache_bytes=1 << 20)
    slow = PeakReading(
        products=[Timing(size=1000, count=1, blocks_ns=[9_000_000])], sums=sums, cache_bytes=1 << 20, foreign_share=0.3
    )
    for busy_share, is_calm in ((0.3, False), (0.0, True)):
        contender = SimpleNamespace(options={"device": "cpu", "precision": "float32", "threads": "2"}, label="torch")
        trial = SimpleNamespace(purpose="peak", contender=contender)
        readings: Any = [
            SimpleNamespace(trial=trial, outcome="done", started_at="2026-11-22T10:00:00", peaks=one)
            for one in (calm, msgspec.structs.replace(slow, foreign_share=busy_share))
        ]
        plan: Any = SimpleNamespace(contender=contender)
        peak = peak_of(readings, plan)
        assert peak is not None
        assert (peak.macs_per_s, peak.calm) == (pytest.approx(1e12), is_calm)
