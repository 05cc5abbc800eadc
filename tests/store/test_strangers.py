"""Folders that a stranger has made: read without following, waiting for or being filled by anything in them."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import pickle
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from bakeoff.spec import bounded
from bakeoff.spec.errors import DamagedError, OtherVersionError, StoreError, UnknownNameError
from bakeoff.spec.evidence import Evidence
from bakeoff.store import evidence
from bakeoff.store.evidence import checked_arrays, read_arrays
from bakeoff.store.files import read_comparison, write_comparison, write_record
from bakeoff.store.results import comparisons, find, read_records, take_up
from bakeoff.store.searches import latest_search, searches

if TYPE_CHECKING:
    from collections.abc import Callable


def pipe(path: Path) -> str:
    """Make a pipe that nobody writes to."""
    os.mkfifo(path)
    return "is no regular file"


def link(path: Path) -> str:
    """Make a link to what never ends."""
    path.symlink_to("/dev/zero")
    return "is a link, and links are not followed"


def folder(path: Path) -> str:
    """Make a folder."""
    path.mkdir()
    return "is no regular file"


def large(path: Path) -> str:
    """Make a file that is too large, which takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(bounded.MOST_BYTES + 1)
    return "is larger than 64 MiB"


def deep(path: Path) -> str:
    """Write JSON that is nested too deep."""
    path.write_bytes(b'{"sha256":"","record":' + b"[" * 1_000_000)
    return "is truncated or not a record"


@pytest.mark.parametrize("make", [pipe, link, folder, large, deep])
def test_what_is_no_record_is_told(tmp_path: Path, make: Callable[[Path], str]) -> None:
    """Nothing but a regular file of a bounded size is read in a record's place; going on sets the thing aside."""
    (tmp_path / "r01-fake").mkdir()
    reason = make(tmp_path / "r01-fake" / "record.json")
    (told,) = read_records(tmp_path).damaged
    assert f"r01-fake/record.json {reason}" in told
    take_up(tmp_path)
    assert (tmp_path / "r01-fake" / "record.damaged.json").lstat()
    assert not (tmp_path / "r01-fake" / "record.json").is_symlink()


@pytest.mark.parametrize("make", [pipe, link, folder, large])
def test_what_is_no_comparison_is_told(tmp_path: Path, make: Callable[[Path], str]) -> None:
    """The same holds for comparison.json, and a folder with such a file stands in nobody's way."""
    (tmp_path / "mlp-mnist-0000").mkdir()
    reason = make(tmp_path / "mlp-mnist-0000" / "comparison.json")
    with pytest.raises(StoreError, match=rf"comparison.json {reason}"):
        read_comparison(tmp_path / "mlp-mnist-0000")
    (tmp_path / "mlp-mnist-0000" / "search.json").symlink_to("nowhere")
    assert [found.name for found in comparisons(tmp_path)] in (["mlp-mnist-0000"], [])
    assert searches(tmp_path) == []
    latest_search(tmp_path)


def test_a_link_leads_nowhere(tmp_path: Path, record_of: Any) -> None:
    """A trial's folder that is a link is neither read nor written through, by nobody."""
    write_record(tmp_path / "theirs" / "r01-fake", record_of())
    (tmp_path / "theirs" / "r01-fake" / "record.json").write_bytes(b"{}")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "r01-fake").symlink_to(tmp_path / "theirs" / "r01-fake")
    (told,) = read_records(tmp_path / "mine").damaged
    assert told.endswith("r01-fake is a link, and links are not followed")
    with pytest.raises(StoreError, match="r01-fake is a link, and links are not followed; remove it"):
        take_up(tmp_path / "mine")
    assert (tmp_path / "theirs" / "r01-fake" / "record.json").read_bytes() == b"{}"


