"""Which GPU work on CUDA runs on, what is known of it, and what a worker sees of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pynvml
import pytest
from tests.gpu.pretended import H100

from bakeoff.measure import cuda, gpu_facts, gpu_left, gpus, machine
from bakeoff.measure.energy import GpuMeter
from bakeoff.measure.gpu_clocks import watched_gpu
from bakeoff.race.prepare import outlined
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.contender import Contender
from bakeoff.spec.errors import StoreError, UnavailableError, UsageError
from bakeoff.store.results import read_records
from bakeoff.study.sweep import Axis, sweep_of
from bakeoff.trial import device

if TYPE_CHECKING:
    from tests.gpu.pretended import PretendedGpus


@pytest.fixture
def two(pretended_gpus: PretendedGpus) -> PretendedGpus:
    """Return an L4 and an H100, in NVML's order; CUDA's own begins with the H100."""
    pretended_gpus.add(H100)
    return pretended_gpus


def place(asked: str | None = None, **environment: str) -> str:
    """Return the place of the GPU that is chosen."""
    chosen = gpus.choose(asked, environment or None)
    assert chosen is not None
    return chosen.gpu.place


def test_the_gpu_with_the_most_free_memory_is_taken_unless_one_is_named(two: PretendedGpus) -> None:
    """By index or UUID, which may be abbreviated; what others hold counts."""
    assert place() == "1"
    two.set(1, memory_other_bytes=70 * 10**9)
    assert place() == "0"
    assert [place(name) for name in ("1", two.uuid(1), two.uuid(1)[:12], two.uuid(1)[:5])] == ["1"] * 4


def test_what_the_user_has_made_visible_is_respected(two: PretendedGpus) -> None:
    """An index counts in CUDA's order, which CUDA itself is asked for, unless the user has set it to NVML's."""
    environment = two.environment
    assert place(**environment, CUDA_VISIBLE_DEVICES=f"{two.uuid(0)},{two.uuid(1)}") == "0"
    assert place(**environment, CUDA_VISIBLE_DEVICES="0", CUDA_DEVICE_ORDER="PCI_BUS_ID") == "0"
    assert place(**environment, CUDA_VISIBLE_DEVICES="0") == "1"
    assert place("0", **environment, CUDA_VISIBLE_DEVICES="0") == "0"
    with pytest.raises(UsageError, match="does not say which"):
        place(**environment | {"LD_LIBRARY_PATH": ""}, CUDA_VISIBLE_DEVICES="1")
    with pytest.raises(UsageError, match="CUDA_VISIBLE_DEVICES=2: no GPU"):
        place(**environment, CUDA_VISIBLE_DEVICES="2")


@pytest.mark.parametrize("hidden", ["", "-1", "NoDevFiles", "none", " -1,0"])
def test_what_hides_every_gpu_is_told_as_that(two: PretendedGpus, hidden: str) -> None:
    """And is no misspelt name of one."""
    with pytest.raises(UsageError, match="hides every GPU: unset it, or name one by --gpu"):
        place(**two.environment, CUDA_VISIBLE_DEVICES=hidden)


def test_cuda_is_asked_for_all_that_it_shows_in_its_order(two: PretendedGpus) -> None:
    """The fastest first; asked as a script, as the parent does."""
    done = subprocess.run([sys.executable, "-P", cuda.__file__], capture_output=True, text=True, check=True)
    assert [f"GPU-{one}" for one in done.stdout.split()] == [two.uuid(1), two.uuid(0)]


@pytest.mark.parametrize(
    ("asked", "variables"),
    [
        ("2", {}),
        ("GPU-0", {}),
        ("NVIDIA L4", {}),
        (None, {"CUDA_VISIBLE_DEVICES": "GPU-00"}),
        (None, {gpus.VISIBLE: ""}),
        ("GPU-", {}),
    ],
)
def test_a_gpu_that_there_is_not_is_told_with_those_that_there_are(
    two: PretendedGpus, asked: str | None, variables: dict[str, str]
) -> None:
    """Both are named, with index and UUID."""
    with pytest.raises(UsageError) as refused:
        gpus.choose(asked, variables)
    assert all(f"{index} (NVIDIA" in str(refused.value) and two.uuid(index) in str(refused.value) for index in (0, 1))


def test_without_nvml_nothing_is_chosen(two: PretendedGpus) -> None:
    """A framework may have a GPU that NVML does not tell; to ask for one is an error with NVML's reason."""
    two.system(init="error:DRIVER_NOT_LOADED")
    assert gpus.choose() is None
    assert (machine.describe().get("gpu"), gpu_facts.state(two.uuid())) == (None, {})
    with pytest.raises(UsageError, match=r"--gpu 0: NVML.*Driver Not Loaded"):
        gpus.choose("0")


