"""Versions of CUDA's libraries, by the metadata of made-up distributions."""

from __future__ import annotations

from pathlib import Path

import pytest

from bakeoff.measure import gpu_packages

KERNEL = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\nGCC version: 13.3.0\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder in which distributions are installed, on a machine without a driver."""
    monkeypatch.setattr(gpu_packages, "DRIVER_FILE", tmp_path / "none")
    names = {
        "nvidia_cudnn_cu13": ("NVIDIA_cuDNN.cu13", "9.28.0.42"),
        "jax_cuda13_plugin": ("jax-cuda13-plugin", "0.10.2"),
        "triton": ("triton", "3.7.1"),
        "numpy": ("numpy", "2.4.0"),
        "jax": ("jax", "0.10.2"),
    }
    for folder, (name, version) in names.items():
        path = tmp_path / f"{folder}-{version}.dist-info"
        path.mkdir()
        (path / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (tmp_path / "~vidia_broken-1.0.dist-info").mkdir()
    return tmp_path


def test_every_library_of_a_gpu_is_told(installed: Path) -> None:
    """NVIDIA's distributions, plug-ins and compilers have their versions; frameworks tell their own."""
    assert gpu_packages.versions([str(installed)]) == {
        "jax-cuda13-plugin": "0.10.2",
        "nvidia-cudnn-cu13": "9.28.0.42",
        "triton": "3.7.1",
    }


def test_the_driver_is_told_by_the_kernel(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without NVML's Python package knows the driver from what its module says."""
    file = installed / "version"
    file.write_text(KERNEL)
    monkeypatch.setattr(gpu_packages, "DRIVER_FILE", file)
    assert gpu_packages.versions([str(installed)])["nvidia driver"] == "580.95.05"
    file.write_text("something else\n")
    assert "nvidia driver" not in gpu_packages.versions([str(installed)])


def test_libraries_are_told_from_frameworks() -> None:
    """The line under a headline names frameworks; what is below them stands in the environment's table."""
    assert [
        name for name in ("nvidia-nccl-cu12", "nvidia driver", "torch", "cudnn") if gpu_packages.is_library(name)
    ] == [
        "nvidia-nccl-cu12",
        "nvidia driver",
    ]
