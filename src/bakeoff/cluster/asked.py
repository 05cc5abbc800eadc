"""What the controller answered last: it is asked once in some seconds, however many people and scripts want to know."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import filelock
import msgspec

from bakeoff.cluster import controller
from bakeoff.cluster.plans import FOLDER
from bakeoff.spec.errors import BakeoffError, StoreError
from bakeoff.store.files import write_atomically
from bakeoff.store.reading import read_as

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LEAST_S = 5.0
"""Between two questions: Slurm's own squeue(1) warns of calling it in loops, and a study tells of minutes."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of tasks, and since when."""

    at: str
    jobs: list[str]
    tasks: dict[str, controller.Task]
    """Of the controller's answer, and how those ended that it has forgotten since."""
    accounted: list[str] = []
    """Arrays of which accounting was asked since the question, whether it knew them or not."""
    failed: str = ""
    """Why the controller was not heard."""

    @property
    def age_s(self) -> float:
        """Seconds since the question."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.at)).total_seconds()


def tasks_of(folder: Path, jobs: Sequence[str]) -> Answer:
    """Return what is known of the tasks of these arrays, from the last answer where that is younger than some seconds.

    A controller that does not answer is no error: what is on disk is known, and the rest as it was.
    """
    path = folder / FOLDER / "queue.json"
    with filelock.FileLock(path.with_suffix(".lock")):
        before = _read(path)
        if before is not None and set(jobs) <= set(before.jobs) and 0 <= before.age_s < LEAST_S:
            return before
        known = before.tasks if before is not None else {}
        ended = {
            name: task for name, task in known.items() if task.state not in controller.WAITING | controller.RUNNING
        }
        failed = ""
        try:
            tasks = ended | controller.queue(jobs)
        except BakeoffError as error:
            tasks, failed = known, str(error)
        at = datetime.now(UTC).isoformat()
        answer = Answer(at=at, jobs=list(jobs), tasks=tasks, failed=failed)
        write_atomically(path, msgspec.json.encode(answer))
        return answer


def keep(folder: Path, answer: Answer) -> None:
    """Keep what was found of tasks elsewhere, so that nobody has to ask again."""
    path = folder / FOLDER / "queue.json"
    with filelock.FileLock(path.with_suffix(".lock")):
        write_atomically(path, msgspec.json.encode(answer))


def _read(path: Path) -> Answer | None:
    """Return the last answer; None where there is none that can be read."""
    try:
        return read_as(Answer, path)
    except StoreError:
        return None