def test_several_devices_are_gpus_that_the_user_has_made_visible(
    two: PretendedGpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chosen one first, then the others in the user's order; none that is hidden, or behind a word for none."""
    two.add(H100, uuid="GPU-00000000-0000-0000-0000-000000000002")
    l4, h100, other = (two.uuid(index) for index in range(3))
    assert gpus.uuids_for(h100, 3) == [h100, l4, other]
    monkeypatch.setenv(gpus.VISIBLE, f"{other},{l4}")
    assert gpus.uuids_for(other, 2) == [other, l4]
    assert gpus.uuids_for(l4, 3) == [l4, other]
    monkeypatch.setenv(gpus.ORDER, gpus.BY_BUS)
    for shown, places in (("2,0", ["2", "0"]), ("0,-1,1", ["0"]), ("1,7,0", ["1"])):
        monkeypatch.setenv(gpus.VISIBLE, shown)
        assert [gpu.place for gpu in gpus.visible()] == places


def test_more_devices_than_gpus_that_may_be_taken_are_refused(
    race: Any, two: PretendedGpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU that the user has hidden is none of them."""
    with pytest.raises(UsageError, match="fake:devices=3 needs 3 GPUs, and 2 may be taken here"):
        race("fake:devices=3", device="cuda")
    monkeypatch.setenv(gpus.VISIBLE, two.uuid(0))
    with pytest.raises(UsageError, match="fake:devices=2 needs 2 GPUs, and 1 may be taken here"):
        race("fake:devices=2", device="cuda")


def test_gpus_of_several_models_are_told(request_of: Any, two: PretendedGpus) -> None:
    """A step on all of them is as long as on the slowest; those of one model are worth no word."""
    (said,) = outlined(request_of("fake:devices=2", device="cuda")).notices
    assert said.startswith("the 2 GPUs are of several models, NVIDIA L4, NVIDIA H100 80GB HBM3: ")
    two.set(0, name="NVIDIA H100 80GB HBM3")
    assert outlined(request_of("fake:devices=2", device="cuda")).notices == []


def test_what_several_gpus_are_linked_by_is_a_fact(request_of: Any, two: PretendedGpus) -> None:
    """Of contenders on several alone; by pairs where they differ, and nothing that NVML does not tell."""
    two.add(H100, uuid="GPU-00000000-0000-0000-0000-000000000002")
    uuids = [two.uuid(index) for index in range(3)]
    assert gpu_facts.links(uuids) is None
    for gpu, node in enumerate((0, 0, 1)):
        two.set(gpu, numa_node=node)
    two.set(1, nvlink=1)
    assert gpu_facts.links(uuids[:2]) == "one NUMA node"
    two.set(2, nvlink=1)
    assert gpu_facts.links(uuids) == "one NUMA node (0-1); several NUMA nodes (0-2); NVLink, several NUMA nodes (1-2)"
    two.set(0, numa_node=None)
    assert gpu_facts.links(uuids) == "unknown (0-1, 0-2); NVLink, several NUMA nodes (1-2)"
    assert "gpu_links" not in outlined(request_of("fake", device="cuda")).machine
    assert outlined(request_of("fake:devices=3", device="cuda")).machine["gpu_links"] is not None
    two.set(0, numa_node=0)
    assert outlined(request_of("fake:devices=2", device="cuda")).machine["gpu_links"] == "one NUMA node"
    two.system(init="error:DRIVER_NOT_LOADED")
    assert gpu_facts.links(uuids) is None


def test_a_gpu_that_cannot_be_opened_hides_no_other(two: PretendedGpus) -> None:
    """One is lost, the other is taken."""
    two.set(1, all="error:GPU_IS_LOST")
    assert place() == "0"


def test_parts_of_a_gpu_stand_in_its_place(two: PretendedGpus) -> None:
    """A GPU that MIG has parted is no device of CUDA; its parts have its clocks and their own memory."""
    part = two.add_mig(1)
    two.set(0, memory_other_bytes=20 * 10**9)
    assert (place(), place("1:0"), place(part)) == ("1:0", "1:0", "1:0")
    with pytest.raises(UsageError, match=r"valid: 0 .*, 1:0 "):
        place("1")
    facts = gpu_facts.gpu(part)
    assert facts["gpu_memory_bytes"] == 9_856 * 2**20
    (two.folder / "1/mig/0/processes" / str(os.getpid())).write_text("256")
    state, watched = gpu_facts.state(part), watched_gpu(part)
    assert (state["gpu_free_bytes"], state["gpu_processes"]) == (9_856 * 2**20 - 256, 1)
    assert watched is not None
    two.add_mig(1)
    (two.folder / "1/mig/1/processes" / str(os.getppid())).write_text("1")
    (two.folder / "1/processes" / str(os.getppid())).write_text("1")
    assert watched.read().processes == {os.getpid()}
    two.set(1, total_energy_mj=5)
    assert GpuMeter("GPU 1", part).read_uj() == 5000  # a part has no counter of its own
    assert (facts["gpu_uuid"], facts["gpu_mig"]) == (part, f"a part of {two.uuid(1)}")
    assert (facts["gpu_power_limit_w"], facts["gpu_index"]) == (700, 1)


def test_the_facts_of_a_gpu_are_those_that_decide_its_speed(two: PretendedGpus) -> None:
    """What it does not have is None; of a GPU that nothing runs on there is only what it is."""
    facts = gpu_facts.gpu(two.uuid(0))
    assert facts == {
        "gpu": "NVIDIA L4",
        "gpus": 2,
        "gpu_compute_capability": "8.9",
        "gpu_driver": "580.95.05",
        "gpu_driver_cuda": "13.0",
        "gpu_memory_bytes": 23_034 * 2**20,
        "gpu_index": 0,
        "gpu_uuid": two.uuid(0),
        "gpu_power_limit_w": 72.0,
        "gpu_power_default_w": 72.0,
        "gpu_clock_max_mhz": 2040,
        "gpu_memory_clock_max_mhz": 6251,
        "gpu_clock_applications_mhz": None,
        "gpu_ecc": "on",
        "gpu_persistence": "on",
        "gpu_compute_mode": "default",
        "gpu_mig": None,
        "gpu_pcie": "4.0 x16",
    }
    assert machine.describe(facts)["gpu_uuid"] == two.uuid(0)
    assert "gpu_uuid" not in machine.describe()
    two.set(0, all="error:UNKNOWN")
    assert gpu_facts.gpu(two.uuid(0)) == {}


def test_how_a_gpu_is_set_is_what_is_in_force(two: PretendedGpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for the next start of the machine is not; numbers of modes and versions are NVML's."""
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMigMode", lambda _: [0, 1])
    monkeypatch.setattr(pynvml, "nvmlDeviceGetEccMode", lambda _: [0, 1])
    two.set(0, cuda="12.8", compute_mode=3)
    facts = gpu_facts.gpu(two.uuid(0))
    assert (facts["gpu_mig"], facts["gpu_ecc"], facts["gpu_driver_cuda"]) == ("off", "off", "12.8")
    assert [gpu.place for gpu in gpus.all_gpus()] == ["0", "1"]
    assert facts["gpu_compute_mode"] == "exclusive process"
    two.set(0, compute_mode=2)
    assert gpu_facts.gpu(two.uuid(0))["gpu_compute_mode"] == "prohibited"


def test_a_worker_is_shown_its_gpu_by_uuid_alone() -> None:
    """In NVML's order, so that an index which a framework prints is nvidia-smi's; nothing is hidden without a GPU."""
    assert gpus.variables_for("GPU-1") == {"CUDA_VISIBLE_DEVICES": "GPU-1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert gpus.variables_for("") == {}


def test_what_is_left_is_of_the_fullest_gpu_that_is_shown(two: PretendedGpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """By UUID as by index; of several any may have refused what a step asked for."""
    monkeypatch.setattr(gpu_left.ctypes, "CDLL", lambda _: pynvml.nvmlLib)
    two.set(1, memory_total_bytes=1000, memory_other_bytes=750)
    for shown, left in (
        (two.uuid(1), 0.25),
        ("0,1", 0.25),
        (f"1,{two.uuid(0)}", 0.25),
        (two.uuid(0), 1.0),
        ("7", None),
    ):
        monkeypatch.setenv(gpus.VISIBLE, shown)
        assert gpu_left.left_share() == left


def trial(uuid: str | None, runs_on: str = "cuda") -> Any:
    """Make what a worker reads of its trial."""
    contender = Contender(framework="fake", label="fake", options={"device": runs_on})
    return SimpleNamespace(contender=contender, gpu=None if uuid is None else {"gpu_uuid": uuid})


def test_a_worker_on_another_gpu_refuses_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """The UUID that CUDA shows is held against the parent's and put into the settings, where CUDA tells one."""
    monkeypatch.setattr(device, "visible_uuids", lambda: ["7f3a91c2-0b5d-4e68-9a17-2c4d6e8f0a1b"])
    uuid = "GPU-7F3A91C2-0b5d-4e68-9a17-2c4d6e8f0a1b"
    assert device.device_settings(trial(uuid)) == {"gpu_uuid": uuid}
    assert device.device_settings(trial(uuid, "cpu")) == {}
    with pytest.raises(UnavailableError, match="and the comparison is on GPU-b6"):
        device.device_settings(trial("GPU-b6e1d0f4-83aa-4c1d-b7f0-51c9e2d47a36"))
    # Steps run on the first that is seen.
    monkeypatch.setattr(device, "visible_uuids", lambda: ["b6e1d0f4-83aa-4c1d-b7f0-51c9e2d47a36", uuid])
    with pytest.raises(UnavailableError, match="runs on the GPU b6"):
        device.device_settings(trial(uuid))
    monkeypatch.setattr(device, "visible_uuids", list)
    assert device.device_settings(trial(uuid)) == {"gpu_uuid": None}


def test_cuda_without_a_driver_shows_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the library is missing, that is no failure."""
    monkeypatch.setattr(cuda, "LIBRARY", "libcuda-that-is-not-there.so.1")
    assert cuda.visible_uuids() == []


def test_a_comparison_runs_on_the_gpu_that_was_named(race: Any, two: PretendedGpus) -> None:
    """The workers, which are processes, see that GPU alone; it is in the machine's facts, settings and variables."""
    two.set(0, total_energy_mj=None)
    outcome = race("fake:device=cuda", launch=ProcessWorker, max_rounds=1, gpu="0")
    assert outcome.comparison.machine["gpu_uuid"] == two.uuid(0)
    records = read_records(Path(outcome.path)).records.values()
    timed = [one for one in records if one.trial.purpose == "time"]
    assert [one.settings["gpu_uuid"] for one in timed] == [two.uuid(0)]
    assert timed[0].variables["CUDA_VISIBLE_DEVICES"] == two.uuid(0)
    assert timed[0].machine["gpu"] == "NVIDIA L4"
    assert timed[0].gpu[0].uuid == two.uuid(0)


def test_a_gpu_without_a_contender_on_it_is_refused(race: Any, two: PretendedGpus) -> None:
    """The option would be passed over."""
    del two
    with pytest.raises(UsageError, match="add --device cuda"):
        race("fake", gpu="0")


def test_going_on_is_on_the_same_gpu(race: Any, two: PretendedGpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may have taken its memory meanwhile; a GPU that is named now is taken, and is another machine."""
    two.set(1, total_energy_mj=None)
    first = race("fake:device=cuda", max_rounds=1)
    two.set(1, memory_other_bytes=80 * 10**9)
    monkeypatch.delenv(gpus.VISIBLE)  # Set by the worker, which is this process.
    again = race("fake:device=cuda", max_rounds=2, resume=True)
    assert (again.path, again.comparison.machine["gpu_uuid"]) == (first.path, two.uuid(1))
    with pytest.raises(StoreError, match="gpu was 'NVIDIA H100 80GB HBM3' and is 'NVIDIA L4' here"):
        race("fake:device=cuda", max_rounds=2, resume=True, gpu="0")


def test_a_sweep_has_its_gpu_where_contenders_are_on_one(request_of: Any, two: PretendedGpus) -> None:
    """Points on a processor have none; a sweep on processors alone is refused, as a comparison is."""
    del two
    both = sweep_of(request_of("fake", gpu="1"), [Axis(name="device", values=("cpu", "cuda"))])
    assert [point.request.gpu for point in both.points] == [None, "1"]
    with pytest.raises(UsageError, match="there is none at any point"):
        sweep_of(request_of("fake", gpu="1"), [Axis(name="threads", values=("1", "2"))])


def test_a_sweep_on_cuda_leaves_out_who_lacks_it_where_none_was_named(
    two: PretendedGpus, request_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a comparison does, with the reason at every point."""
    assert two.uuid(0)
    here = {"fake": sys.executable, "jittor": sys.executable}
    monkeypatch.setattr("bakeoff.study.sweep.available", lambda: (here, {}))
    study = sweep_of(request_of(device="cuda"), [Axis(name="batch size", values=("4", "8"))])
    assert [point.request.contenders for point in study.points] == [("fake",), ("fake",)]
    assert all("has no device=cuda" in point.left_out["jittor"] for point in study.points)
