"""The arrays of a certificate's evidence, read as a stranger's: their headers before their data, and never a pickle."""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bakeoff.spec.bounded import read_bounded
from bakeoff.spec.errors import DamagedError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

EVIDENCE_FILE = "evidence.npz"

MOST_EVIDENCE_BYTES = 1 << 30
"""Of all arrays together: a network of 300 arrays, each sampled (certify.sample), keeps 0.2 GB."""

_ENDING = ".npy"
_NUMBERS = "biuf"
"""Kinds of numpy.dtype that evidence consists of."""
_VERSION = (1, 0)
"""Of NumPy's format: a header of the next one may be 4 GB long, and is for arrays of records."""
_PACKED = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""How NumPy packs arrays; of what else there is, zipfile unpacks all that a few bytes hold before it returns one."""
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError),  # of the archive
    *(ValueError, TypeError, OverflowError, SyntaxError, KeyError),  # of a header
    *(NotImplementedError, RuntimeError, MemoryError),  # of a compression or an encryption that zipfile does not know
)


def read_arrays(path: Path, sha256: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file with this SHA-256; raise DamagedError where they are not, StoreError for the rest."""
    content = _content(path, sha256)
    with _opened(path, content) as archive:
        return {info.filename.removesuffix(_ENDING): _array(archive, info) for info in archive.infolist()}


def checked_arrays(path: Path, sha256: str) -> bytes:
    """Return the content of a file whose headers announce arrays of numbers that fit; raise DamagedError for others."""
    content = _content(path, sha256)
    with _opened(path, content) as archive:
        for info in archive.infolist():
            with archive.open(info) as file:
                _check_header(file, info)
    return content


def _content(path: Path, sha256: str) -> bytes:
    """Return the content of a file with this SHA-256; raise DamagedError where it is another, or missing."""
    try:
        content = read_bounded(path, MOST_EVIDENCE_BYTES)
    except FileNotFoundError as error:
        msg = f"{path} is missing, and its record is nothing without it"
        raise DamagedError(msg) from error
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise StoreError(msg) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        msg = f"{path} was changed after it was written: its content does not have the SHA-256 in its record"
        raise DamagedError(msg)
    return content


@contextmanager
def _opened(path: Path, content: bytes) -> Iterator[zipfile.ZipFile]:
    """Open a file's content, whose arrays fit into memory; what is found to be broken in it is a DamagedError."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if any(info.compress_type not in _PACKED for info in archive.infolist()):
                msg = f"{path} is packed as NumPy packs no arrays"
                raise DamagedError(msg)
            if sum(info.file_size for info in archive.infolist()) > MOST_EVIDENCE_BYTES:
                msg = f"{path} would take more than {MOST_EVIDENCE_BYTES >> 20} MiB of memory"
                raise DamagedError(msg)
            yield archive
    except _BROKEN as error:
        msg = f"{path} holds no arrays: {error}"
        raise DamagedError(msg) from error


def _check_header(file: IO[bytes], info: zipfile.ZipInfo) -> None:
    """Raise ValueError unless a member is an array of numbers whose data is as long as its header says."""
    if not info.filename.endswith(_ENDING):
        msg = f"{info.filename} is no array"
        raise ValueError(msg)
    if np.lib.format.read_magic(file) != _VERSION:
        msg = f"{info.filename} is of an unknown format"
        raise ValueError(msg)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    announced = file.tell() + math.prod(shape) * dtype.itemsize
    if dtype.kind not in _NUMBERS or announced != info.file_size or any(length < 0 for length in shape):
        msg = f"{info.filename} is no array of numbers of its size"
        raise ValueError(msg)


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Return one member's array."""
    with archive.open(info) as file:
        _check_header(file, info)
        file.seek(0)
        # NumPy reads piece by piece what the header says, however much more a file unpacks to than it declares.
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array
