"""Folders of comparisons, searches and studies: one function makes them all."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from bakeoff.spec.errors import StoreError
from bakeoff.store.folders import new_folder
from bakeoff.store.locks import locked


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
