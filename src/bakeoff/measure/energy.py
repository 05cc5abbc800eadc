"""Counters of energy: the processor's package by RAPL, an NVIDIA GPU by NVML; the parent reads them, untimed."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from bakeoff.measure import nvml
from bakeoff.measure.gpu_facts import Device
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

POWERCAP = Path("/sys/class/powercap")
"""The folder of RAPL's counters in Linux (Documentation/power/powercap/powercap.rst)."""


class Meter(Protocol):
    """One counter of energy."""

    @property
    def name(self) -> str:
        """Return the name of what it measures."""

    def read_uj(self) -> int:
        """Return the count, in microjoules."""

    def between_uj(self, before: int, after: int) -> int:
        """Return the energy between two counts, in microjoules; the counter may have started again once."""


class Package(msgspec.Struct, frozen=True):
    """A processor package with all its cores and caches: RAPL's zone `package`, without the memory's zone."""

    name: str
    folder: Path
    range_uj: int
    """The count starts from 0 again beyond this: after minutes at full load, which is longer than any block."""

    def read_uj(self) -> int:
        """Return the count, in microjoules."""
        return int((self.folder / "energy_uj").read_text())

    def between_uj(self, before: int, after: int) -> int:
        """Return the difference; a count that fell has started again once."""
        return after - before if after >= before else after - before + self.range_uj


class GpuMeter(msgspec.Struct, frozen=True):
    """An NVIDIA GPU with its memory, counted since its driver was loaded. Not run on a GPU by us."""

    name: str
    uuid: str

    def read_uj(self) -> int:
        """Return the count, in microjoules; NVML's is in millijoules."""
        with nvml.opened() as pynvml:
            handle = Device(pynvml, self.uuid).whole
            return 1000 * int(pynvml.nvmlDeviceGetTotalEnergyConsumption(handle))

    def between_uj(self, before: int, after: int) -> int:
        """Return the difference: a count of 64 bits does not start again."""
        return after - before


def meters(device: str = "cpu", gpu_uuid: str = "", powercap: Path | None = None) -> tuple[list[Meter], str]:
    """Return the meters for work on a device and ""; or, where it has none, no meter and the reason.

    On an NVIDIA GPU, by default the first one, the GPU counts beside the processor that feeds it, and alone where the
    processor's energy may not be read: then its meter is called "GPU 0 only".
    """
    packages, reason = _packages(powercap or POWERCAP)
    if device == "cpu":
        return [*packages], reason
    if device != "cuda":
        return [], f"nothing counts the energy of {device}"
    gpu, gpu_reason = _gpu(gpu_uuid, alone=bool(reason))
    return ([], gpu_reason) if gpu is None else ([*packages, gpu], "")


def names(meters: Sequence[Meter]) -> str:
    """Return the names of the meters in one text: "package-0 + GPU 0"."""
    return " + ".join(meter.name for meter in meters)


@contextmanager
def counted(meters: Sequence[Meter]) -> Iterator[list[float]]:
    """Yield a list that holds, after the context, the joules that each meter counted within it."""
    spent: list[float] = []
    before = [meter.read_uj() for meter in meters]
    yield spent
    after = [meter.read_uj() for meter in meters]
    spent += [meter.between_uj(*counts) / 1e6 for meter, *counts in zip(meters, before, after, strict=True)]


def _packages(powercap: Path) -> tuple[list[Package], str]:
    """Return RAPL's packages and ""; or no package and the reason."""
    packages: dict[str, Package] = {}
    # Zones within a package have a second colon in their names, which this pattern excludes: their energy is the
    # package's, too.
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
        # The same package may be shown twice: as intel-rapl and as intel-rapl-mmio.
        packages.setdefault(name, package)
    if not packages:
        return [], f"no RAPL package under {powercap}: virtual machines and many processors do not show one"
    return list(packages.values()), ""


def _gpu(uuid: str, *, alone: bool) -> tuple[GpuMeter | None, str]:
    """Return the GPU's meter and ""; or None and the reason."""
    try:
        with nvml.opened() as pynvml:
            index = Device(pynvml, uuid).ask("nvmlDeviceGetIndex")
        gpu = GpuMeter(f"GPU {index or 0}{' only' if alone else ''}", uuid)
        gpu.read_uj()
    except UnavailableError as error:
        return None, f"NVML reports no energy: {error}"
    return gpu, ""
