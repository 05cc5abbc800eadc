"""Counters of energy: the processor's package by RAPL, an NVIDIA GPU by NVML; read by the parent, beside no clock."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from bakeoff.measure import nvml
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

POWERCAP = Path("/sys/class/powercap")
"""Where Linux shows RAPL's counters (Documentation/power/powercap/powercap.rst)."""


class Meter(Protocol):
    """One counter of energy."""

    @property
    def name(self) -> str:
        """What it counts for."""

    def read_uj(self) -> int:
        """Give its count, in microjoules."""

    def between_uj(self, before: int, after: int) -> int:
        """Give the energy between two counts, at most one turn of the counter apart."""


class Package(msgspec.Struct, frozen=True):
    """A processor package with all its cores and caches: RAPL's zone `package`, without its memory's."""

    name: str
    folder: Path
    range_uj: int
    """The count starts from 0 again beyond this: after minutes at full load, so longer than any block."""

    def read_uj(self) -> int:
        """Give the count."""
        return int((self.folder / "energy_uj").read_text())

    def between_uj(self, before: int, after: int) -> int:
        """Subtract; a count that fell has started again once."""
        return after - before if after >= before else after - before + self.range_uj


class GpuMeter(msgspec.Struct, frozen=True):
    """The first NVIDIA GPU with its memory, since its driver was loaded; this path was not run on a GPU by us."""

    name: str

    def read_uj(self) -> int:
        """Give the count, which NVML has in millijoules."""
        with nvml.opened() as pynvml:
            handle = pynvml.nvmlDeviceGetHandleByIndex(0)
            return 1000 * int(pynvml.nvmlDeviceGetTotalEnergyConsumption(handle))

    def between_uj(self, before: int, after: int) -> int:
        """Subtract: 64 bits do not start again."""
        return after - before


def meters(devices: Sequence[str] = ("cpu",), powercap: Path | None = None) -> tuple[list[Meter], str]:
    """Give the counters for work on these devices; where one is missing none, and the reason."""
    packages, reason = _packages(powercap or POWERCAP)
    found: list[Meter] = [*packages]
    others = set(devices) - {"cpu"}
    if not reason and others:
        gpu, reason = _gpu() if others == {"cuda"} else (None, f"nothing counts the energy of {', '.join(others)}")
        found += [gpu] if gpu else []
    return ([], reason) if reason else (found, "")


def names(meters: Sequence[Meter]) -> str:
    """Name the counters: "package-0 + GPU 0"."""
    return " + ".join(meter.name for meter in meters)


@contextmanager
def counted(meters: Sequence[Meter]) -> Iterator[list[float]]:
    """Give a list that holds, afterwards, the joules that each counter has seen meanwhile."""
    spent: list[float] = []
    before = [meter.read_uj() for meter in meters]
    yield spent
    after = [meter.read_uj() for meter in meters]
    spent += [meter.between_uj(*counts) / 1e6 for meter, *counts in zip(meters, before, after, strict=True)]


def _packages(powercap: Path) -> tuple[list[Package], str]:
    """Find RAPL's packages; or say why there is none."""
    found: dict[str, Package] = {}
    # Zones below a package are parts of it, and have a second colon in their names.
    for folder in sorted(powercap.glob("*-rapl:[0-9]*")):
        try:
            name = (folder / "name").read_text().strip()
            if not name.startswith("package"):
                continue
            package = Package(name, folder, int((folder / "max_energy_range_uj").read_text()))
            package.read_uj()
        except PermissionError:
            return [], f"{folder / 'energy_uj'} may be read by root only"
        except (OSError, ValueError) as error:
            return [], f"{folder} cannot be read: {error}"
        found.setdefault(name, package)
    if not found:
        return [], f"no RAPL package under {powercap}: virtual machines and many processors do not show one"
    return list(found.values()), ""


def _gpu() -> tuple[GpuMeter | None, str]:
    """Find the GPU's counter; or say why there is none."""
    gpu = GpuMeter("GPU 0")
    try:
        gpu.read_uj()
    except UnavailableError as error:
        return None, f"NVML tells no energy: {error}"
    return gpu, ""
