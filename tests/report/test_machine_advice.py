"""What to set on a machine: each advice names a command, and none is given where all is well."""

from __future__ import annotations

from pathlib import Path

import pytest

from bakeoff.measure.cores import one_of_each_core
from bakeoff.measure.neighbours import MOST, busiest, watched
from bakeoff.measure.noise import Noise
from bakeoff.report.machine_advice import ProcessLimits, advise, advise_calm

GOOD = {
    "processor": "AMD EPYC",
    "governor": "performance",
    "turbo": "off",
    "numa_nodes": 1,
    "numa_balancing": "off",
    "sibling_threads": "off",
    "huge_pages": "madvise",
    "address_layout": "random",
}
ROOM = ProcessLimits(usable=4, available_bytes=16_000_000_000)


@pytest.mark.parametrize(
    ("facts", "now", "limits", "about", "do"),
    [
        ({"governor": "powersave"}, {}, {}, "governor", "cpupower frequency-set -g performance"),
        ({"turbo": "on"}, {}, {}, "turbo", "cpufreq/boost"),
        ({"turbo": "on", "processor": "Intel(R) Core(TM)"}, {}, {}, "turbo", "no_turbo"),
        ({"numa_nodes": 2}, {}, {}, "pinning", "numactl"),
        ({"sibling_threads": "on"}, {}, {"one_of_each_core": "0-3"}, "pinning", "taskset -c 0-3 bakeoff run"),
        ({"address_layout": "fixed"}, {}, {}, "addresses", "randomize_va_space=2"),
        ({"huge_pages": "always"}, {}, {}, "huge pages", "echo madvise"),
        ({}, {"swap_used_bytes": 10**9}, {}, "swap", "swapoff"),
        ({}, {}, {"available_bytes": 10**9}, "memory", "docker run --memory"),
        ({}, {}, {"processors": 1.5}, "processor quota", "--cpuset-cpus 0"),
    ],
)
def test_each_setting_that_costs_has_its_advice(
    facts: dict[str, str], now: dict[str, int], limits: dict[str, float], about: str, do: str
) -> None:
    """One setting that is not as it should be gives one advice, with what to do and why."""
    allowed = {name: getattr(ROOM, name) for name in ProcessLimits.__struct_fields__} | limits
    (advice,) = advise(GOOD | facts, now, ProcessLimits(**allowed))
    assert advice.about == about
    assert do in advice.do
    assert advice.why


def test_where_all_is_well_or_unknown_nothing_is_advised() -> None:
    """A machine that is set for measuring, and one that tells nothing, get no advice."""
    assert advise(GOOD, {"swap_used_bytes": 0}, ROOM) == []
    assert advise(dict.fromkeys(GOOD), {"swap_used_bytes": None}, ProcessLimits()) == []


def test_busy_processes_are_named() -> None:
    """Those of one name are told together, the busiest first; those that nobody sees are told to be there."""
    found = busiest({(1, "make"): 0.5, (2, "cc"): 0.4, (3, "cc"): 0.3, (4, "idle"): 0.0, (5, "shell"): 0.001})
    assert [(one.name, one.pids) for one in found] == [("cc", [2, 3]), ("make", [1])]
    noise = Noise(seconds=0.5, foreign_share=0.6, steal_share=0.2, pressure_share=None, load=3.0)
    processes, machines = advise_calm(noise, found)
    assert "cc (2 processes) 70 % of a processor and make (pid 1) 50 % of a processor" in processes.why
    assert "--wait-for-calm" in processes.do
    assert "20 % of this machine's time" in machines.why
    assert "not visible from here" in advise_calm(noise, [])[0].why
    calm = Noise(seconds=0.5, foreign_share=0.01, steal_share=0.0, pressure_share=None, load=0.0)
    assert advise_calm(calm, found) == []


def test_a_watch_of_this_machine_names_few() -> None:
    """At most so many names, each with a share of what passed."""
    with watched() as found:
        assert found == []
    assert len(found) <= MOST
    assert all(one.share > 0 and one.pids for one in found)


def test_of_each_core_one_processor_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of siblings the first is taken; where the kernel does not tell, none is named."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3, 4, 5}, raising=False)
    assert one_of_each_core(tmp_path) == ""
    for number in range(6):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text("3,5\n" if number in (3, 5) else f"{number}\n")
    assert one_of_each_core(tmp_path) == "0-4"
