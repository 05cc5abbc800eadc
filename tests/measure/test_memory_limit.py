from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from bakeoff.measure import memory_limit

GROWING = "import sys, time\nsys.stdin.readline()\nheld = bytearray(200 << 20)\ntime.sleep(60)\n"
LONGEST_S = 30


@pytest.fixture
def growing() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that takes 200 MiB when it is told to."""
    with subprocess.Popen([sys.executable, "-c", GROWING], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def told(process: subprocess.Popen[bytes]) -> None:
    """Tell it."""
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


def test_a_process_beyond_its_ceiling_is_ended(growing: subprocess.Popen[bytes]) -> None:
    """What it held is told, and it is gone."""
    watched = memory_limit.MemoryLimit(growing.pid)
    with watched.within(100 << 20):
        told(growing)
        assert growing.wait(timeout=LONGEST_S) == -9
    assert watched.reason.startswith("ended when it held")


def test_a_process_below_its_ceiling_goes_on(growing: subprocess.Popen[bytes]) -> None:
    """Only memory beyond that at the beginning counts."""
    watched = memory_limit.MemoryLimit(growing.pid)
    with watched.within(400 << 20):
        told(growing)
        time.sleep(10 * memory_limit.PERIOD_S)
        assert growing.poll() is None
    assert watched.reason == ""


def test_a_machine_at_its_end_ends_the_process(
    growing: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before others are ended, whatever the process may take itself."""
    monkeypatch.setattr(memory_limit, "available_memory_bytes", lambda: memory_limit.FLOOR_BYTES - 1)
    watched = memory_limit.MemoryLimit(growing.pid)
    with watched.within(1 << 40):
        assert growing.wait(timeout=LONGEST_S) == -9
    assert "the machine had 268 MB left" in watched.reason


def test_a_process_that_has_ended_is_no_failure(growing: subprocess.Popen[bytes]) -> None:
    """How it ended is told elsewhere."""
    watched = memory_limit.MemoryLimit(growing.pid)
    with watched.within(1 << 40):
        growing.kill()
        growing.wait()
        time.sleep(5 * memory_limit.PERIOD_S)
    assert watched.reason == ""
