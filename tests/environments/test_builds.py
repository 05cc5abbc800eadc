"""Environments for devices: which is made, which is found, and what is told before anything is fetched."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.environments import builds, create, installed, interpreters
from bakeoff.environments.declared import framework, frameworks
from bakeoff.environments.plan import already_made, pinned, planned
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UnavailableError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from bakeoff.environments.declared import Framework

L4 = {
    "gpu": "NVIDIA L4",
    "gpu_driver": "580.95.05",
    "gpu_driver_cuda": "13.0",
    "gpu_compute_capability": "8.9",
}
OLD_DRIVER = L4 | {"gpu_driver": "570.86.15", "gpu_driver_cuda": "12.8"}
OLD_GPU = L4 | {"gpu": "Tesla V100", "gpu_compute_capability": "7.0"}
FOR_CUDA = [name for name, found in frameworks().items() if "cuda" in found.info.builds and found.info.listed]


def made(name: str, of: str, device: str = "cpu") -> str:
    """Make a folder that looks like a whole environment, and give its interpreter."""
    python = installed.home() / name / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    marker = installed.Marker(framework=of, requirements_sha256="", complete=True, device=device)
    (installed.home() / name / installed.MARKER).write_bytes(msgspec.json.encode(marker))
    return str(python)


@pytest.fixture
def absent(home: Path) -> Framework:
    """Give a framework with an environment for cuda whose module is not here, and no environment yet."""
    assert not home.exists()
    fake = framework("fake")
    return msgspec.structs.replace(fake, info=msgspec.structs.replace(fake.info, module="no_such_module"))


@pytest.mark.parametrize(
    ("facts", "asked", "device", "words"),
    [
        ({}, None, "cpu", "NVML reports no NVIDIA GPU"),
        (L4, None, "cuda", "NVML reports NVIDIA L4, driver 580.95.05 runs CUDA 13.0; --device cpu makes"),
        (L4, "cpu", "cpu", "as asked for"),
        ({}, "cuda", "cuda", "NVML reports no GPU here"),
        (
            OLD_DRIVER,
            None,
            "cpu",
            "driver 570.86.15 runs CUDA 12.8, these wheels need CUDA 13.0: install a driver of 580",
        ),
        (OLD_GPU, None, "cpu", "its compute capability is 7.0, and these wheels have kernels from 7.5 on"),
        (L4 | {"gpu_compute_capability": "12.0"}, None, "cuda", "NVML reports NVIDIA L4"),
        (L4 | {"gpu_driver_cuda": "9.2"}, None, "cpu", "runs CUDA 9.2, these wheels need CUDA 13.0"),
    ],
)
def test_nvml_decides_which_environment_is_made_unless_the_user_does(
    facts: dict[str, Any], asked: str | None, device: str, words: str
) -> None:
    """The GPU's environment where a GPU can run it, the processor's elsewhere, and the reason is said."""
    choice = builds.chosen(framework("fake"), asked, facts)
    assert choice.device == device
    assert words in choice.why


def test_a_driver_that_is_too_old_is_told_before_anything_is_fetched(home: Path) -> None:
    """The driver's CUDA is held against the wheels', with what to do; a driver of the same major version will do."""
    with pytest.raises(UsageError, match=r"driver 570\.86\.15 runs CUDA 12\.8, these wheels need CUDA 13\.0.*580"):
        builds.chosen(framework("fake"), "cuda", OLD_DRIVER)
    with pytest.raises(UsageError, match=r"compute capability is 7\.0, and these wheels have kernels from 7\.5 on"):
        builds.chosen(framework("fake"), "cuda", OLD_GPU)
    assert not home.exists()
    assert builds.too_old("12.9", OLD_DRIVER) == ""
    assert builds.too_old("13.0", L4 | {"gpu_driver_cuda": "14.1"}) == ""


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("rocm", "AMD's GPUs are no device of bakeoff: what is missing"),
        ("gpu", "device gpu: an NVIDIA GPU is called cuda here, and Apple's mps"),
        ("cdua", "unknown device 'cdua'; did you mean 'cuda'"),
        ("mps", "Valid: cpu, cuda"),
    ],
)
def test_a_device_without_an_environment_is_refused_with_what_is_missing(device: str, words: str) -> None:
    """ROCm, Apple's GPUs and misspelt devices are named, with what is valid."""
    with pytest.raises(UsageError, match=words):
        builds.chosen(framework("fake"), device, {})
    if device == "cdua":
        with pytest.raises(UnknownNameError):
            builds.check_device(device)


def test_a_device_that_the_usual_environment_has_needs_no_other() -> None:
    """Where a framework has a device without an environment of its own for it, the usual one is named."""
    fake = framework("fake")
    support = msgspec.structs.replace(fake.info.options["device"], values=("cpu", "mps"))
    info = msgspec.structs.replace(fake.info, options=fake.info.options | {"device": support})
    with pytest.raises(UsageError, match=r"needs no environment of its own for mps: bakeoff env create fake"):
        builds.chosen(msgspec.structs.replace(fake, info=info), "mps", {})


def test_an_environment_of_other_pins_is_made_anew(home: Path, tmp_path: Path) -> None:
    """What it was made of is in its marker."""
    pins = tmp_path / "pins.txt"
    pins.write_text("numpy==2.4.0\n")
    plan = planned(framework("fake"), name="mine", requirements=pins)
    made("mine", "fake")
    assert already_made(plan) is None
    (installed.home() / "mine" / installed.MARKER).write_bytes(
        msgspec.json.encode(msgspec.structs.replace(plan.marker, complete=True))
    )
    found = already_made(plan)
    assert found is not None
    assert found.path == installed.home() / "mine"


