"""How processors are shared out among replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakeoff.measure.cores import ranges, shares, whole_cores

if TYPE_CHECKING:
    from pathlib import Path


def machine(folder: Path, cores: list[list[int]]) -> Path:
    """Make the kernel's files of processors that share cores."""
    for core in cores:
        for number in core:
            place = folder / f"cpu{number}" / "topology"
            place.mkdir(parents=True)
            (place / "thread_siblings_list").write_text(",".join(map(str, core)) + "\n")
    return folder


@pytest.mark.parametrize(
    ("cores", "count", "found"),
    [
        ([[0], [1]], 2, [(0,), (1,)]),
        ([[0, 2], [1, 3]], 2, [(0, 2), (1, 3)]),
        ([[0, 2], [1, 3]], 4, [(0,), (2,), (1,), (3,)]),
        ([[0, 1], [2, 3], [4, 5]], 2, [(0, 1, 2), (3, 4, 5)]),
        ([[0, 2], [1]], 2, [(0,), (1,)]),
        ([[0], [1], [2]], 2, [(0,), (1,)]),
        ([[0], [1]], 3, []),
    ],
)
def test_replicas_have_as_many_processors_each_and_whole_cores_where_they_go_round(
    tmp_path: Path, cores: list[list[int]], count: int, found: list[tuple[int, ...]]
) -> None:
    """Sets are disjoint and equally large; two of them share a core only where there are too few whole ones."""
    numbers = sorted(number for core in cores for number in core)
    assert shares(count, numbers, machine(tmp_path, cores)) == found


def test_processors_of_unknown_cores_are_shared_out_one_by_one(tmp_path: Path) -> None:
    """Where the system does not tell which share a core, each counts as one."""
    assert shares(2, [0, 1, 4, 5], tmp_path) == [(0, 1), (4, 5)]


@pytest.mark.parametrize(
    ("cores", "processors", "found"),
    [
        ([[0, 2], [1, 3]], 4, 2),  # two threads a core
        ([[0], [1]], 2, 2),
        ([[0, 4], [1, 5], [2, 6], [3, 7]], 2, 2),  # a control group's quota of two processors
        ([], 4, 4),  # not known
    ],
)
def test_threads_of_one_core_are_one_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: list[list[int]], processors: int, found: int
) -> None:
    """A core of two threads is counted once, as a processor's power by its cores has it."""
    numbers = sorted(number for core in cores for number in core) or [0, 1, 2, 3]
    monkeypatch.setattr("bakeoff.measure.cores.usable", lambda: numbers)
    monkeypatch.setattr("bakeoff.measure.cores.usable_cores", lambda: processors)
    assert whole_cores(machine(tmp_path, cores)) == found


def test_ranges_are_told_as_the_kernel_tells_them() -> None:
    """Neighbours are one range."""
    assert ranges([0, 1, 2, 5]) == "0-2,5"
    assert ranges([]) == ""
