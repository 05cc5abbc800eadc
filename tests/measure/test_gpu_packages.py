"""Versions of CUDA's libraries, by the folders of made-up distributions."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest

from bakeoff.measure import gpu_packages


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Give a folder in which distributions are installed; one was removed badly."""
    for name in (
        "nvidia_cudnn_cu13-9.28.0.42",
        "jax_cuda13_plugin-0.10.2",
        "triton-3.7.1",
        "numpy-2.4.0",
        "jax-0.10.2",
    ):
        (tmp_path / f"{name}.dist-info").mkdir()
    (tmp_path / "~vidia_broken-1.0.dist-info").mkdir()
    return tmp_path


def test_every_library_of_a_gpu_is_told(installed: Path) -> None:
    """NVIDIA's distributions, plug-ins and compilers have their versions; frameworks tell their own."""
    assert gpu_packages.versions([str(installed)]) == {
        "jax-cuda13-plugin": "0.10.2",
        "nvidia-cudnn-cu13": "9.28.0.42",
        "triton": "3.7.1",
    }


def test_what_pip_has_installed_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders' names say of every distribution here what its metadata says."""
    monkeypatch.setattr(gpu_packages, "is_library", lambda _: True)
    (folder,) = {str(one.locate_file("")) for one in metadata.distributions(name="pytest")}
    expected = {re.sub(r"[-_.]+", "-", one.name).lower(): one.version for one in metadata.distributions(path=[folder])}
    assert gpu_packages.versions([folder]) == expected


def test_libraries_are_told_from_frameworks() -> None:
    """The line under a headline names frameworks; what is below them stands in the environment's table."""
    names = ("nvidia-nccl-cu12", "cuda-bindings", "torch", "cudnn")
    assert [name for name in names if gpu_packages.is_library(name)] == ["nvidia-nccl-cu12", "cuda-bindings"]


def test_the_few_that_decide_are_told_from_the_many() -> None:
    """A doctor's line has room for these."""
    names = ("nvidia-cudnn-cu13", "nvidia-cublas", "nvidia-cublasmp-cu13", "nvidia-nvjitlink", "nvidia-cuda-runtime")
    found = gpu_packages.deciding(dict.fromkeys(names, "1"))
    assert list(found) == ["nvidia-cudnn-cu13", "nvidia-cublas", "nvidia-cuda-runtime"]
