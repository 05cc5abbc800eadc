"""Studies on disk: results/<study>/study.json, with a folder beside it for each comparison of the study."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.spec.errors import StoreError
from bakeoff.spec.request import Request
from bakeoff.spec.study import Study
from bakeoff.store.files import STUDY_FILE, read_as, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

# Fields of a request that may change when a study is resumed: how long it runs, and where; not what is measured.
_ANEW = ("aim", "max_rounds", "budget_s", "trial_limit_s", "results", "resume", "command")


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


def new(results: Path, study: Study) -> tuple[Path, StudyFile]:
    """Make the folder of a new study."""
    made = StudyFile(
        id="",
        created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        bakeoff=bakeoff.__version__,
        study=study,
        states=[PointState() for _ in study.points],
    )
    while True:
        identity = f"{study.name}-{secrets.token_hex(2)}"
        try:
            (results / identity).mkdir(parents=True)
        except FileExistsError:
            continue  # An id that is taken is drawn again.
        except OSError as error:
            msg = f"cannot make {results / identity}: {error.strerror}"
            raise StoreError(msg) from error
        return results / identity, msgspec.structs.replace(made, id=identity)


def write(folder: Path, stored: StudyFile) -> None:
    """Write study.json, with how far each point is."""
    write_atomically(folder / STUDY_FILE, msgspec.json.format(msgspec.json.encode(stored)))


def read(folder: Path) -> StudyFile:
    """Return the study of a folder; raise StoreError with the reason."""
    return read_as(StudyFile, folder / STUDY_FILE)


def studies(results: Path) -> list[Path]:
    """Return the folders of all studies, oldest first; those that cannot be read come before them."""
    folders = [path.parent for path in results.glob(f"*/{STUDY_FILE}")]
    return sorted(folders, key=lambda folder: (created_at(folder), folder.name))


def created_at(folder: Path) -> str:
    """Return when a study was made; "" where its file is damaged: reading it raises the error."""
    try:
        return read(folder).created_at
    except StoreError:
        return ""


def latest_like(results: Path, wanted: Study) -> Path | None:
    """Return the folder of the latest study with the same points, to resume; None where there is none."""
    for folder in reversed(studies(results)):
        try:
            before = read(folder).study
        except StoreError:
            continue  # What it asked for is unknown.
        if _what(before) == _what(wanted):
            return folder
    return None


def _what(study: Study) -> tuple[object, ...]:
    """Return everything that must agree for a run to use another's comparisons."""
    default = Request(workload="")
    anew = {name: getattr(default, name) for name in _ANEW}
    return (
        study.name,
        [(point.title, point.coordinates, msgspec.structs.replace(point.request, **anew)) for point in study.points],
    )
