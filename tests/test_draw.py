"""Which slow tests a run has: one case in eight, each in its turn, and all of what must not be left out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests import conftest

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

RUNS = 1000
"""In which a case has its turn 125 times, with a standard deviation of 10.5."""


class Item:
    """What the draw asks of a test."""

    def __init__(self, nodeid: str, marker: str = "") -> None:
        """Take its name and its one marker."""
        self.nodeid, self._marker = nodeid, marker

    def get_closest_marker(self, name: str) -> bool:
        """Return whether it has this marker."""
        return name == self._marker


def test_each_case_has_its_turn_once_in_eight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a test with one case as of one with five or eleven, whatever marks it as long; what is quick is always run."""
    sizes = {"one": (1, "slow"), "five": (5, "by_turns"), "eleven": (11, "slow")}
    items: list[Any] = [Item(f"a.py::{name}[{n}]", kind) for name, (count, kind) in sizes.items() for n in range(count)]
    items.append(Item("a.py::quick"))
    found: Counter[str] = Counter()
    for run in range(RUNS):
        monkeypatch.setattr(conftest, "sources", lambda run=run: str(run))
        found.update(one.nodeid for one in conftest.of_this_run(items))
    assert found.pop("a.py::quick") == RUNS
    assert len(found) == len(items) - 1
    assert all(abs(times - RUNS / conftest.TURNS) < 5 * 10.5 for times in found.values()), found


def test_what_is_never_left_out_is_there(root: Path) -> None:
    """Each entry is a file, or a function in it, and its slow tests are a part of every run."""
    for entry in conftest.NEVER_LEFT_OUT:
        file, _, function = entry.partition("::")
        assert not function or f"def {function}(" in (root / file).read_text(encoding="utf-8")
        assert (root / file).is_file()
    kept: list[Any] = [Item(f"{entry}[{case}]", "slow") for entry in conftest.NEVER_LEFT_OUT for case in range(3)]
    assert conftest.of_this_run(kept) == set(kept)
