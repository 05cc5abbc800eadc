from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from bakeoff.spec.errors import StoreError
from bakeoff.spec.record import RECORD_VERSION
from bakeoff.store import files
from bakeoff.store.reading import OtherVersionError


def test_a_record_comes_back_as_it_was(tmp_path: Path, record_of: Any) -> None:
    """Every field of a record is read as it was written: integers of nanoseconds, fractions, texts, unknowns."""
    record = record_of()
    files.write_record(tmp_path / "r01-fake", record)
    assert files.read_record(tmp_path / "r01-fake") == record


def test_a_comparison_comes_back_as_it_was(tmp_path: Path, comparison_of: Any) -> None:
    """So does a comparison, with its workload."""
    comparison = comparison_of()
    files.write_comparison(tmp_path, comparison)
    assert files.read_comparison(tmp_path) == comparison


def test_the_end_is_kept_until_it_is_forgotten(tmp_path: Path) -> None:
    """Why a comparison ended is read as written; without the file, or with a broken one, it has not ended."""
    assert files.read_end(tmp_path) == ""
    files.write_end(tmp_path, "budget")
    assert files.read_end(tmp_path) == "budget"
    (tmp_path / "end.json").write_text("{")
    assert files.read_end(tmp_path) == ""
    files.forget_end(tmp_path)
    files.forget_end(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a" * 255, "\u00e4" * 127])
def test_a_name_may_be_as_long_as_file_systems_allow(tmp_path: Path, name: str) -> None:
    """The temporary file that takes its place in the end has no longer one."""
    files.write_atomically(tmp_path / name, b"whole")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("digit", range(0, 2400, 97))
def test_no_changed_byte_is_overlooked(tmp_path: Path, record_of: Any, digit: int) -> None:
    """Whatever byte of a record is changed, it is damaged, and the message names the file."""
    files.write_record(tmp_path, record_of())
    path = tmp_path / "record.json"
    content = bytearray(path.read_bytes())
    position = digit % len(content)
    content[position] = ord("7") if content[position] != ord("7") else ord("8")
    path.write_bytes(content)
    with pytest.raises(files.DamagedError, match=r"record\.json"):
        files.read_record(tmp_path)


def test_a_record_of_another_version_is_no_damage(tmp_path: Path, record_of: Any) -> None:
    """It is whole and sealed, and what it says may mean something else: it is told, and not read."""
    files.write_record(tmp_path, record_of(version=RECORD_VERSION + 1))
    with pytest.raises(OtherVersionError, match=f"it has version {RECORD_VERSION + 1}, and this one reads"):
        files.read_record(tmp_path)


def test_a_missing_record_is_told(tmp_path: Path) -> None:
    """Reading what is not there is an error that is no damage."""
    with pytest.raises(StoreError, match=r"cannot read .*record.json: No such file or directory") as error:
        files.read_record(tmp_path)
    assert not isinstance(error.value, files.DamagedError)


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    """When writing fails half-way, what was there before is still there, and nothing else is."""
    path = tmp_path / "file"
    files.write_atomically(path, b"before")

    def fail(descriptor: int) -> None:
        del descriptor
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((StoreError, KeyboardInterrupt)):
        files.write_atomically(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_the_cause_of_a_failed_write_is_told(tmp_path: Path) -> None:
    """A folder that cannot be made is named with the system's reason."""
    (tmp_path / "taken").touch()
    with pytest.raises(StoreError, match=r"cannot write .*taken/below/record.json: "):
        files.write_atomically(tmp_path / "taken" / "below" / "record.json", b"")


def test_colleagues_can_read_records(tmp_path: Path, record_of: Any) -> None:
    """Files have the rights that the user's umask gives, as those of any other program."""
    mask = os.umask(0o027)
    try:
        files.write_record(tmp_path, record_of())
    finally:
        os.umask(mask)
    assert (tmp_path / "record.json").stat().st_mode & 0o777 == 0o640


def test_what_is_written_survives_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New folders reach the disk, then the file does, then it takes its place, and that reaches the disk, too."""
    done: list[str] = []

    def synced(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        done.append("file" if path.is_file() else f"folder {path.relative_to(tmp_path.resolve())}")
        if (tmp_path / "new" / "r01" / "record.json").exists():
            done.append("it is there")

    monkeypatch.setattr(os, "fsync", synced)
    files.write_atomically(tmp_path / "new" / "r01" / "record.json", b"whole")
    assert done == ["folder new", "folder .", "file", "folder new/r01", "it is there"]


def test_a_file_system_that_settles_no_folders_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some refuse to write a folder down by itself, as network file systems do: the file is there, and no error is."""

    def refusing(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").is_dir():
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refusing)
    files.write_atomically(tmp_path / "new" / "record.json", b"whole")
    assert (tmp_path / "new" / "record.json").read_bytes() == b"whole"
