"""How well a contender scales, from a verdict and records that are made by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.explaining.test_causes import block, record
from tests.report.conftest import JAX, TORCH, comparison, plan, verdict

from bakeoff.judge.scaling import Scaling, scalings, siblings
from bakeoff.spec.explained import Share, Traced
from bakeoff.spec.record import Record

ON_TWO = "torch:devices=2"


def known(*records: Record, scaling: str = "weak", ratio: float = 0.8) -> Scaling:
    """Give what is known of torch on two devices, whose step takes 1 / `ratio` of that on one, by 0.1 either way."""
    both = plan(ON_TWO)
    contender = msgspec.structs.replace(both.contender, options=both.contender.options | {"devices": "2"})
    both = msgspec.structs.replace(both, contender=contender)
    raced = msgspec.structs.replace(comparison(["torch"]), contenders=[TORCH.plan, both], scaling=scaling)
    found = [TORCH, msgspec.structs.replace(JAX, label=ON_TWO, plan=both)]
    pair = verdict("torch", ON_TWO, "faster", ratio, ratio - 0.1, ratio + 0.1)
    (one,) = scalings(raced, found, [pair], records)
    return one


def traced(number: int, *shares: tuple[str, float], **changed: Any) -> Record:
    """Give a traced trial of torch on two devices, with these shares of a step."""
    made = record(ON_TWO)
    trial = msgspec.structs.replace(made.trial, purpose="explain", round_number=number)
    parts = [Share(kind=kind, share=share) for kind, share in shares]  # type: ignore[arg-type]
    return msgspec.structs.replace(made, trial=trial, traced=Traced(level="layers", shares=parts), **changed)


def test_replicas_straggle_by_the_median_of_what_their_own_times_differ_by() -> None:
    """As a share of the block's time; of blocks of trials that came to their end, and of replicas with a clock each."""
    blocks = [
        block(turn=turn, elapsed_ns=elapsed, replicas_ns=own)
        for turn, (elapsed, own) in enumerate([(100, [90, 100]), (200, [100, 100]), (100, [60, 100])])
    ]
    lost = msgspec.structs.replace(record(ON_TWO, block(elapsed_ns=100, replicas_ns=[0, 100])), outcome="crashed")
    assert known(record(ON_TWO, *blocks), lost, lost).straggling == pytest.approx(0.1)
    assert known(record(ON_TWO, block(elapsed_ns=100))).straggling is None
    assert known(record("torch", *blocks)).straggling is None


def test_the_efficiency_is_the_ratio_of_steps_for_each_devices_samples() -> None:
    """A device has all the samples of one, or its part of them; what the first takes beyond one is its overhead."""
    weak = known()
    assert weak.efficiency is not None
    assert weak.overhead is not None
    assert msgspec.structs.astuple(weak.efficiency) == pytest.approx((0.8, 0.7, 0.9))
    assert msgspec.structs.astuple(weak.overhead) == pytest.approx((0.2, 0.1, 0.3))
    strong = known(scaling="strong", ratio=1.6)
    assert strong.efficiency is not None
    assert msgspec.structs.astuple(strong.efficiency) == pytest.approx((0.8, 0.75, 0.85))
    assert (strong.efficiency_estimate, strong.overhead) == (pytest.approx(0.8), None)


def test_collectives_have_the_mean_over_rounds_of_all_that_they_take_of_a_step() -> None:
    """Whatever layer or phase they are of; None where no round names one, and no interval of two rounds."""
    rounds = [traced(1, ("communication", 0.1), ("idle", 0.8), ("communication", 0.1)), traced(2, ("idle", 1.0))]
    assert known(*rounds).collectives == pytest.approx(0.1)
    assert known(*rounds).collectives_interval is None
    three = known(*rounds, traced(3, ("communication", 0.4)))
    assert (three.collectives, three.collectives_interval is None) == (pytest.approx(0.2), False)
    assert known(*rounds, traced(3, ("communication", 0.4), outcome="killed")).collectives == pytest.approx(0.1)
    assert known(rounds[1]).collectives is None


def test_a_contender_beside_itself_on_one_device_does_not_scale() -> None:
    """Two of the same on as many devices are a pair like any other."""
    again = plan("torch (a second one)")
    again = msgspec.structs.replace(
        again, contender=msgspec.structs.replace(plan("torch").contender, label="torch (a second one)")
    )
    assert siblings([plan("torch"), again]) == {}
