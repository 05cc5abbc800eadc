"""Folders of comparisons, searches and studies: one function makes them all."""

from __future__ import annotations

import fcntl
import secrets
from pathlib import Path

import pytest

from bakeoff.spec.errors import StoreError
from bakeoff.store.files import DAMAGED_FILE, EARLIER_FILE, clear_trial
from bakeoff.store.folders import by_name, new_folder
from bakeoff.store.locks import LOCK_FILE, is_locked, locked


def test_a_taken_name_is_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is new never takes the folder of something else."""
    drawn = iter(["aaaa", "aaaa", "bbbb"])
    monkeypatch.setattr(secrets, "token_hex", lambda _: next(drawn))
    folders = [new_folder(tmp_path / "results", "mlp-mnist") for _ in range(2)]
    assert [folder.name for folder in folders] == ["mlp-mnist-aaaa", "mlp-mnist-bbbb"]
    assert all(folder.is_dir() for folder in folders)


def test_a_lock_that_is_a_link_is_told_with_what_to_do(tmp_path: Path) -> None:
    """Locking through it would make a file wherever it leads."""
    (tmp_path / ".lock").symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(StoreError, match=r"cannot lock .*: \.lock in it is a link, .*: remove it"),
        locked(tmp_path, "study"),
    ):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_made_is_named_with_its_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cause is told also where the system gives no text for it."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot make .*file/mlp-mnist-\w+: Not a directory"):
        new_folder(tmp_path / "file", "mlp-mnist")

    reason = ("no reason by number",)

    def fail(*_: object, **__: object) -> None:
        raise OSError(*reason)

    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(StoreError, match="no reason by number"):
        new_folder(tmp_path, "mlp-mnist")


def test_a_name_is_an_id_or_what_stands_behind_a_dash(tmp_path: Path) -> None:
    """Of several that end so the latest is meant; the last letters of an ending are no name."""
    known = [tmp_path / name for name in ("mlp-mnist-4f2a", "vit-4f2a", "lstm-1b3c")]
    assert by_name("4f2a", "search.json", known) == known[1]
    assert by_name("mlp-mnist-4f2a", "search.json", known) == known[0]
    assert by_name("f2a", "search.json", known) is None


def test_who_looks_at_a_lock_does_not_hold_it(tmp_path: Path) -> None:
    """Two that look at once do not take each other for the holder; a holder is seen by both."""
    (tmp_path / LOCK_FILE).touch()
    with (tmp_path / LOCK_FILE).open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH | fcntl.LOCK_NB)
        assert not is_locked(tmp_path)
    with locked(tmp_path, "study"):
        assert is_locked(tmp_path)


def test_records_that_were_set_aside_outlive_their_trial(tmp_path: Path) -> None:
    """What an unfinished trial left is removed but for them, which somebody may examine."""
    for name in (DAMAGED_FILE, EARLIER_FILE, "trial.json"):
        (tmp_path / name).touch()
    (tmp_path / "profile").mkdir()
    clear_trial(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {DAMAGED_FILE, EARLIER_FILE}
