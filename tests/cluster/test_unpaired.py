"""Contenders of jobs of their own: which pairs there are, which way round, and where no verdict is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.report.conftest import JAX, TORCH, comparison, outcome

from bakeoff.cluster.unpaired import pairs
from bakeoff.judge.likeness import HARDWARE

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome


def job(one: ContenderOutcome, **changes: Any) -> Outcome:
    """Return the outcome of a job with one contender."""
    return outcome([one], [], comparison=comparison([one.label], **changes))


def test_a_ratio_is_the_firsts_step_time_over_the_seconds() -> None:
    """A torch that takes 2.11 ms is slower than a JAX that takes 1.02."""
    (one,) = pairs([job(TORCH), job(JAX)])
    assert (one.first, one.second, one.verdict, one.reason) == ("torch", "jax", "slower", "")
    assert one.ratio is not None
    assert one.ratio.estimate == pytest.approx(2.11 / 1.02)
    assert one.ratio.low < 2.11 / 1.02 < one.ratio.high
    (other,) = pairs([job(JAX), job(TORCH)])
    assert (other.first, other.verdict) == ("jax", "faster")


@pytest.mark.parametrize("fact", [*HARDWARE, "gpu_driver", "kernel"])
def test_no_verdict_is_given_across_machines_that_differ(fact: str) -> None:
    """Device, driver and node type each; the reason names what differs."""
    (one,) = pairs([job(TORCH), job(JAX, machine=comparison(["jax"]).machine | {fact: "another"})])
    assert (one.ratio, one.verdict) == (None, None)
    assert one.reason.startswith("device, driver and node type have to agree: ")
    assert f"{fact} " in one.reason
    assert "another" in one.reason


def test_no_verdict_is_given_across_different_work() -> None:
    """Another batch is other work; and who is not ranked has no verdict, with the reason."""
    (one,) = pairs([job(TORCH), job(JAX, batch_size=64)])
    assert (one.verdict, one.reason) == (None, "they did not do the same work")
    failed = msgspec.structs.replace(JAX, status="uncertified", reason="its gradients differ")
    for jobs in ([job(TORCH), job(failed)], [job(failed), job(TORCH)]):
        (one,) = pairs(jobs)
        assert (one.verdict, one.reason) == (None, "jax is not ranked: its gradients differ")


def test_contenders_on_different_numbers_of_devices_are_no_pair() -> None:
    """One on a device and one on two do not compare."""
    options = JAX.plan.contender.options | {"devices": "2"}
    contender = msgspec.structs.replace(JAX.plan.contender, options=options)
    on_two = msgspec.structs.replace(JAX, plan=msgspec.structs.replace(JAX.plan, contender=contender))
    assert on_two.plan.devices == 2
    assert pairs([job(TORCH), job(on_two)]) == []
