"""What the checks of an acceptance ask for: the GPU that was chosen, one seed after another, and TF32 where it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.acceptance.test_judged import held

from bakeoff.acceptance import checks
from bakeoff.acceptance.setting import Launching, Setting
from bakeoff.spec.acceptance import Finding
from bakeoff.spec.probe import ProbeAnswer

if TYPE_CHECKING:
    from pathlib import Path

GPU = "GPU-b6e1d0f4-83aa-4c1d-b7f0-51c9e2d47a36"


@pytest.fixture
def setting(tmp_path: Path) -> Any:
    """Return a function that makes what a check is made with, on a GPU of this compute capability."""

    def make(capability: str | None = "8.9", device: str = "cuda") -> Setting:
        return Setting(
            contenders=("fake",),
            excluded={},
            device=device,
            size="reduced",
            quick=False,
            seed=7,
            machine={"gpu": "NVIDIA L4", "gpu_uuid": GPU, "gpu_compute_capability": capability},
            folder=tmp_path,
            whole=tmp_path,
            most_s=100.0,
            launching=Launching(),
        )

    return make


def test_every_check_runs_on_the_gpu_that_was_chosen(setting: Any) -> None:
    """By its UUID: the one with the most free memory may be another one by now."""
    request = setting().request("mlp-mnist")
    assert (request.device, request.gpu, request.trial_limit_s) == ("cuda", GPU, 100.0)
    assert setting(device="cpu").request("mlp-mnist").gpu is None


@pytest.mark.parametrize(
    ("capability", "has"), [("7.5", False), ("8.0", True), ("8.9", True), ("10.0", True), (None, True)]
)
def test_tf32_is_there_from_ampere_on(setting: Any, capability: str | None, has: bool) -> None:  # noqa: FBT001
    """Compute capabilities are numbers; an unknown one is tried."""
    assert setting(capability).has_tf32 == has
    assert not setting(capability, device="cpu").has_tf32


def test_environments_are_asked_of_that_gpu(setting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a worker would see it; one that lacks the device fails the check."""
    asked: list[Any] = []

    def probe(*_: Any, **about: Any) -> ProbeAnswer:
        asked.append((about["device"], about["variables"]))
        return ProbeAnswer(devices=["cpu"])

    monkeypatch.setattr(checks, "probe", probe)
    plan = SimpleNamespace(
        contender=SimpleNamespace(label="fake", framework="fake", options={"device": "cuda"}, environment=None),
        interpreter="python",
        framework_path="fake",
    )
    monkeypatch.setattr(checks, "checked", lambda _: (None, [plan], {}))
    assert checks.devices(setting()).state == "failed"
    assert asked == [("cuda", {"CUDA_VISIBLE_DEVICES": GPU, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"})]


def test_certificates_are_of_several_seeds(setting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five in a row, from the acceptance's own on, each in a request of its own."""
    seeds: list[int] = []
    monkeypatch.setattr(
        checks.conductor, "verify", lambda request, *_, **__: seeds.append(request.seed) or [held(0.25)]
    )
    found = checks.certificates(setting(), "mlp-mnist")
    assert seeds == [7, 8, 9, 10, 11]
    assert found.state == "passed"


def test_what_is_planted_is_planted_in_float32(setting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker computes in TF32, and is asked for float32."""
    asked: list[Any] = []
    refused = msgspec.structs.replace(held(3.0, passed=False))
    monkeypatch.setattr(checks.conductor, "verify", lambda request, *_, **__: asked.append(request) or [refused])
    assert checks.injected(setting(), "fake") == Finding(
        "passed", "refused: gradients 3.0e-04 where 1.0e-04 is allowed"
    )
    assert [(one.inject, one.contenders, one.gpu) for one in asked] == [({"precision": "tf32"}, ("fake",), GPU)]
