from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.measure import cgroups, machine, meminfo, system_settings
from bakeoff.measure.machine import available_memory_bytes, describe, usable_cores

Files = Callable[[dict[str, str]], None]


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Give a function that writes the system's files; no other is there."""
    for module in (machine, cgroups, system_settings, meminfo):
        monkeypatch.setattr(module, "Path", lambda path: tmp_path / str(path).lstrip("/"))

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an affinity of eight processors."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


def test_affinity_limits_the_cores() -> None:
    """A process that is bound to one processor uses one."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system has no affinity")
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


OWN = {"/proc/self/cgroup": "0::/job/step\n"}
OLD = {"/proc/self/cgroup": "5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/x\n0::/\n"}

QUOTAS = {
    "none": ({}, 8),
    "no limit": (OWN | {"/sys/fs/cgroup/cpu.max": "max 100000\n"}, 8),
    "in a container": ({"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "250000 100000\n"}, 2),
    "of its own group": (OWN | {"/sys/fs/cgroup/job/step/cpu.max": "300000 100000\n"}, 3),
    "of a group above": (
        OWN | {"/sys/fs/cgroup/job/cpu.max": "400000 100000", "/sys/fs/cgroup/job/step/cpu.max": "max 100000"},
        4,
    ),
    "under one processor": (OWN | {"/sys/fs/cgroup/job/cpu.max": "50000 100000\n"}, 1),
    "over the affinity": (OWN | {"/sys/fs/cgroup/job/cpu.max": "6400000 100000\n"}, 8),
    "of another form": (OWN | {"/sys/fs/cgroup/job/cpu.max": "some thing else\n"}, 8),
    "version 1": (
        OLD
        | {"/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "200000", "/sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000"},
        2,
    ),
    "version 1 without limit": (
        OLD | {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"},
        8,
    ),
}


@pytest.mark.usefixtures("eight_cores")
@pytest.mark.parametrize("case", QUOTAS)
def test_a_quota_limits_the_cores(system: Files, case: str) -> None:
    """The quota of a control group, its own or one above, leaves so many whole processors, and at least one."""
    files, expected = QUOTAS[case]
    system(files)
    assert usable_cores() == expected


FREE = "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n"
MEMORY = {
    "not known": ({}, None),
    "of the machine": ({"/proc/meminfo": FREE}, 4_096_000),
    "of another form": ({"/proc/meminfo": "MemAvailable: much\n"}, None),
    "of its group": (
        OWN
        | {"/proc/meminfo": FREE}
        | {"/sys/fs/cgroup/job/memory.max": "2000000", "/sys/fs/cgroup/job/memory.current": "1500000"},
        500_000,
    ),
    "with a cache that can go": (
        OWN
        | {"/sys/fs/cgroup/job/memory.max": "2000000", "/sys/fs/cgroup/job/memory.current": "1500000"}
        | {"/sys/fs/cgroup/job/memory.stat": "anon 1\ninactive_file 300000\n"},
        800_000,
    ),
    "used up": (
        OWN | {"/sys/fs/cgroup/job/memory.max": "1000", "/sys/fs/cgroup/job/memory.current": "1500"},
        0,
    ),
    "without limit": (
        OWN
        | {"/proc/meminfo": FREE}
        | {"/sys/fs/cgroup/job/memory.max": "max", "/sys/fs/cgroup/job/memory.current": "1500"},
        4_096_000,
    ),
    "version 1": (
        OLD
        | {"/proc/meminfo": FREE}
        | {"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}
        | {"/sys/fs/cgroup/memory/memory.usage_in_bytes": "5000"}
        | {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes": "3000000"}
        | {"/sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1000000"}
        | {"/sys/fs/cgroup/memory/job/memory.stat": "inactive_file 1\ntotal_inactive_file 200000\n"},
        2_200_000,
    ),
}


@pytest.mark.parametrize("case", MEMORY)
def test_memory_is_what_machine_and_group_leave(system: Files, case: str) -> None:
    """The free memory is the least of the machine's and of the control groups'; None where neither is known."""
    files, expected = MEMORY[case]
    system(files)
    assert available_memory_bytes() == expected


@pytest.mark.parametrize(("limit", "free"), [("9223372036854771712", None), ("9000000", 8_000_000)])
def test_a_limit_that_no_machine_has_is_none(system: Files, limit: str, free: int | None) -> None:
    """The first version of control groups says "no limit" by a number that is above the machine's memory."""
    group = {
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": limit,
        "/sys/fs/cgroup/memory/memory.usage_in_bytes": "1000000",
    }
    system(OLD | {"/proc/meminfo": FREE} | group)
    assert cgroups.free_memory_bytes() == free


def test_the_machine_is_described() -> None:
    """Its facts are there, can be written as JSON, and are the same when asked again."""
    facts = describe()
    assert facts["processor"]
    assert facts["cores"] == os.cpu_count()
    assert facts["system"]
    memory = facts["memory_bytes"]
    assert isinstance(memory, int)
    assert memory > 2**28
    assert json.loads(json.dumps(describe())) == facts


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("AMD EPYC", "AMD EPYC (family 26, model 2, stepping 1)"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel(R) Xeon(R) CPU @ 2.20GHz (family 26, model 2, stepping 1)"),
        ("AMD EPYC 9R14", "AMD EPYC 9R14"),
        ("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"),
    ],
)
def test_a_processor_whose_name_is_hidden_is_told_by_its_numbers(system: Files, name: str, said: str) -> None:
    """Two kinds of processors that a cloud gives one name are two: records would be held for one machine's."""
    block = f"processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: {name}\nstepping\t: 1\nflags\t\t: fpu\n\n"
    system({"/proc/cpuinfo": 2 * block})
    assert describe()["processor"] == said


def test_a_machine_that_tells_nothing_is_described(system: Files) -> None:
    """Without /proc the hypervisor is unknown, and the processor is what Python knows."""
    system({})
    facts = describe()
    assert facts["hypervisor"] is None
    assert facts["processor"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/meminfo is Linux's")
def test_linux_tells_its_free_memory() -> None:
    """On Linux free memory is known, and below all of it."""
    free, total = available_memory_bytes(), describe()["memory_bytes"]
    assert free is not None
    assert isinstance(total, int)
    assert 0 < free <= total
