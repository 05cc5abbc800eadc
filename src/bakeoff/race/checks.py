"""What is checked of the machine before anything is started: memory, the results directory, names that records hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from bakeoff.measure.machine import available_memory_bytes
from bakeoff.spec.errors import UsageError


def check_memory(needed_bytes: int) -> None:
    """Raise UsageError where batches would not fit into the memory that is available now."""
    available_bytes = available_memory_bytes()
    if available_bytes is not None and needed_bytes > available_bytes:
        needed_gb, available_gb = min(needed_bytes, 10**21) / 1e9, available_bytes / 1e9
        msg = (
            f"drawing its batches takes {needed_gb:,.1f} GB, and {available_gb:,.1f} GB are available; "
            "name a smaller --batch-size or another --size"
        )
        raise UsageError(msg)


def results_folder(results: str) -> Path:
    """Make the results directory; raise UsageError where it cannot be written."""
    folder = Path(results)
    check_text(str(folder.absolute()))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        msg = f"results directory {folder} cannot be written: {error.strerror}; name another one by --results DIR"
        raise UsageError(msg) from error


def check_kept(results: Path, content: object) -> None:
    """Raise UsageError where what is to be kept in a results directory, or the directory's own name, is not UTF-8."""
    check_text(str(results.absolute()))
    check_text(content)


def check_text(content: object) -> None:
    """Raise UsageError for names that no record could hold: records are UTF-8, and names of files need not be."""
    try:
        msgspec.json.encode(content)
    except UnicodeEncodeError as error:
        msg = f"{error.object!r} is not UTF-8, and records are; use another name"
        raise UsageError(msg) from error
