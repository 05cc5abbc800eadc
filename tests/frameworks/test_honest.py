"""Honest contenders that tolerances written by hand refused; benchmarks/honest.py tries many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from bakeoff.race import conductor
from bakeoff.spec.request import Request

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize(("workload", "batch_size", "seed"), [("cnn-cifar10", 16, 0), ("resnet50-cifar10", 1, 1)])
def test_a_user_may_choose_batch_and_seed(workload: str, batch_size: int, seed: int, tmp_path: Path) -> None:
    """A framework is certified against its own float64 where kinks part single precision from it."""
    request = Request(
        workload=workload,
        contenders=("torch:threads=1",),
        size="reduced",
        data="synthetic",
        batch_size=batch_size,
        seed=seed,
        results=str(tmp_path),
    )
    (certificate,) = conductor.verify(request)
    assert certificate.passed, certificate.reason
    assert {check.stage for check in certificate.checks} == {"program", "timed", ""}
