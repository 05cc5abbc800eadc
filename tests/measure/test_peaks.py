"""How peaks are measured: sizes that grow while it pays, blocks, and products that are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bakeoff.measure import machine, peaks


class Scripted:
    """A device in virtual time: its rate hangs on the size, and its products can be wrong."""

    def __init__(self, rates: dict[int, float], *, wrong: float = 0.0) -> None:
        """Take MACs a nanosecond by size, those of the largest for all beyond."""
        self.rates, self.wrong, self.now_ns = rates, wrong, 0

    def clock(self) -> int:
        """Give the time."""
        return self.now_ns

    def product(self, left: Any, right: Any) -> Any:
        """Make a product that takes its time."""
        size = len(left)
        took_ns = size**3 / self.rates.get(size, self.rates[max(self.rates)])
        return _Probe(self, took_ns, (left[0].astype(np.float64) @ right) * (1 - self.wrong))


class _Probe:
    def __init__(self, device: Scripted, took_ns: float, row: Any) -> None:
        self._device, self._took_ns, self._row = device, round(took_ns), row

    def run(self, batch: object) -> None:
        self._device.now_ns += self._took_ns

    def wait(self) -> None:
        pass

    def read(self) -> Any:
        return self._row


def test_sizes_grow_while_it_pays() -> None:
    """Twice as many rows each time, until two sizes in a row are no faster; the fastest is timed once more."""
    device = Scripted({64: 1.0, 128: 5.0, 256: 8.0, 512: 8.1, 1024: 8.0})
    found = peaks.products(device.product, device.clock)
    assert [timing.size for timing in found] == [64, 128, 256, 512, 1024, 512]
    assert peaks.macs_per_s(found[-1]) == pytest.approx(8.1e9, rel=1e-3)
    assert [len(timing.blocks_ns) for timing in found] == [3, 3, 3, 3, 3, 5]
    assert all(timing.count <= 1000 for timing in found)


def test_a_slow_library_is_not_waited_for() -> None:
    """Where one product would take longer than a quarter of a second, its size is not begun."""
    device = Scripted({64: 0.01})
    found = peaks.products(device.product, device.clock)
    assert max(timing.size for timing in found) == 128
    assert device.now_ns < 5e9


def test_a_product_that_is_not_the_product_is_no_peak() -> None:
    """What returns without multiplying is found by the first row."""
    device = Scripted({64: 1.0}, wrong=0.2)
    with pytest.raises(ValueError, match="is not what it should be"):
        peaks.products(device.product, device.clock)


def test_a_sum_that_was_not_added_is_no_peak() -> None:
    """Sums of ones count how often they were run."""
    device = Scripted({64: 1.0})
    with pytest.raises(ValueError, match=r"after 6 sums of ones there is 1\.0"):
        peaks.sums(lambda _: _Probe(device, 1.0, np.ones(1)), device.clock, 100)


def test_rows_of_a_matrix_differ() -> None:
    """No two rows are alike, so that a product of the wrong row is seen; every value is a multiple of an eighth."""
    matrix = peaks.matrix(256, 1)
    assert len(np.unique(matrix, axis=0)) == 256
    assert set(np.unique(8 * matrix)) <= set(range(-8, 9))


def test_last_level_caches_are_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cache of the highest level counts once, however many processors share it; without any it is unknown."""
    monkeypatch.setattr(machine, "CPUS", tmp_path)
    assert machine.last_level_cache_bytes() is None
    for cpu in range(4):
        for index, (level, size, shared) in enumerate([("1", "48K", f"{cpu}"), ("3", "4096K", "01"[cpu // 2] * 3)]):
            folder = tmp_path / f"cpu{cpu}" / "cache" / f"index{index}"
            folder.mkdir(parents=True)
            for name, text in (("level", level), ("size", size), ("shared_cpu_list", shared)):
                (folder / name).write_text(f"{text}\n")
    assert machine.last_level_cache_bytes() == 2 * (4096 << 10)
