from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bakeoff.measure import contention, noise
from bakeoff.measure.contention import Counters, between, is_flagged
from bakeoff.measure.machine import usable_cores

SPIN = "import time; end = time.monotonic() + 30\nwhile time.monotonic() < end: pass"

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


def reading(at_ms: float, *, cpu_ms: float = 0, busy: int | None = 0, steal: int | None = 0) -> Counters:
    """Make a reading of counters."""
    return Counters(
        at_ns=int(at_ms * 1e6),
        cpu_ns=int(cpu_ms * 1e6),
        busy_ticks=busy,
        steal_ticks=steal,
        pressure_us=None,
        involuntary_switches=0,
        minor_faults=0,
        major_faults=0,
    )


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a machine of two processors and clock ticks of 10 ms."""
    monkeypatch.setattr(contention, "_cores", lambda: 2)
    monkeypatch.setattr(contention, "_tick_ns", lambda: 10_000_000)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have a system without /proc."""
    monkeypatch.setattr(contention, "Path", lambda path: tmp_path / str(path).lstrip("/"))


@on_linux
def test_a_busy_neighbour_is_seen() -> None:
    """What other processes burn beside a block is told as their share of the machine, and flags the block."""
    count = usable_cores()
    cores = os.cpu_count() or 1
    burners = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        deadline = time.monotonic() + 20
        share = 0.0
        while share < 0.5 * count / cores and time.monotonic() < deadline:
            before = contention.read()
            time.sleep(0.25)
            signals = between(before, contention.read())
            share = signals.foreign_share or 0.0
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert 0.5 * count / cores <= share <= 1.1
    assert is_flagged(signals) == (share > contention.FOREIGN_LIMIT)
    assert signals.cpu_ns < signals.wall_ns


@on_linux
def test_its_own_work_is_not_foreign() -> None:
    """Processor time of this very process is counted as its own."""
    before = contention.read()
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    signals = between(before, contention.read())
    assert signals.cpu_ns >= 190e6
    busy = (contention.read().busy_ticks or 0) - (before.busy_ticks or 0)
    cores = os.cpu_count() or 1
    foreign_ns = (signals.foreign_share or 0.0) * cores * signals.wall_ns
    assert foreign_ns <= busy * contention._tick_ns() - 190e6 + 1


@on_linux
def test_page_faults_are_counted() -> None:
    """Touching fresh memory shows in the block's minor faults."""
    before = contention.read()
    with mmap.mmap(-1, 64 << 20) as block:  # NumPy might take memory that was touched before
        block[:] = bytes(len(block))
        assert block[-1] == 0
    signals = between(before, contention.read())
    assert signals.minor_faults is not None
    assert signals.minor_faults > 16
    assert signals.involuntary_switches is not None
    assert signals.involuntary_switches >= 0


@pytest.mark.usefixtures("two_cores")
def test_shares_are_of_the_whole_machine() -> None:
    """In 1 s on two processors, 150 busy ticks of which 0.5 s are one's own leave half of the machine to others."""
    signals = between(reading(0), reading(1000, cpu_ms=500, busy=150, steal=20))
    assert signals.foreign_share == pytest.approx(0.5)
    assert signals.steal_share == pytest.approx(0.1)
    assert (signals.wall_ns, signals.cpu_ns) == (1_000_000_000, 500_000_000)


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize(("ticks", "flagged"), [(20, False), (21, False), (23, False), (24, True), (40, True)])
def test_rounding_to_ticks_flags_nothing(ticks: int, *, flagged: bool) -> None:
    """A block of 250 ms is flagged from the fourth foreign tick on: three may be rounding."""
    assert is_flagged(between(reading(0), reading(250, cpu_ms=200, busy=ticks))) is flagged


@pytest.mark.usefixtures("two_cores")
def test_a_little_load_in_every_block_flags_the_round() -> None:
    """What a single block cannot tell from rounding, twelve of them can, if it is more than 5 % of the machine."""
    quiet = between(reading(0), reading(250, cpu_ms=200, busy=22))
    some = between(reading(0), reading(250, cpu_ms=200, busy=23))
    assert not is_flagged(some)
    assert not is_flagged(*[quiet] * 12)
    assert is_flagged(*[some] * 12)


def test_a_record_is_judged_by_the_machine_that_it_was_made_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others took of 64 processors for 100 ms, a tenth, is as much on a laptop that reads the record."""
    monkeypatch.setattr(contention, "_tick_ns", lambda: 10_000_000)
    monkeypatch.setattr(contention, "_cores", lambda: 64)
    signals = between(reading(0), reading(100, cpu_ms=100, busy=74))
    assert signals.foreign_share == pytest.approx(0.1)
    assert is_flagged(signals)
    monkeypatch.setattr(contention, "_cores", lambda: 2)
    assert is_flagged(signals)


@pytest.mark.usefixtures("two_cores")
def test_clocks_that_disagree_give_no_negative_load() -> None:
    """Where the process's own clock is ahead of the ticks, nobody else was there: zero, not less."""
    assert between(reading(0), reading(250, cpu_ms=240, busy=23)).foreign_share == 0.0


@pytest.mark.usefixtures("elsewhere")
def test_what_is_not_known_is_none() -> None:
    """Without /proc, load, steal and pressure are unknown, never zero, and nothing is flagged."""
    before = contention.read()
    time.sleep(0.01)
    signals = between(before, contention.read())
    assert (signals.foreign_share, signals.steal_share, signals.pressure_us) == (None, None, None)
    assert signals.wall_ns >= 10_000_000
    assert not is_flagged(signals)


def test_no_blocks_are_not_flagged() -> None:
    """Nothing seen is nothing foreign."""
    assert not is_flagged()


def test_garbage_in_proc_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of another form than proc(5) tells are unknown, and raise nothing."""
    (tmp_path / "stat").write_text("cpu many\n")
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "cpu").write_text("some\n")
    monkeypatch.setattr(contention, "Path", lambda path: tmp_path / str(path).removeprefix("/proc/"))
    told = contention.read()
    assert (told.busy_ticks, told.steal_ticks, told.pressure_us) == (None, None, None)


def test_the_counters_of_proc_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Busy is user, nice, system and interrupts, not idle and waiting; pressure is the total of `some`."""
    (tmp_path / "stat").write_text("cpu  1 20 300 4000 50000 600000 7000000 80000000 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "cpu").write_text("some avg10=0.00 avg60=0.00 total=1234\nfull avg10=0.00 total=5\n")
    monkeypatch.setattr(contention, "Path", lambda path: tmp_path / str(path).removeprefix("/proc/"))
    told = contention.read()
    assert (told.busy_ticks, told.steal_ticks, told.pressure_us) == (7_600_321, 80_000_000, 1234)


def test_the_probe_tells_what_it_saw() -> None:
    """An idle probe gives shares between 0 and 1, and calm or not follows from the foreign one."""
    seen = noise.probe(0.05)
    assert seen.seconds >= 0.05
    for share in (seen.foreign_share, seen.steal_share, seen.pressure_share):
        assert share is None or 0.0 <= share <= 1.5
    if seen.foreign_share is not None:
        assert seen.calm is (seen.foreign_share <= contention.FOREIGN_LIMIT)


@pytest.mark.usefixtures("elsewhere")
def test_a_probe_that_sees_nothing_does_not_say_calm() -> None:
    """Where foreign load is not known, neither is calm."""
    seen = noise.probe(0.01)
    assert (seen.calm, seen.foreign_share, seen.pressure_share) == (None, None, None)
