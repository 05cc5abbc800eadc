"""One element on its node: the comparison is run or gone on with, and how it ended is written down beside it."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.cluster import states
from bakeoff.cluster.plans import now
from bakeoff.cluster.states import ElementState, JobRun
from bakeoff.measure.noise import PROBE_S
from bakeoff.race import conductor
from bakeoff.race.progress import Prepared, silent
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.errors import BakeoffError, ChangedError, StoreError, UsageError
from bakeoff.store.locks import locked

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.cluster.plans import Element, JobPlan
    from bakeoff.judge.outcome import Outcome
    from bakeoff.race.progress import Event, Observer
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.study import Point

UNPAIRED = (
    "unpaired: each contender ran in a job of its own, so that no round has two of them, and what a node did meanwhile "
    "is in their difference."
)
"""Stands in every report of such a comparison."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The job that this process is in."""

    task: str
    restarts: int = 0
    """How often Slurm has begun it again."""


def job_here() -> Job:
    """Return the job of this process by the variables that Slurm sets (sbatch(1)); without a name outside of one."""
    array, task = os.environ.get("SLURM_ARRAY_JOB_ID", ""), os.environ.get("SLURM_ARRAY_TASK_ID", "")
    restarts = os.environ.get("SLURM_RESTART_COUNT", "0")
    return Job(task=f"{array}_{task}" if array else "", restarts=int(restarts) if restarts.isdigit() else 0)


class ElementRun:
    """An element on its way; every change of its state is on disk before what follows from it."""

    def __init__(self, folder: Path, plan: JobPlan, element: int) -> None:
        """Take the study's folder, its plan and the element's number; raise UsageError where there is none such."""
        if not 0 <= element < len(plan.elements):
            msg = f"{folder.name} has no element {element}; valid: 0 to {len(plan.elements) - 1}"
            raise UsageError(msg)
        self._folder, self._plan, self._number = folder, plan, element
        self._state = states.read(folder, element)

    def run(
        self,
        look_up: Callable[[Element], Point],
        observe: Observer = silent,
        *,
        launch: Launcher = ProcessWorker,
        probe_s: float = PROBE_S,
    ) -> ElementState:
        """Run the comparison unless it is done; return the element's state.

        `look_up` returns the point of an element on this machine. An interrupt is noted and raised again.
        """
        own = states.folder_of(self._folder, self._number)
        own.mkdir(parents=True, exist_ok=True)
        with locked(own, "element"):
            self._state = states.read(self._folder, self._number)
            if self._state.ended == "done":
                return self._state
            attempt = JobRun(task=job_here().task, node=platform.node(), began_at=now())
            self._note(ended="", reason="", attempts=[*self._state.attempts, attempt])
            try:
                ended, reason = self._outcome(look_up, observe, launch, probe_s)
            except KeyboardInterrupt:
                self._end("interrupted", "")
                raise
            except BakeoffError as error:
                ended, reason = "failed", str(error)
            except Exception as error:
                self._end("failed", f"{type(error).__name__}: {error}")
                raise
            self._end(ended, reason)
        return self._state

    def fail(self, reason: str) -> None:
        """Note that the element has failed, for a reason outside of it."""
        self._note(ended="failed", reason=reason)

    def _outcome(
        self, look_up: Callable[[Element], Point], observe: Observer, launch: Launcher, probe_s: float
    ) -> tuple[states.Ended, str]:
        """Run the comparison; return how the element ended, and why it failed."""
        point = look_up(self._plan.elements[self._number])
        self._note(point=point)
        try:
            outcome = self._conducted(point, observe, launch, probe_s)
        except (StoreError, UsageError) as error:
            if not self._state.comparison or isinstance(error, ChangedError):
                raise
            # What was begun cannot be gone on with here, as on a node with another GPU: records of two are not mixed.
            self._note(comparison="", left=[*self._state.left, self._state.comparison], reason=f"begun anew: {error}")
            outcome = self._conducted(point, observe, launch, probe_s)
        return ("done", self._state.reason) if outcome.is_answered else ("failed", _unanswered(outcome))

    def _conducted(self, point: Point, observe: Observer, launch: Launcher, probe_s: float) -> Outcome:
        """Run the comparison, or go on with the one that was begun."""

        def noting(event: Event) -> None:
            if isinstance(event, Prepared):
                self._note(comparison=Path(event.path).name)
            observe(event)

        request = msgspec.structs.replace(
            point.request,
            results=str(self._folder),
            resume=bool(self._state.comparison),
            noted=(UNPAIRED,) if self._plan.unpaired else (),
        )
        return conductor.run(request, noting, launch=launch, probe_s=probe_s)

    def _end(self, ended: states.Ended, reason: str) -> None:
        """Note how the attempt ended."""
        *before, last = self._state.attempts
        done = msgspec.structs.replace(last, ended_at=now())
        self._note(ended=ended, reason=reason, attempts=[*before, done])

    def _note(self, **changes: object) -> None:
        """Change the state, and write it."""
        self._state = msgspec.structs.replace(self._state, **changes)
        states.write(self._folder, self._number, self._state)


def _unanswered(outcome: Outcome) -> str:
    """Return why a comparison has no answer."""
    reasons = [f"{one.label}: {one.reason}" for one in outcome.contenders if one.status != "ranked"]
    reasons += [f"{label}: {why}" for label, why in outcome.comparison.excluded.items()]
    return "; ".join(["it has no answer", *reasons])
