"""What a contender's traces tell of its step, from records that are made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.explaining.test_causes import record
from tests.explaining.test_gaps_by_hand import share
from tests.report.conftest import TORCH

from bakeoff.judge.explanation import ContenderProfile
from bakeoff.judge.profile import profile_of
from bakeoff.spec.explained import Level, Share, Traced
from bakeoff.spec.record import Record


def traced(number: int, *shares: Share, level: Level = "layers", **changed: Any) -> Record:
    """Give torch's traced trial of a round, with these shares of a step."""
    made = record("torch")
    trial = msgspec.structs.replace(made.trial, purpose="explain", round_number=number)
    return msgspec.structs.replace(made, trial=trial, traced=Traced(level=level, shares=list(shares), **changed))


def profile(*records: Record) -> ContenderProfile:
    """Give what they tell of torch."""
    found = profile_of(TORCH, records, Path("nowhere"))
    assert found is not None
    return found


FIRST = (
    share("convolution", 0.5, layer="stem", inferred=0.1, mixed=0.3, launches=4.0),
    share("element-wise", 0.2, mixed=0.1, launches=2.0),
    share("device copy", 0.1, "", launches=1.0),
    share("idle", 0.2, ""),
)
SECOND = (
    share("convolution", 0.3, layer="stem", inferred=0.3),
    share("host dispatch", 0.4, layer="stem"),
    share("input wait", 0.3, ""),
)


def test_shares_are_means_over_rounds_of_their_sums() -> None:
    """By rules, fused of several, and of nothing known; what computes, what copies, and how much was started."""
    found = profile(traced(1, *FIRST), traced(2, *SECOND))
    told = (found.inferred_share, found.mixed_share, found.unattributed_share)
    assert told == (pytest.approx(0.2), pytest.approx(0.2), pytest.approx(0.4))
    assert found.compute is not None
    assert found.copies is not None
    assert found.launches is not None
    assert (found.compute.mean, found.copies.mean) == (pytest.approx(0.5), pytest.approx(0.05))
    assert (found.launches.mean, found.launches.interval) == (3.5, None)


def test_without_layers_only_what_no_operation_is_behind_is_unattributed() -> None:
    """An operation without a layer is no gap of a profile that has none."""
    assert profile(traced(1, *FIRST, level="kinds")).unattributed_share == pytest.approx(0.2)


def test_the_profilers_cost_is_the_median_over_pairs_of_blocks() -> None:
    """Of each pair the medians of its steps; a block that saw nothing has no pair."""
    blocks = {"plain_ns": [[10, 10, 90], [10], [], [10]], "profiled_ns": [[12, 12, 12], [20], [50], [13]]}
    assert profile(traced(1, *FIRST, **blocks)).profiled_ratio == pytest.approx(1.3)
    assert profile(traced(1, *FIRST)).profiled_ratio is None
