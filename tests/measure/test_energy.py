from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.gpu.pretended import H100

from bakeoff.measure import energy

if TYPE_CHECKING:
    from tests.gpu.pretended import PretendedGpus


def zone(powercap: Path, folder: str, name: str, count_uj: int) -> Path:
    """Make one of RAPL's zones."""
    made = powercap / folder
    made.mkdir(parents=True)
    for file, content in (("name", name), ("energy_uj", count_uj), ("max_energy_range_uj", 1000)):
        (made / file).write_text(f"{content}\n")
    return made


def test_packages_only_are_counted_and_a_count_may_start_again(tmp_path: Path) -> None:
    """A zone within a package would count twice; a count that fell has passed the end of its range."""
    package = zone(tmp_path, "intel-rapl:0", "package-0", 900)
    zone(tmp_path, "intel-rapl:0:0", "core", 5)
    zone(tmp_path, "intel-rapl:1", "psys", 5)
    (meter,), reason = energy.meters(powercap=tmp_path)
    assert (meter.name, reason) == ("package-0", "")
    before = meter.read_uj()
    (package / "energy_uj").write_text("100\n")
    assert (before, meter.between_uj(before, meter.read_uj()), meter.between_uj(100, 250)) == (900, 200, 150)


def test_a_machine_without_counters_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No zone, one that only root may read, and a device that nothing counts are three reasons."""
    assert energy.meters(powercap=tmp_path) == (
        [],
        f"no RAPL package under {tmp_path}: virtual machines and many processors do not show one",
    )
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    assert energy.meters("mps", powercap=tmp_path) == ([], "nothing counts the energy of mps")

    def refuse(package: energy.Package) -> int:
        raise PermissionError(package.name)

    monkeypatch.setattr(energy.Package, "read_uj", refuse)
    found, reason = energy.meters(powercap=tmp_path)
    assert not found
    assert reason.endswith("may be read by root only")


def test_a_gpu_is_counted_with_the_processor_or_alone(tmp_path: Path, pretended_gpus: PretendedGpus) -> None:
    """NVML's millijoules become microjoules; where the processor may not be read, the meter's name says so."""
    pretended_gpus.add(H100, total_energy_mj=7)
    uuid = pretended_gpus.uuid(1)
    (alone,), reason = energy.meters("cuda", uuid, tmp_path)
    assert (alone.name, alone.read_uj(), alone.between_uj(2, 5), reason) == ("GPU 1 only", 7000, 3, "")
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    assert energy.names(energy.meters("cuda", uuid, tmp_path)[0]) == "package-0 + GPU 1"
    assert energy.names(energy.meters("cpu", uuid, tmp_path)[0]) == "package-0"
    pretended_gpus.set(1, total_energy_mj=None)
    assert energy.meters("cuda", uuid, tmp_path) == ([], "NVML reports no energy: Not Supported")
