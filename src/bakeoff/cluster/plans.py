"""What is run as jobs: results/<study>/slurm/plan.json, one element for each comparison, and who was submitted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.cluster.profile import SiteProfile
from bakeoff.spec.errors import UsageError
from bakeoff.spec.published import Reproduces
from bakeoff.spec.request import Request
from bakeoff.spec.study import Point, Study
from bakeoff.store import studies
from bakeoff.store.files import write_json
from bakeoff.store.folders import new_folder
from bakeoff.store.reading import read_as

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "slurm"
PLAN_FILE = "plan.json"
SUBMITTED_FILE = "submitted.json"
LOGS = "logs"
SCRIPT = "job.sh"

MOST_ELEMENTS = 10_000
"""Slurm keeps no more jobs at a time unless a site says so (MaxJobCount, slurm.conf(5)): more are a slip."""


class Element(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison, by the words of the command that runs it."""

    title: str
    words: list[str]
    """Behind `bakeoff`: run, use-case or reproduce, with all that was given."""
    coordinates: dict[str, str] = {}
    """Its place in a sweep."""
    point: int | None = None
    """Of `reproduce`: which of the document's comparisons; None: the words are of one comparison."""
    workload: str
    """As it was named."""
    contenders: list[str] = []
    """As they were named; empty: those that are there."""
    devices: int = 1
    """The most that a contender trains on."""


class JobPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All comparisons of a study, and what their jobs ask for."""

    version: int = 1
    id: str = ""
    """The name of the study's folder."""
    created_at: str = ""
    bakeoff: str = bakeoff.__version__
    name: str
    """The start of its folder's name."""
    title: str
    command: str = ""
    """The command line that repeats it."""
    elements: list[Element]
    unpaired: bool = False
    """Each contender in a job of its own: rounds of two contenders share nothing."""
    reproduces: Reproduces | None = None
    profile: SiteProfile
    limit_s: float
    """Time limit of an element."""
    limit_why: str
    """What the limit is from."""


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """An array that was handed to Slurm."""

    job: str
    """The array's id."""
    at: str
    offset: int = 0
    """The element of the array's task 0."""
    tasks: list[int]
    cancelled: bool = False

    def task_of(self, element: int) -> str:
        """Return an element's task as Slurm and the logs name it, such as "123_4"; "" where it is not of this array."""
        return f"{self.job}_{element - self.offset}" if element - self.offset in self.tasks else ""


def begin(results: Path, plan: JobPlan) -> tuple[Path, JobPlan]:
    """Make the folder of a study and write what is planned; return both. It is a study like any other from now on."""
    folder = new_folder(results, plan.name)
    plan = msgspec.structs.replace(plan, id=folder.name, created_at=now())
    write_json(folder / FOLDER / PLAN_FILE, plan)
    (folder / FOLDER / LOGS).mkdir()
    studies.write(folder, msgspec.structs.replace(studies.new(study_of(plan)), id=folder.name))
    return folder, plan


def study_of(plan: JobPlan, points: list[Point] | None = None) -> Study:
    """Return the study of a plan; before its comparisons have begun, with their names alone."""
    return Study(
        name=plan.name,
        title=plan.title,
        points=points or [named(element) for element in plan.elements],
        command=plan.command,
        reproduces=plan.reproduces,
    )


def named(element: Element) -> Point:
    """Return the point of an element that has not begun: on its node it is looked up as a whole."""
    request = Request(workload=element.workload, contenders=tuple(element.contenders))
    return Point(title=element.title, coordinates=element.coordinates, request=request)


def read(folder: Path) -> JobPlan:
    """Return the plan of a study's folder; raise UsageError where it has none, StoreError where it is damaged."""
    path = folder / FOLDER / PLAN_FILE
    if not path.is_file():
        msg = f"{folder} holds no jobs: name the folder that `bakeoff slurm write` or `submit` printed"
        raise UsageError(msg)
    return read_as(JobPlan, path)


def submissions(folder: Path) -> list[Submission]:
    """Return the arrays that were handed to Slurm, in their order."""
    path = folder / FOLDER / SUBMITTED_FILE
    return read_as(list[Submission], path) if path.exists() else []


def note_submissions(folder: Path, submitted: list[Submission]) -> None:
    """Write which arrays were handed to Slurm."""
    write_json(folder / FOLDER / SUBMITTED_FILE, submitted)


def now() -> str:
    """Return this moment, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
