"""A GPU in words, and on the command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bakeoff.measure import gpu_facts
from bakeoff.report.gpus import advise_gpu, busy, gpu_line
from bakeoff.report.words import machine_name
from bakeoff.spec.options import LIBRARIES, WATCHED_ON, inherited

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tests.cli.conftest import Cli
    from tests.gpu.pretended import PretendedGpus


def test_a_gpu_is_told_in_one_line(pretended_gpus: PretendedGpus) -> None:
    """What NVML does not tell is left out."""
    uuid = pretended_gpus.uuid()
    pretended_gpus.set(0, memory_other_bytes=600 * 10**6)
    assert gpu_line(gpu_facts.gpu(uuid), gpu_facts.state(uuid)) == (
        f"NVIDIA L4, {uuid}, 24.2 GB (23.6 free), capability 8.9, driver 580.95.05 runs CUDA 13.0, PCIe 4.0 x16, "
        "persistence on, compute mode default, ECC on, power limit 72 of 72 W, clock 210 of 2,040 MHz, "
        "52 degrees Celsius, 0 other processes"
    )
    bare = dict.fromkeys(("ecc", "persistence", "compute_mode", "power_default_mw", "temperature_c"))
    pretended_gpus.set(0, **bare, power_limit_mw=None, pcie_width_max=None, clock_max_mhz=None, processes="hidden")
    line = gpu_line(gpu_facts.gpu(uuid), gpu_facts.state(uuid))
    assert line.endswith("driver 580.95.05 runs CUDA 13.0, clock 210 of unknown MHz, 0 other processes")


def test_what_to_set_on_a_gpu_is_advised_with_its_command(pretended_gpus: PretendedGpus) -> None:
    """A GPU that rests, in its usual settings, has one advice: to fix its clock."""
    uuid = pretended_gpus.uuid()

    def advised() -> dict[str, str]:
        return {one.about: one.do for one in advise_gpu(gpu_facts.gpu(uuid), gpu_facts.state(uuid))}

    assert advised() == {"GPU clock": "sudo nvidia-smi -i 0 -lgc 1530"}
    pretended_gpus.set(0, persistence=0, power_limit_mw=50_000, compute_mode=3, utilization_percent=40)
    pretended_gpus.set(0, clock_application_mhz=1530, clock_default_mhz=2040)
    pretended_gpus.hold(0, os.getpid(), 10**9)
    assert advised() == {
        "GPU persistence": "sudo nvidia-smi -i 0 -pm 1",
        "GPU power": "sudo nvidia-smi -i 0 -pl 72",
        "GPU compute mode": "sudo nvidia-smi -i 0 -c 0",
        "GPU in use": "nvidia-smi, and end what it names; or another one: --gpu",
    }
    assert busy(gpu_facts.state(uuid)) == "1 process and kernels in 40 % of the time"


def test_a_race_says_which_gpu_it_is_on_and_whether_that_rests(race: Any, pretended_gpus: PretendedGpus) -> None:
    """Before anything is started; the report names it beside the processor, with a power limit that is not its own."""
    from bakeoff.cli.telling import notes
    from bakeoff.race.progress import Prepared

    pretended_gpus.add(power_limit_mw=60_000, uuid="GPU-00000000-0000-0000-0000-000000000001", utilization_percent=40)
    pretended_gpus.set(0, memory_other_bytes=10**9)
    events: list[Any] = []
    outcome = race("fake:device=cuda", max_rounds=1, observe=events.append)
    (prepared,) = [one for one in events if isinstance(one, Prepared)]
    chosen, rests = notes(prepared)[-2:]
    assert chosen.startswith("on GPU 1 of 2, the most free memory of 2: NVIDIA L4, GPU-00000000-")
    assert chosen.endswith("24.2 GB (24.2 free)")
    assert rests.startswith("this GPU does not rest, kernels in 40 % of the time: ")
    assert "NVIDIA L4 (GPU 1 of 2, driver 580.95.05, CUDA 13.0, limited to 60 of 72 W)" in machine_name(outcome)


def test_doctor_shows_every_gpu_and_a_wrong_one_is_told(cli: Cli, pretended_gpus: PretendedGpus) -> None:
    """With index and UUID; exit code 2 for one that there is not, with those that there are."""
    pretended_gpus.add(uuid="GPU-00000000-0000-0000-0000-000000000001")
    said = cli("run", "mlp-mnist", "fake:device=cuda", "--gpu", "7", "--dry-run")
    assert said.code == 2
    assert f"0 (NVIDIA L4, {pretended_gpus.uuid()}), 1 (NVIDIA" in " ".join(said.err.split())
    assert cli("doctor", "--gpu", "0").code == 2
    told = cli("run", "mlp-mnist", "fake:device=cuda", "--gpu", "1", "--dry-run").out
    assert "on GPU 1 of 2, asked for: NVIDIA L4, GPU-00000000-" in " ".join(told.split())


def test_variables_are_watched_where_they_matter(tmp_path: Path) -> None:
    """By pattern; where libraries are looked for matters only where it leads to CUDA's."""
    names = WATCHED_ON["cuda"]
    matter = {"CUDA_CACHE_PATH": "/a", "CUDNN_LOGLEVEL_DBG": "0", "NCCL_ALGO": "Ring"}
    environment = matter | {"PATH": "/bin", LIBRARIES: f"/none::{tmp_path}"}
    assert inherited(names, environment) == matter
    (tmp_path / "libnvidia-ml.so.1").touch()
    assert LIBRARIES not in inherited(names, environment)
    (tmp_path / "libcudnn.so.9").touch()
    assert inherited(names, environment)[LIBRARIES] == environment[LIBRARIES]
