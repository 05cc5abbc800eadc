"""Honest contenders that tolerances written by hand refused; benchmarks/honest.py tries many more.

One of them is drawn for a run of the tests, by the sources.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.drawn import first, is_all, sources

from bakeoff.race import conductor
from bakeoff.spec.request import Request

HONEST = {"cnn-cifar10": (16, 0), "resnet50-cifar10": (1, 1)}
"""Of each workload a batch size and a seed that were refused."""

TRIED = sorted(HONEST if is_all() else first(HONEST, 1, sources()))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("workload", TRIED)
def test_a_user_may_choose_batch_and_seed(workload: str, tmp_path: Path) -> None:
    """A framework is certified against its own float64 where kinks part single precision from it."""
    batch_size, seed = HONEST[workload]
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