def test_a_link_to_no_record_is_told_in_a_trial_s_place(tmp_path: Path) -> None:
    """One that leads nowhere, or to a folder without a record, is no trial that was not begun; to a file it is none."""
    (tmp_path / "empty").mkdir()
    for name, leads in (("r01-fake", "nowhere"), ("r02-fake", "empty"), ("r03-fake", "r03-fake"), ("notes", "file")):
        (tmp_path / name).symlink_to(leads)
    (tmp_path / "file").touch()
    told = read_records(tmp_path).damaged
    assert told == [f"{tmp_path / f'r0{n}-fake'} is a link, and links are not followed" for n in (1, 2, 3)]


def test_a_comparison_that_is_a_link_is_not_found(tmp_path: Path, comparison_of: Any) -> None:
    """What others' results link to is neither listed nor gone on with; named by its own path it is read."""
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    for folder in (theirs / "mlp-mnist-1111", mine / "mlp-mnist-2222"):
        folder.mkdir(parents=True)
        write_comparison(folder, comparison_of())
    (mine / "mlp-mnist-1111").symlink_to(theirs / "mlp-mnist-1111")
    assert [found.name for found in comparisons(mine)] == ["mlp-mnist-2222"]
    assert find(mine, "mlp-mnist-2222") == mine / "mlp-mnist-2222"
    with pytest.raises(UnknownNameError, match="mlp-mnist-2222"):
        find(mine, "1111")
    assert find(mine, str(mine / "mlp-mnist-1111")) == mine / "mlp-mnist-1111"


def test_a_comparison_of_another_version_is_told(tmp_path: Path, comparison_of: Any) -> None:
    """comparison.json of another version is named so, and not called damaged."""
    write_comparison(tmp_path, comparison_of(version=2))
    with pytest.raises(OtherVersionError, match="was made by another version of bakeoff: it has version 2"):
        read_comparison(tmp_path)


def test_names_that_are_too_long_are_unknown(tmp_path: Path, comparison_of: Any) -> None:
    """A name that no file could have is one that nothing answers to."""
    write_comparison(tmp_path / "mlp-mnist-aaaa", comparison_of())
    with pytest.raises(UnknownNameError, match="unknown comparison 'xxx"):
        find(tmp_path, "x" * 5000)


def archive(**members: bytes) -> bytes:
    """Make a zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return file.getvalue()


def array(values: Any) -> bytes:
    """Make the file of one array."""
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def header(shape: tuple[int, ...]) -> bytes:
    """Make the file of one array that has no data."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


class Bomb:
    """What would be run if it were unpickled."""

    def __reduce__(self) -> Any:
        """Fail the test."""
        return pytest.fail, ("a pickle was executed",)


STRANGE = {
    "nothing": b"",
    "no zip": b"no zip at all",
    "a pickle": pickle.dumps(Bomb()),
    "objects": archive(**{"a.npy": array(np.array([Bomb()], dtype=object))}),
    "texts": archive(**{"a.npy": array(np.array(["text"]))}),
    "no array": archive(**{"a.npy": b"no array"}),
    "no ending": archive(a=array(np.zeros(3))),
    "no data": archive(**{"a.npy": header((1 << 40,))}),
    "a negative length": archive(**{"a.npy": header((-1,))}),
    "cut": archive(**{"a.npy": array(np.zeros(300))})[:-40],
}


@pytest.mark.parametrize("case", STRANGE)
def test_strange_evidence_is_damage(tmp_path: Path, record_of: Any, case: str) -> None:
    """Arrays that have the hash in their record and are none are told; no pickle is opened."""
    content = STRANGE[case]
    sha256 = hashlib.sha256(content).hexdigest()
    (tmp_path / "r01-fake").mkdir()
    (tmp_path / "r01-fake" / "evidence.npz").write_bytes(content)
    with pytest.raises(DamagedError, match=r"evidence\.npz holds no arrays"):
        read_arrays(tmp_path / "r01-fake" / "evidence.npz", sha256)
    write_record(tmp_path / "r01-fake", record_of(evidence=Evidence(parameter_shapes={}, arrays_sha256=sha256)))
    assert [told.partition("evidence.npz ")[2][:15] for told in read_records(tmp_path).damaged] == ["holds no arrays"]


