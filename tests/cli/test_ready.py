"""`bakeoff doctor --device`: ok, or what to do and exit code 1, on pretended GPUs."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.cli import ready
from bakeoff.environments import declared, interpreters
from bakeoff.environments.probe import probe
from bakeoff.measure import noise
from bakeoff.spec.probe import ProbeAnswer

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.gpu.pretended import PretendedGpus

FAKE = declared.framework("fake")
LISTED = msgspec.structs.replace(FAKE, info=msgspec.structs.replace(FAKE.info, listed=True))


@pytest.fixture(autouse=True)
def _scripted_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the scripted framework as the only one, as if it were a real one, in this interpreter."""
    monkeypatch.setattr(ready, "frameworks", lambda: {"fake": LISTED})
    monkeypatch.setattr(ready, "available", lambda device: ({"fake": sys.executable}, {}) if device else None)


def answering(monkeypatch: pytest.MonkeyPatch, **told: Any) -> None:
    """Have every interpreter answer so, without being started."""
    known: dict[str, Any] = {"python": "3.11", "versions": {"fake": "1"}, "devices": ["cpu", "cuda"], "cuda": "13.0"}
    monkeypatch.setattr("bakeoff.environments.probe.probe", lambda *_, **__: ProbeAnswer(**known | told))


def words(text: str) -> str:
    """Give a text without its line breaks."""
    return " ".join(text.split())


def test_a_gpu_with_its_environment_is_ready(cli: Cli, pretended_gpus: PretendedGpus) -> None:
    """The GPU's facts, the framework that runs on it, "ok" at the end and exit code 0; its process was a real one."""
    said = cli("doctor", "--device", "cuda")
    assert said.code == 0
    assert said.out.startswith(f"gpu 0       NVIDIA L4, {pretended_gpus.uuid(0)}")
    assert "capability 8.9, driver 580.95.05 runs CUDA 13.0" in words(said.out)
    assert "device_memory=grow, runs on cuda" in words(said.out)
    assert said.out.splitlines()[-1] == "ok"


def test_an_environment_for_processors_is_to_be_done(
    cli: Cli, pretended_gpus: PretendedGpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a GPU, a framework without CUDA is told with the command, and the exit code is 1."""
    assert pretended_gpus
    answering(monkeypatch, devices=["cpu"], cuda="", reasons={"cuda": "it is built without CUDA"})
    said = cli("doctor", "--device", "cuda")
    assert said.code == 1
    assert "to do:      fake: it is built without CUDA. Make the environment for the GPU" in said.out
    assert said.out.splitlines()[-1].endswith("bakeoff env create fake --device cuda")
    assert "\nok" not in said.out


def test_a_machine_without_a_gpu_has_one_thing_to_do(cli: Cli, no_gpus: PretendedGpus) -> None:
    """The driver, or the container's GPU; what frameworks lack besides nobody can say."""
    assert no_gpus
    said = cli("doctor", "--device", "cuda")
    assert said.code == 1
    assert said.out.count("to do:") == 1
    assert "docker run --gpus all" in said.out


def test_a_gpu_that_lets_one_process_compute_is_told(cli: Cli, pretended_gpus: PretendedGpus) -> None:
    """Contenders share the GPU: the compute mode has to allow it."""
    pretended_gpus.set(0, compute_mode="3")
    said = cli("doctor", "--device", "cuda")
    assert said.code == 1
    assert "to do: GPU compute mode: compute mode exclusive process" in words(said.out)
    assert "sudo nvidia-smi -i 0 -c 0" in said.out
    assert "advice GPU clock" in words(said.out)


def test_a_gpu_that_admits_no_process_is_told_with_the_command(cli: Cli, pretended_gpus: PretendedGpus) -> None:
    """Each framework's own words of it are "busy or unavailable", which says nothing of a mode."""
    pretended_gpus.set(0, compute_mode="2")
    said = words(cli("doctor", "--device", "cuda").out)
    assert "to do: GPU compute mode: compute mode prohibited admits no process" in said
    assert "to do: fake: the GPU's compute mode admits no process sudo nvidia-smi -i 0 -c 0" in said


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("GPU_IS_LOST", "no NVIDIA GPU: GPU is lost reboot"),
        ("LIB_RM_VERSION_MISMATCH", "version mismatch. reboot: the driver was updated"),
        ("DRIVER_NOT_LOADED", "Driver Not Loaded sudo modprobe nvidia"),
    ],
)
def test_why_no_gpu_is_reported_is_told_with_what_to_do(
    cli: Cli, pretended_gpus: PretendedGpus, answer: str, told: str
) -> None:
    """A driver that is there and does not answer is not to be installed; a lost GPU is no container."""
    if answer == "GPU_IS_LOST":
        pretended_gpus.set(0, all=f"error:{answer}")
    else:
        pretended_gpus.system(init=f"error:{answer}")
    said = words(cli("doctor", "--device", "cuda").out)
    assert told in said
    assert "install NVIDIA's driver;" not in said


