"""Where the certificates' reference computes: on the processor, or on the contenders' GPU, a pretended one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.race import conductor
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from tests.gpu.pretended import PretendedGpus


@pytest.fixture(autouse=True)
def _certificates_and_times_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have comparisons leave out what comes behind the verdict."""
    monkeypatch.setattr(conductor, "COMPARISON", conductor.COMPARISON[:2])


def test_the_reference_computes_where_it_is_asked_to(race: Any, pretended_gpus: PretendedGpus) -> None:
    """On the GPU of the contenders, and is called so beside their certificates; on the processor if nothing is said."""
    contenders = ("fake", "fake:step_ms=2")
    asked = {"device": "cuda", "max_rounds": 1}
    on_gpu = race(*contenders, reference_device="cuda", **asked)
    reference = on_gpu.comparison.reference
    assert (reference.contender.label, reference.contender.options["device"]) == ("fake in float64 on cuda", "cuda")
    assert on_gpu.comparison.machine["gpu_uuid"] == pretended_gpus.uuid()
    assert all(one.certificate.passed for one in on_gpu.contenders)
    assert {one.certificate.reference for one in on_gpu.contenders} == {"fake in float64 on cuda"}
    beside = race(*contenders, **asked).comparison.reference
    assert (beside.contender.label, beside.contender.options["device"]) == ("fake in float64", "cpu")


@pytest.mark.parametrize(
    ("device", "where", "said"),
    [
        ("cpu", "cuda", "none of these is on one: add --device cuda"),
        ("cuda", "mps", "--reference-device mps: valid: cpu, cuda"),
        ("cuda", "gpu", "--reference-device gpu: valid: cpu, cuda"),
    ],
)
def test_a_place_without_a_reference_is_refused(
    race: Any, pretended_gpus: PretendedGpus, device: str, where: str, said: str
) -> None:
    """Before anything starts, with what to do."""
    assert pretended_gpus.uuid()
    with pytest.raises(UsageError, match=said):
        race("fake", "fake:step_ms=2", device=device, reference_device=where)
