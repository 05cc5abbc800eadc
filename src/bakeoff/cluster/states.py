"""How far each element is: results/<study>/slurm/elements/<number>/state.json, which only its own job writes."""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from bakeoff.cluster.plans import FOLDER, LOGS
from bakeoff.spec.bounded import opened
from bakeoff.spec.errors import StoreError
from bakeoff.spec.study import Point
from bakeoff.store.files import write_json
from bakeoff.store.reading import read_as

if TYPE_CHECKING:
    from pathlib import Path

Ended = Literal["", "done", "failed", "interrupted"]
"""How the latest attempt ended. "": it runs, or its process was ended before it could say."""

LOG_LINES = 20
"""Of the end of a log: a traceback's last frames and its message."""
_LOG_BYTES = 16_384
"""Of the end of a log that are read for these lines."""


class JobRun(msgspec.Struct, frozen=True, kw_only=True):
    """One start of an element's job."""

    task: str
    """As Slurm names it, such as "123_4"."""
    node: str
    began_at: str
    ended_at: str = ""


class ElementState(msgspec.Struct, frozen=True, kw_only=True):
    """How far an element is."""

    ended: Ended = ""
    comparison: str = ""
    """The name of its folder in the study's; empty: none was begun."""
    left: list[str] = []
    """Folders of comparisons that could not be gone on with, such as on a node with another GPU."""
    point: Point | None = None
    """What was asked for, as its node looked it up."""
    reason: str = ""
    """Why it failed or was begun anew, in a sentence."""
    attempts: list[JobRun] = []

    @property
    def seconds(self) -> float:
        """How long its attempts took that came to an end, in seconds."""
        ended = [one for one in self.attempts if one.ended_at]
        return sum(
            (datetime.fromisoformat(one.ended_at) - datetime.fromisoformat(one.began_at)).total_seconds()
            for one in ended
        )


def folder_of(folder: Path, element: int) -> Path:
    """Return where an element's state and lock lie."""
    return folder / FOLDER / "elements" / f"{element:05d}"


def read(folder: Path, element: int) -> ElementState:
    """Return how far an element is; raise StoreError for a damaged file."""
    path = folder_of(folder, element) / "state.json"
    return read_as(ElementState, path) if path.exists() else ElementState()


def read_every(folder: Path, count: int) -> list[ElementState]:
    """Return how far every element is; of a damaged file only that it failed, with the reason."""
    found = []
    for element in range(count):
        try:
            found.append(read(folder, element))
        except StoreError as error:
            found.append(ElementState(ended="failed", reason=str(error)))
    return found


def write(folder: Path, element: int, state: ElementState) -> None:
    """Write how far an element is."""
    write_json(folder_of(folder, element) / "state.json", state)


def log_of(folder: Path, task: str) -> Path | None:
    """Return the log of a task; None where it has none, or a link in its place."""
    path = folder / FOLDER / LOGS / f"{task}.log"
    return path if task and path.is_file() and not path.is_symlink() else None


def end_of(log: Path | None) -> str:
    """Return the last lines of a log; "" where there is none, or it cannot be read."""
    if log is None:
        return ""
    try:
        with opened(log) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_BYTES))
            text = file.read(_LOG_BYTES).decode(errors="replace")
    except (OSError, StoreError):
        return ""
    return "\n".join(text.rstrip().splitlines()[-LOG_LINES:])
