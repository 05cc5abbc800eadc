"""Where the certificates' reference computes: on the processor, or on the contenders' GPU, a pretended one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.race import conductor
from bakeoff.race.again import request_again
from bakeoff.race.prepare import outlined
from bakeoff.spec.errors import UsageError
from bakeoff.spec.request import Request
from bakeoff.study.sweep import Axis, sweep_of

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_comparison_is_asked_for_again_with_its_reference(
    race: Any, pretended_gpus: PretendedGpus, tmp_path: Path
) -> None:
    """An explanation goes on with a comparison whose reference computed on the GPU, and with any other."""
    assert pretended_gpus.uuid()
    for where in ("cuda", None):
        comparison = race("fake", "fake:step_ms=2", device="cuda", reference_device=where, max_rounds=1).comparison
        assert request_again(tmp_path / "one", comparison, budget_s=None).reference_device == where


def test_a_sweep_has_the_reference_where_the_points_contenders_are(pretended_gpus: PretendedGpus) -> None:
    """Of each point as of a race of its own; where no point is on a GPU it is refused."""
    assert pretended_gpus.uuid()
    request = Request(workload="mlp-mnist", contenders=("fake", "fake:step_ms=2"), reference_device="cuda")
    on_one = sweep_of(request, [Axis(name="device", values=("cpu", "cuda"))])
    assert [point.request.reference_device for point in on_one.points] == [None, "cuda"]
    mixed = msgspec.structs.replace(request, contenders=("fake:device=cuda", "fake"))
    batches = Axis(name="batch size", values=("2", "4"))
    assert [one.request.reference_device for one in sweep_of(mixed, [batches]).points] == ["cuda", "cuda"]
    with pytest.raises(UsageError, match="there is none at any point"):
        sweep_of(request, [batches])


def test_the_reference_on_a_gpu_is_a_contender_that_runs_there(pretended_gpus: PretendedGpus) -> None:
    """What nobody has asked whether it has CUDA computes none: the best-ranked of those that were asked does."""
    assert pretended_gpus.uuid()
    best = {("jax", "tensorflow"): "jax", ("jax", "torch"): "torch", ("tensorflow",): "tensorflow"}
    for contenders, name in best.items():
        asked = Request(workload="mlp-mnist", contenders=contenders, device="cuda", reference_device="cuda")
        reference = outlined(asked).reference
        assert reference is not None
        assert (reference.contender.framework, reference.contender.on_cuda) == (name, True)
    half = Request(workload="mlp-mnist", contenders=("jax:device=cuda", "torch"), reference_device="cuda")
    assert outlined(half).reference.contender.label == "jax in float64 on cuda"


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