def test_a_small_file_does_not_become_a_large_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes of all members are added up before the first is unpacked."""
    monkeypatch.setattr(evidence, "MOST_EVIDENCE_BYTES", 1 << 20)
    content = archive(**{f"{name}.npy": array(np.zeros(1 << 16)) for name in "abc"})
    assert len(content) < 1 << 14
    (tmp_path / "evidence.npz").write_bytes(content)
    with pytest.raises(DamagedError, match="would take more than 1 MiB of memory"):
        read_arrays(tmp_path / "evidence.npz", hashlib.sha256(content).hexdigest())


def test_a_file_that_lies_about_its_size_does_not_become_a_large_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a member unpacks to beyond what it declares is not unpacked: its array comes alone, in pieces."""
    monkeypatch.setattr(evidence, "MOST_EVIDENCE_BYTES", 1 << 22)
    made = io.BytesIO()
    np.lib.format.write_array(made, np.zeros(1 << 14))
    content = bytearray(archive(**{"a.npy": made.getvalue() + bytes(1 << 26)}))
    declared = struct.pack("<I", len(made.getvalue()))
    checksum = struct.pack("<I", zlib.crc32(made.getvalue()))
    central = content.index(b"PK\x01\x02")
    for at in (14, central + 16):  # the checksum, the packed size and the size, in each of the two headers
        content[at : at + 4], content[at + 8 : at + 12] = checksum, declared
    (tmp_path / "evidence.npz").write_bytes(content)
    tracemalloc.start()
    found = read_arrays(tmp_path / "evidence.npz", hashlib.sha256(content).hexdigest())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found["a"].shape == (1 << 14,)
    assert most < 1 << 23


@pytest.mark.parametrize("packed", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_evidence_is_packed_as_numpy_packs(tmp_path: Path, packed: int) -> None:
    """Of other compressions zipfile unpacks all at once: a few hundred bytes would take any memory."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packed) as file:
        file.writestr("a.npy", array(np.zeros(4)))
    (tmp_path / "evidence.npz").write_bytes(made.getvalue())
    for read in (read_arrays, checked_arrays):
        with pytest.raises(DamagedError, match="packed as NumPy packs no arrays"):
            read(tmp_path / "evidence.npz", hashlib.sha256(made.getvalue()).hexdigest())


def test_evidence_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Arrays of all kinds that bakeoff writes come back."""
    arrays: dict[str, Any] = {"output/0": np.arange(6.0).reshape(2, 3), "flag": np.array([True]), "count": np.int64(3)}
    np.savez(tmp_path / "evidence.npz", **arrays)
    sha256 = hashlib.sha256((tmp_path / "evidence.npz").read_bytes()).hexdigest()
    found = read_arrays(tmp_path / "evidence.npz", sha256)
    assert found.keys() == arrays.keys()
    assert all((found[name] == arrays[name]).all() for name in arrays)


def test_a_record_goes_by_its_folder(tmp_path: Path, record_of: Any) -> None:
    """A record that names another trial, also one beyond the folder, is not used."""
    record = record_of()
    strange = msgspec.structs.replace(record, trial=msgspec.structs.replace(record.trial, name="../../etc"))
    write_record(tmp_path / "r01-fake", strange)
    assert read_records(tmp_path).records == {}
    assert "is the record of another trial: '../../etc'" in read_records(tmp_path).damaged[0]


def test_a_trial_that_may_not_be_entered_is_told(
    tmp_path: Path, record_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round does not vanish from a report because its folder is for its owner alone; tests may run as root."""
    write_record(tmp_path / "r01-fake", record_of())
    look = os.lstat

    def refused(path: Any, **given: Any) -> os.stat_result:
        if str(path).endswith("r01-fake/record.json"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return look(path, **given)

    monkeypatch.setattr(os, "lstat", refused)
    for read in (read_records, take_up):
        with pytest.raises(StoreError, match=r"cannot read .*r01-fake: Permission denied"):
            read(tmp_path)
