"""The soak of benchmarks/soak.py, short; BAKEOFF_SOAK_TRIALS=500 makes it the whole one."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import pytest
from tests.conftest import script

TRIALS = int(os.environ.get("BAKEOFF_SOAK_TRIALS", "10"))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120 + 4 * TRIALS)]


@pytest.fixture(scope="module")
def soak() -> ModuleType:
    """Load the soak."""
    return script("soak")


@pytest.mark.by_turns
def test_kills_lose_no_finished_trial(soak: ModuleType, tmp_path: Path) -> None:
    """Two parents on one results directory, and their workers, are killed at random: nothing is lost or left."""
    counts = soak.kill_at_random(tmp_path, TRIALS, seed=1)
    assert counts["trials that finished"] >= TRIALS
    assert counts["workers killed"] > 0
    assert counts["parents killed"] > 0


def test_a_full_disk_loses_no_finished_trial(soak: ModuleType, tmp_path: Path) -> None:
    """A comparison whose disk becomes full ends with an error, keeps its trials, and goes on when there is room."""
    counts = soak.fill_the_disk(tmp_path)
    if counts is None:
        pytest.skip("it takes root to mount a disk that can become full")
    assert counts["trials before the disk was full"] > 4
    assert counts["after it had room"] > 0


def test_no_duration_uses_the_wall_clock(soak: ModuleType, tmp_path: Path) -> None:
    """Where the wall clock jumps by hours at every reading, budget, limits and records are as ever."""
    assert soak.jump(tmp_path)["trials under a jumping clock"] > 6


def test_lost_trials_are_noticed(soak: ModuleType, tmp_path: Path) -> None:
    """The soak itself would see a record that is gone or has changed."""
    trial = tmp_path / "r01-fake"
    trial.mkdir()
    (trial / "record.json").write_text("{}")
    before = soak.finished(tmp_path)
    (trial / "record.json").write_text("{ }")
    with pytest.raises(AssertionError, match=r"finished trials were lost: .*r01-fake"):
        soak.check(tmp_path, before)
