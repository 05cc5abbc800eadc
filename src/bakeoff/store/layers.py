"""The workload's files of a model's parts that are raced alone, in a results directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.files import write_atomically
from bakeoff.workloads.alone import name_of, text_of
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from pathlib import Path

LAYERS_FOLDER = "layers"
"""Of a results directory."""


def write_layer(whole: str, path: str, results: Path) -> Path:
    """Write the workload's file of the part at a path, and return its place; raise where it cannot be alone.

    What is there is replaced whole, and a link never followed. Raises UsageError where it cannot be written.
    """
    loaded = load(whole)
    text = text_of(loaded, path)
    file = results / LAYERS_FOLDER / f"{name_of(loaded, path)}.py"
    if file.parent.is_symlink():
        msg = f"{file.parent} is a link, and links are not followed: remove it, or name another folder by --results"
        raise UsageError(msg)
    try:
        write_atomically(file, text.encode())
    except StoreError as error:
        msg = f"{error}; name another results directory by --results DIR"
        raise UsageError(msg) from error
    return file