def test_kernels_that_are_compiled_first_are_told(
    cli: Cli, pretended_gpus: PretendedGpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU newer than the wheel waits half an hour in the first step: it is said, with the option that allows it."""
    pretended_gpus.set(0, capability="12.0")
    answering(monkeypatch, kernels=["sm_60", "sm_89", "compute_90"], packages={"nvidia-cudnn-cu12": "9.28.0.42"})
    said = words(cli("doctor", "--device", "cuda").out)
    assert "no kernels for 12.0: the driver compiles compute_90 at the first start" in said
    assert "--trial-limit 1h" in said
    assert "nvidia-cudnn-cu12 9.28.0.42" in said
    answering(monkeypatch, kernels=["sm_60", "sm_89"])
    assert "to do: fake: Fake (scripted) here has no kernels for compute capability 12.0" in words(
        cli("doctor", "--device", "cuda").out
    )


def test_every_key_of_the_object_is_documented(cli: Cli, pretended_gpus: PretendedGpus) -> None:
    """Every key of --json stands in docs/json-doctor-device.md, and every one there is printed."""
    pretended_gpus.set(0, compute_mode="3")
    said = cli("doctor", "--device", "cuda", "--json")
    told = json.loads(said.out)
    free = {"machine", "now", "absent", "frameworks[].versions", "frameworks[].packages"}

    def keys(value: Any, path: str = "") -> set[str]:
        if isinstance(value, dict) and path not in free:
            below = {key: f"{path}.{key}" if path else key for key in value}
            return set(below.values()).union(*(keys(value[key], below[key]) for key in value))
        return set().union(*(keys(item, f"{path}[]") for item in value)) if isinstance(value, list) else set()

    page = (Path(__file__).parents[2] / "docs" / "json-doctor-device.md").read_text()
    assert keys(told) == set(re.findall(r"^\| `([\w.\[\]]+)` \|", page, re.MULTILINE))
    assert (said.code, told["ok"], told["machine"]["gpu_uuid"]) == (1, False, pretended_gpus.uuid(0))


def test_what_cannot_be_asked_is_refused(cli: Cli) -> None:
    """A device that bakeoff does not have, and a self-test of a device, end with exit code 2."""
    said = cli("doctor", "--device", "rocm")
    assert said.code == 2
    assert "AMD's GPUs" in said.err
    assert "names an NVIDIA GPU" in cli("doctor", "--device", "mps", "--gpu", "0").err
    said = cli("doctor", "--device", "cuda", "--self-test")
    assert said.code == 2
    assert "FRAMEWORK:device=cuda" in said.err


def test_a_device_with_holes_says_them(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Apple's GPUs what bakeoff does not read is told."""
    mps = msgspec.structs.replace(LISTED.info.options["device"], values=("cpu", "mps"))
    info = msgspec.structs.replace(LISTED.info, options=LISTED.info.options | {"device": mps})
    monkeypatch.setattr(ready, "frameworks", lambda: {"fake": msgspec.structs.replace(LISTED, info=info)})
    answering(monkeypatch, devices=["cpu", "mps"])
    said = cli("doctor", "--device", "mps")
    assert "rounds run one after another" in words(said.out)
    assert said.code == 0


def test_the_plain_doctor_tells_a_gpu_that_no_environment_uses(
    cli: Cli, pretended_gpus: PretendedGpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a GPU, an environment that is the processor's is told with the command that makes the other one."""
    assert pretended_gpus
    watch = noise.probe
    monkeypatch.setattr(noise, "probe", lambda _=0.0: watch(0.05))
    monkeypatch.setattr(interpreters, "available", lambda: ({"fake": sys.executable}, {}))
    assert "devices: cpu, cuda" in cli("doctor").out
    answering(monkeypatch, devices=["cpu"])
    said = cli("doctor").out
    assert "a GPU is here, and this environment is the processor's:" in said
    assert "bakeoff env create fake --device cuda" in said


def test_a_probe_is_set_up_as_a_worker_on_the_device(pretended_gpus: PretendedGpus) -> None:
    """It sees the variables of a worker there, so that no framework takes the whole GPU by being asked."""
    hidden = probe(sys.executable, FAKE.path, device="cuda", variables={"CUDA_VISIBLE_DEVICES": "-1"})
    assert hidden.devices == ["cpu"]
    seen = probe(sys.executable, FAKE.path, device="cuda", variables={"CUDA_VISIBLE_DEVICES": pretended_gpus.uuid(0)})
    assert seen.devices == ["cpu", "cuda"]
    assert set(seen.tools) <= {"C compiler", "Python headers"}
