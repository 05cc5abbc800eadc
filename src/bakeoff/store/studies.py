"""Studies on disk: results/<study>/study.json, with a folder beside it for each comparison of the study."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.spec.comparison import ANEW
from bakeoff.spec.errors import StoreError
from bakeoff.spec.request import Request
from bakeoff.spec.study import Study
from bakeoff.store import folders
from bakeoff.store.files import STUDY_FILE, write_json
from bakeoff.store.reading import read_as

if TYPE_CHECKING:
    from pathlib import Path

_ANEW = (*ANEW, "trace_rounds", "results", "resume", "command")
"""Fields of a request that may change when a study is resumed: how long, and where."""


LOG_ENDS = "; its log ends: "
"""In a reason: what stands behind it was printed by a process, and may be anything."""


class PointState(msgspec.Struct, frozen=True, kw_only=True):
    """How far a point of a study is."""

    comparison: str = ""
    """The name of its folder beside study.json; empty: not begun."""
    reason: str = ""
    """Why it ended without an outcome."""


class StudyFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of study.json, written before the first point and after each."""

    version: int = 1
    id: str
    created_at: str
    bakeoff: str
    study: Study
    states: list[PointState]


def new(study: Study) -> StudyFile:
    """Return the file of a study of which nothing is run; its id is that of its folder, which is still to be made."""
    return StudyFile(
        id="",
        created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        bakeoff=bakeoff.__version__,
        study=study,
        states=[PointState() for _ in study.points],
    )


def write(folder: Path, stored: StudyFile) -> None:
    """Write study.json, with how far each point is."""
    write_json(folder / STUDY_FILE, stored)


def read(folder: Path) -> StudyFile:
    """Return the study of a folder; raise StoreError with the reason, such as points without a state."""
    found = read_as(StudyFile, folder / STUDY_FILE)
    if len(found.states) != len(found.study.points):
        msg = f"{folder / STUDY_FILE} is damaged: {len(found.study.points)} points have {len(found.states)} states"
        raise StoreError(msg)
    return found


def studies(results: Path) -> list[Path]:
    """Return the folders of all studies, oldest first; those that cannot be read come before them."""
    known = [path.parent for path in folders.holding(results, STUDY_FILE)]
    return sorted(known, key=lambda folder: (created_at(folder), folder.name))


def created_at(folder: Path) -> str:
    """Return when a study was made; "" where its file is damaged: reading it raises the error."""
    try:
        return read(folder).created_at
    except StoreError:
        return ""


def latest_like(results: Path, wanted: Study) -> tuple[Path, StudyFile] | None:
    """Return the latest study that asked for the same points; None where there is none."""
    return folders.latest_like(studies(results), read, _points_of, new(wanted))


def _points_of(stored: StudyFile) -> tuple[object, ...]:
    """Return what must agree for a study to be resumed with another's comparisons."""
    default = Request(workload="")
    anew = {name: getattr(default, name) for name in _ANEW}
    points = stored.study.points
    return (
        stored.study.name,
        [(one.title, one.coordinates, msgspec.structs.replace(one.request, **anew)) for one in points],
    )
