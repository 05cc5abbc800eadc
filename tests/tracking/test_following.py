"""Which comparisons have new records, and which are over."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from bakeoff.store.locks import is_locked, locked
from bakeoff.tracking.following import ComparisonUpdate, as_they_are, comparisons_in, following

LOOK_S = 0.001


def begun(folder: Path, *trials: str) -> Path:
    """Make the folder of a comparison with these trials' records; only their names are looked at."""
    for name in trials:
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "record.json").write_text("{}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "comparison.json").write_text("{}")
    return folder


def test_a_lock_is_seen_and_not_taken(tmp_path: Path) -> None:
    """A folder is locked while somebody holds its lock; looking makes no file, and keeps nobody from it."""
    assert not is_locked(tmp_path)
    assert not list(tmp_path.iterdir())
    with locked(tmp_path, "comparison"):
        assert is_locked(tmp_path)
        assert is_locked(tmp_path)
    assert not is_locked(tmp_path)
    with locked(tmp_path, "comparison"):
        assert is_locked(tmp_path)


def test_a_comparison_is_yielded_with_its_new_records(tmp_path: Path) -> None:
    """Once for each look that finds new ones, and for the last time when its end is written down."""
    folder = begun(tmp_path / "a", "r01-x")
    with locked(folder, "comparison"):
        changes = following([folder], LOOK_S)
        assert next(changes) == ComparisonUpdate(folder, is_running=True)
        begun(folder, "r01-y", "r02-x")
        assert next(changes) == ComparisonUpdate(folder, is_running=True)
        (folder / "end.json").write_text("{}")
        assert next(changes) == ComparisonUpdate(folder, is_running=False)
        assert list(changes) == []


def test_a_study_is_followed_to_its_last_comparison(tmp_path: Path) -> None:
    """What a study begins while it runs is followed, too, and what it may go on with is not over."""
    study = tmp_path / "study"
    study.mkdir()
    (study / "study.json").write_text("{}")
    first, second = begun(study / "a", "r01-x"), study / "b"
    assert comparisons_in([study, first]) == [first]
    with locked(study, "study"):
        changes = following([study], LOOK_S)
        assert next(changes) == ComparisonUpdate(first, is_running=True)
        (first / "end.json").write_text("{}")
        assert next(changes) == ComparisonUpdate(first, is_running=False)
        begun(second, "r01-x")
        assert next(changes) == ComparisonUpdate(second, is_running=True)
    assert list(changes) == [ComparisonUpdate(second, is_running=False)]


def test_what_does_not_run_is_yielded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With or without an end, nothing is waited for."""
    ended, left = begun(tmp_path / "a", "r01-x"), begun(tmp_path / "b")
    (ended / "end.json").write_text("{}")
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))
    assert list(following([ended, left])) == [
        ComparisonUpdate(ended, is_running=False),
        ComparisonUpdate(left, is_running=False),
    ]


def test_what_is_written_between_two_looks_is_not_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison may write its last record and its end at any moment: the last look has all of its records."""
    folder = begun(tmp_path / "a", "r01-x")
    look = sys.modules[following.__module__]._records

    def written_meanwhile(place: Path) -> frozenset[tuple[str, int]]:
        found = look(place)
        if not (folder / "end.json").exists():
            begun(folder, "r02-x")
            (folder / "end.json").write_text("{}")
        return found

    monkeypatch.setattr(sys.modules[following.__module__], "_records", written_meanwhile)
    with locked(folder, "comparison"):
        changes = [(change.is_running, len(look(folder))) for change in following([folder], LOOK_S)]
    assert changes == [(True, 2), (False, 2)]


def test_whether_a_comparison_runs_is_seen_without_following_it(tmp_path: Path) -> None:
    """By its own lock or its study's, until its end is written."""
    study = tmp_path / "study"
    study.mkdir()
    (study / "study.json").write_text("{}")
    inner, alone = begun(study / "a"), begun(tmp_path / "b")
    assert as_they_are([study, alone, alone]) == [ComparisonUpdate(inner, False), ComparisonUpdate(alone, False)]  # noqa: FBT003
    with locked(study, "study"), locked(alone, "comparison"):
        assert as_they_are([study, alone]) == [ComparisonUpdate(inner, True), ComparisonUpdate(alone, True)]  # noqa: FBT003
        (inner / "end.json").write_text("{}")
        assert as_they_are([study])[0].is_running is False
