"""`bakeoff env create --device`, on a machine with a pretended GPU and on one without."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.environments import create, plan

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.gpu.pretended import PretendedGpus


@pytest.fixture(autouse=True)
def nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Take note of what would be run to make an environment, and run nothing."""
    run: list[Any] = []

    def note(command: list[str], *_: Any, **__: Any) -> None:
        run.append(command)
        if command[1:3] == ["-m", "venv"]:
            python = Path(command[3]) / "bin" / "python"
            python.parent.mkdir()
            python.symlink_to(sys.executable)

    monkeypatch.setattr(create, "_run", note)
    return run


def test_a_dry_run_tells_pins_sizes_and_place_and_makes_nothing(
    cli: Cli, nothing_is_run: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be made, from which pins, how large, where, and the free disk; nothing is fetched."""
    monkeypatch.setattr(plan.shutil, "disk_usage", lambda _: SimpleNamespace(free=99e9))
    said = cli("env", "create", "torch", "jax", "tensorflow", "--device", "cuda", "--dry-run")
    words = " ".join(said.out.split())
    assert said.code == 0
    assert "torch-cuda, jax-cuda, tensorflow-cuda: for cuda, as asked for; NVML reports no GPU here" in words
    for pin in ("jax-cuda: would be made in", "jax[cuda13]==", "tensorflow[and-cuda]==", "nvidia-cudnn-cu12=="):
        assert pin in said.out
    for size in ("2.67 GB to fetch, 4.75 GB on disk", "not installed by us", "99 GB that are free. Nothing"):
        assert size in words
    assert nothing_is_run == []
    assert "none in" in cli("env", "list").out


def test_a_dry_run_tells_a_disk_that_is_too_small(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gigabytes that do not fit are told beforehand."""
    monkeypatch.setattr(plan.shutil, "disk_usage", lambda _: SimpleNamespace(free=5e9))
    said = " ".join(cli("env", "create", "jax", "--device", "cuda", "--dry-run").out.split())
    assert "In all up to 7.4 GB with what pip keeps of its downloads, of 5 GB that are free: that is too little" in said


def test_without_a_device_nvml_decides_and_it_is_said(cli: Cli, pretended_gpus: PretendedGpus) -> None:
    """Beside a GPU the environment for cuda is made, named so; where there is none the usual one."""
    assert pretended_gpus
    said = cli("env", "create", "fake")
    assert "fake-cuda: for cuda, NVML reports NVIDIA L4, driver 580.95.05 runs CUDA 13.0" in " ".join(said.out.split())
    assert "fake-cuda: done" in said.out
    listed = cli("env", "list").out
    assert listed.startswith("fake-cuda")
    assert "for cuda" in listed
    assert re.search(r"for cuda +\S+/envs/fake-cuda/bin/python", cli("list", "frameworks", "fake").out)
    assert cli("env", "create", "fake", "--device", "cuda").out.count("already there") == 1
    assert "fake: done" in cli("env", "create", "fake", "--device", "cpu").out
    assert cli("env", "remove", "fake-cuda", "fake").code == 0


def test_a_driver_that_is_too_old_ends_it_before_anything_is_fetched(
    cli: Cli, pretended_gpus: PretendedGpus, nothing_is_run: list[Any]
) -> None:
    """What the driver runs is held against what the wheels need: exit code 2, what to do, and nothing is run."""
    pretended_gpus.set(0, driver="570.86.15", cuda="12.8")
    said = cli("env", "create", "jax", "--device", "cuda")
    assert said.code == 2
    assert "driver 570.86.15 runs CUDA 12.8, these wheels need CUDA 13.0: install a driver of 580" in said.err
    assert "Nothing was fetched" in said.err
    assert nothing_is_run == []
    assert "jax: for cpu" in cli("env", "create", "jax", "--dry-run").out
    several = cli("env", "create", "torch", "jax", "tensorflow@2.20.0", "--device", "cuda").err
    assert "torch for cuda: driver 570" in several
    assert "jax for cuda: driver 570" in several
    assert several.endswith("What can be made: bakeoff env create tensorflow@2.20.0 --device cuda\n")
    assert nothing_is_run == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("jax", "--device", "rocm"), "AMD's GPUs are no device of bakeoff: what is missing"),
        (("jax", "--device", "mps"), "JAX has no environment for mps: JAX has no backend for Apple's GPUs"),
        (("torch", "--device", "mps"), "bakeoff env create torch, and then torch:device=mps"),
        (("jittor", "--device", "cuda"), "Jittor has no environment for cuda: Jittor with CUDA is another build"),
        (("jax", "--device", "tpu"), "unknown device 'tpu'"),
        (("jax", "--device", "gpu"), "device gpu: an NVIDIA GPU is called cuda here"),
    ],
)
def test_what_has_no_environment_is_named_with_what_is_missing(
    cli: Cli, arguments: tuple[str, ...], words: str, nothing_is_run: list[Any]
) -> None:
    """ROCm, Apple's GPUs and frameworks without CUDA end with exit code 2 and the reason."""
    said = cli("env", "create", *arguments)
    assert said.code == 2
    assert words in said.err
    assert nothing_is_run == []