def test_a_device_finds_its_environment_by_itself(absent: Framework) -> None:
    """With device=cuda the environment for cuda runs, with device=cpu the usual one, beside each other."""
    usual, cuda = made("fake", "fake"), made("fake-cuda", "fake", "cuda")
    fake = parse_contender("fake")
    assert interpreters.resolve(fake, absent) == usual
    assert interpreters.resolve(fake, absent, "cuda") == cuda
    assert interpreters.resolve(parse_contender("fake@fake-cuda"), absent) == cuda


def test_the_environment_for_a_device_wins_over_the_current_interpreter(home: Path) -> None:
    """It was made for the device, and what the current interpreter has need not be."""
    assert not home.exists()
    cuda = made("fake-cuda", "fake", "cuda")
    fake = framework("fake")  # It needs no module: the current interpreter has it.
    assert interpreters.resolve(parse_contender("fake"), fake) == sys.executable
    assert interpreters.resolve(parse_contender("fake"), fake, "cuda") == cuda


def test_one_environment_serves_where_there_is_no_other(absent: Framework) -> None:
    """The processor is there in an environment for cuda, too; whether the usual one has a GPU, a probe tells."""
    cuda = made("fake-cuda", "fake", "cuda")
    assert interpreters.resolve(parse_contender("fake"), absent) == cuda
    create.remove_environment("fake-cuda")
    usual = made("fake", "fake")
    assert interpreters.resolve(parse_contender("fake"), absent, "cuda") == usual


def test_a_version_is_combined_with_a_device(absent: Framework) -> None:
    """fake@1.2.3 with device=cuda takes the environment made for both, and the version's other one without it."""
    contender = parse_contender("fake@1.2.3")
    usual = made("fake@1.2.3", "fake")
    assert interpreters.resolve(contender, absent, "cuda") == usual
    cuda = made("fake@1.2.3-cuda", "fake", "cuda")
    assert interpreters.resolve(contender, absent, "cuda") == cuda
    assert interpreters.resolve(contender, absent) == usual
    plan = planned(framework("fake"), version="1.2.3", device="cuda")
    assert plan.name == "fake@1.2.3-cuda"


def test_what_is_not_here_says_how_to_get_it_for_the_device(absent: Framework) -> None:
    """The command in the reason names the device, and can be taken out of it to be pasted."""
    with pytest.raises(UnavailableError) as told:
        interpreters.resolve(parse_contender("fake"), absent, "cuda")
    why, command = interpreters.parted(str(told.value))
    assert command == "bakeoff env create fake --device cuda"
    assert why.startswith("not installed here; name an interpreter")


@pytest.mark.parametrize("name", FOR_CUDA)
def test_an_environment_for_cuda_pins_what_decides(name: str) -> None:
    """All is pinned, cuDNN and cuBLAS as well, at the framework's usual version, and its size has a source."""
    found = framework(name)
    plan = planned(found, device="cuda")
    lines = plan.lines()
    assert all(re.fullmatch(r"[\w-]+(\[[\w-]+\])?={2,3}[\w.]+", line) for line in lines)
    for package in ("cudnn", "cublas"):
        assert any(line.startswith("nvidia-") and package in line for line in lines)
    usual = re.search(rf"^{name}(-cpu)?==([\w.]+)", (found.path / "requirements.txt").read_text(), re.MULTILINE)
    assert usual is not None
    assert any(re.match(rf"{name}(\[[\w-]+\])?={{2,3}}{re.escape(usual[2])}$", line) for line in lines)
    size = plan.size()
    assert size is not None
    assert size.source
    # All of CUDA's libraries are gigabytes: a size of the processor's environment was once told for both.
    assert size.installed_mb > 4000


def test_a_version_keeps_extras_and_takes_no_local_build() -> None:
    """jax[cuda13]==0.9.2 stays for CUDA; where "===" keeps out wheels for processors, it does so for each version."""
    info = framework("fake").info
    info = msgspec.structs.replace(info, distributions=("frame",))
    assert pinned("frame[cuda13]==2.0\nnvidia-cudnn-cu13==9.1\n", info, "1.9") == (
        "frame[cuda13]==1.9\nnvidia-cudnn-cu13\n"
    )
    assert pinned("frame===2.0\n", info, "1.9") == "frame===1.9\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_CUDA)
def test_pins_for_cuda_can_be_resolved(name: str) -> None:
    """The pins fit together, by the metadata of the packages: of gigabytes of wheels nothing is fetched."""
    pins = framework(name).path / "requirements-cuda.txt"
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--python-version", "3.11"]
    command += ["--python-platform", "x86_64-unknown-linux-gnu", str(pins)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        pytest.skip("no package index answered within a minute")
    if done.returncode and re.search(r"error sending request|dns error|Failed to fetch|client error", done.stderr):
        pytest.skip(f"no package index answers here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    chosen = re.findall(r"^([\w-]+)==([\w.]+)", done.stdout, re.MULTILINE)
    assert any("cudnn" in package for package, _ in chosen)
    assert not [version for _, version in chosen if "+cpu" in version]
