"""Pretended NVIDIA GPUs: folders of text files that stand-ins for NVML and the CUDA driver answer from.

The stand-ins are C (gpus.h, nvml.c, cuda.c), compiled once in a session, so that the real nvidia-ml-py runs against
them: in this process, and by LD_LIBRARY_PATH in every process that a test starts.

A GPU's folder is named by its index in NVML. `gpu.txt` holds lines `key=value`; a key that is missing is answered by
NOT_SUPPORTED, and `key=error:NAME` by that error of NVML; `all=error:GPU_IS_LOST` answers every question so.
`processes/PID` holds the bytes that a living process holds. MIG devices are folders `mig/0`, `mig/1`, alike.
`system.txt` beside the GPUs may hold `init=error:...` and `count=error:...`.

Some keys have words for what drivers do: `processes=unsized` tells no memory of processes (WSL), `hidden` no process
(containers), `race` never has room for the list; `total_energy_mj=counts` rises by the power that is drawn. Clock and
power are `clock_idle_mhz` and `power_idle_mw` while no process is on the GPU. GPUs with the same `numa_node` are of one
node, and those with `nvlink=1` are linked by it.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pynvml

if TYPE_CHECKING:
    import pytest

HERE = Path(__file__).parent

L4: dict[str, str | int | None] = {
    "name": "NVIDIA L4",
    "uuid": "GPU-7f3a91c2-0b5d-4e68-9a17-2c4d6e8f0a1b",
    "capability": "8.9",
    "driver": "580.95.05",
    "cuda": "13.0",
    "memory_total_bytes": 23_034 * 2**20,
    "power_mw": 60_000,
    "power_idle_mw": 16_000,
    "power_limit_mw": 72_000,
    "power_default_mw": 72_000,
    "clock_mhz": 2040,
    "clock_idle_mhz": 210,
    "clock_max_mhz": 2040,
    "memory_clock_mhz": 6251,
    "memory_clock_max_mhz": 6251,
    "temperature_c": 52,
    "total_energy_mj": "counts",
    "throttle_reasons": 0,
    "ecc": 1,
    "persistence": 1,
    "compute_mode": 0,
    "pcie_generation": 4,
    "pcie_generation_max": 4,
    "pcie_width": 16,
    "pcie_width_max": 16,
    "utilization_percent": 0,
}
"""A card of 72 W, as NVML describes it; MIG and clocks for applications are none of its features."""

H100: dict[str, str | int | None] = L4 | {
    "name": "NVIDIA H100 80GB HBM3",
    "uuid": "GPU-b6e1d0f4-83aa-4c1d-b7f0-51c9e2d47a36",
    "capability": "9.0",
    "memory_total_bytes": 81_559 * 2**20,
    "power_mw": 500_000,
    "power_idle_mw": 70_000,
    "power_limit_mw": 700_000,
    "power_default_mw": 700_000,
    "clock_mhz": 1980,
    "clock_idle_mhz": 345,
    "clock_max_mhz": 1980,
    "clock_application_mhz": 1980,
    "clock_default_mhz": 1980,
    "memory_clock_mhz": 2619,
    "memory_clock_max_mhz": 2619,
    "mig": 0,
    "pcie_generation": 5,
    "pcie_generation_max": 5,
}
"""A large card, which can be parted by MIG."""


class PretendedGpus:
    """Some pretended GPUs, which a test adds to and changes while things run."""

    def __init__(self, folder: Path, libraries: Path) -> None:
        """Take an empty folder for the GPUs, and that of the compiled stand-ins."""
        self.folder = folder
        self.environment = {"BAKEOFF_PRETENDED_GPUS": str(folder), "LD_LIBRARY_PATH": str(libraries)}
        """For processes that are to see these GPUs; processes of this one have it already."""

    def add(self, card: dict[str, str | int | None] = L4, **values: str | int | None) -> int:
        """Add a GPU, a card some of whose values are others, and return its index."""
        index = len(list(self.folder.glob("[0-9]*")))
        (self.folder / str(index) / "processes").mkdir(parents=True)
        self._write(str(index), card | values)
        return index

    def add_mig(self, gpu: int, **values: str | int | None) -> str:
        """Part a GPU: add a MIG device of 10 GB, switch MIG on, and return the device's UUID."""
        self.set(gpu, mig=1)
        number = len(list((self.folder / str(gpu)).glob("mig/*")))
        uuid = f"MIG-{number}" + self.uuid(gpu).removeprefix("GPU-")[1:]
        part: dict[str, str | int | None] = {
            "name": f"{self.value(gpu, 'name')} MIG 1g.10gb",
            "uuid": uuid,
            "capability": self.value(gpu, "capability"),
            "memory_total_bytes": 9_856 * 2**20,
        }
        (self.folder / f"{gpu}/mig/{number}/processes").mkdir(parents=True)
        self._write(f"{gpu}/mig/{number}", part | values)
        return uuid

    def set(self, gpu: int, **values: str | int | None) -> None:
        """Change some values of a GPU; None takes a key away, so that it is not supported."""
        self._write(str(gpu), self._read(gpu) | values)

    def system(self, **values: str) -> None:
        """Say what NVML answers before there is any GPU: `init="error:DRIVER_NOT_LOADED"`."""
        (self.folder / "system.txt").write_text("".join(f"{key}={value}\n" for key, value in values.items()))

    def value(self, gpu: int, key: str) -> str:
        """Return a value of a GPU's file."""
        return str(self._read(gpu)[key])

    def uuid(self, gpu: int = 0) -> str:
        """Return a GPU's UUID."""
        return self.value(gpu, "uuid")

    def hold(self, gpu: int, pid: int, held_bytes: int) -> None:
        """Have a living process hold memory on a GPU; 0 takes the process off it."""
        file = self.folder / str(gpu) / "processes" / str(pid)
        if held_bytes:
            file.write_text(str(held_bytes))
        else:
            file.unlink(missing_ok=True)

    def _read(self, gpu: int) -> dict[str, str | int | None]:
        """Return what a GPU's file says."""
        lines = (self.folder / str(gpu) / "gpu.txt").read_text().splitlines()
        return {key: value for key, _, value in (line.partition("=") for line in lines)}

    def _write(self, gpu: str, values: dict[str, str | int | None]) -> None:
        """Write a GPU's file, in one move, so that a reader never sees half of it."""
        folder = self.folder / gpu
        (folder / "new").write_text("".join(f"{key}={value}\n" for key, value in values.items() if value is not None))
        (folder / "new").replace(folder / "gpu.txt")


def compiled(folder: Path) -> str:
    """Compile the stand-ins into a folder; return "", or why they cannot be."""
    compiler = shutil.which("cc")
    if sys.platform != "linux":
        return "NVIDIA's drivers name their libraries so on Linux only"
    if compiler is None:
        return "there is no C compiler (cc) to make the stand-ins for NVIDIA's libraries"
    for source, library in (("nvml.c", "libnvidia-ml.so.1"), ("cuda.c", "libcuda.so.1")):
        subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", folder / library, HERE / source], check=True)
    return ""


def pretend(monkeypatch: pytest.MonkeyPatch, folder: Path, libraries: Path) -> PretendedGpus:
    """Have this process and those that it starts see the GPUs of a folder, and no GPU of the machine."""
    gpus = PretendedGpus(folder, libraries)
    for name, value in gpus.environment.items():
        monkeypatch.setenv(name, value)
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
        # A worker in this very process sets them: what is set here is undone in the end.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    # nvidia-ml-py keeps the library that it has loaded, and its functions.
    monkeypatch.setattr(pynvml, "nvmlLib", ctypes.CDLL(str(libraries / "libnvidia-ml.so.1")))
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
    return gpus
