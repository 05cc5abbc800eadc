"""A study from its first point to its last: each is a comparison of its own, and one that fails ends no other."""

from __future__ import annotations

import shlex
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.study import judge_study
from bakeoff.measure.noise import PROBE_S
from bakeoff.race import conductor
from bakeoff.race.checks import check_kept
from bakeoff.race.counterfactual import lacks_traces
from bakeoff.race.progress import (
    Event,
    PointEnded,
    PointStarted,
    Prepared,
    StudyEvent,
    StudyObserver,
    StudyStarted,
    silent,
)
from bakeoff.race.stages.rounds import made_up
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.comparison import goal_of
from bakeoff.spec.errors import BakeoffError, UsageError
from bakeoff.stats.boundaries import LOOKS
from bakeoff.store import studies
from bakeoff.store.absurd import told_if_absurd
from bakeoff.store.files import read_comparison
from bakeoff.store.folders import new_folder, resumable
from bakeoff.store.locks import locked

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.request import Request
    from bakeoff.spec.study import Study
    from bakeoff.store.studies import PointState, StudyFile

_FINAL = ("decided", "futility", "lost")
"""Endings after which more time would change nothing."""

OUT_OF_TIME = "not run this time: the time budget had ended (--resume with a new --budget goes on)"
"""Why a point is not finished; it may have been begun before, and its rounds count."""


def run_study(
    study: Study,
    observe: StudyObserver = silent,
    *,
    results: str = "results",
    resume: bool = False,
    launch: Launcher = ProcessWorker,
    probe_s: float = PROBE_S,
) -> StudyOutcome:
    """Run every point that is not finished; return the study's outcome.

    The study's budget is shared: each point may take the time that is left over the points that are left. Ctrl-C
    ends it at once; finished points, and finished trials of the one that ran, are on disk. Raises UsageError where
    there is nothing to go on with and for a name that is not UTF-8, StoreError where the study cannot be written.
    """
    folder, begun = _begun(Path(results), study, resume=resume)
    with locked(folder, "study"):
        _StudyRun(folder, begun, observe, launch, probe_s).all_points()
    return judge_study(folder)


def _begun(results: Path, study: Study, *, resume: bool) -> tuple[Path, StudyFile]:
    """Return the folder of a new study, or of the latest that asked for the same, to go on as long as is wanted now."""
    check_kept(results, study)
    if not resume:
        folder = new_folder(results, study.name)
        return folder, msgspec.structs.replace(studies.new(study), id=folder.name)
    folder, before = resumable("study", results, studies.latest_like(results, study))
    return folder, msgspec.structs.replace(before, study=study)


def _alone(command: str, folder: Path) -> str:
    """Return the command that runs a point alone, with the study's folder as its results: there --resume finds it."""
    return f"{without_results(command)} --results {shlex.quote(str(folder))}" if command else ""


def without_results(command: str) -> str:
    """Return a command without the folder that its results lie in."""
    words, others = iter(shlex.split(command)), []
    for word in words:
        if word == "--results":
            next(words, None)
        elif not word.startswith("--results="):
            others.append(word)
    return shlex.join(others)


class _StudyRun:
    """A study on its way; after each point its file is written."""

    def __init__(
        self, folder: Path, begun: StudyFile, observe: StudyObserver, launch: Launcher, probe_s: float
    ) -> None:
        self._folder, self._file = folder, begun
        self._observe, self._launch, self._probe_s = observe, launch, probe_s

    def all_points(self) -> None:
        """Run what is not finished, each with its share of the time that is left."""
        began = time.monotonic()
        points, budget_s = self._file.study.points, self._file.study.budget_s
        studies.write(self._folder, self._file)
        asked = [(point.request, state) for point, state in zip(points, self._file.states, strict=True)]
        open_points = [index for index, one in enumerate(asked) if not is_final(self._folder, *one)]
        done = len(points) - len(open_points)
        self._observe(StudyStarted(self._file.study, str(self._folder), done))
        sharing = 0 if budget_s is None else len(open_points)
        for place, index in enumerate(open_points):
            share_s = points[index].request.budget_s
            if budget_s is not None:
                share_s = (budget_s - (time.monotonic() - began)) / (len(open_points) - place)
            reason = OUT_OF_TIME if share_s is not None and share_s <= 0 else self._point(index, share_s, sharing)
            self._note(index, reason=reason)
            self._observe(PointEnded(index + 1, len(points), points[index], reason))

    def _point(self, index: int, budget_s: float | None, sharing: int) -> str:
        """Run one point, whose budget is perhaps shared; return the reason where that is not possible, else ""."""
        point, state = self._file.study.points[index], self._file.states[index]
        self._observe(PointStarted(index + 1, len(self._file.study.points), point, budget_s))
        again = _alone(point.request.command, self._folder)
        request = msgspec.structs.replace(
            point.request, results=str(self._folder), budget_s=budget_s, resume=bool(state.comparison), command=again
        )
        try:
            conductor.run(request, self._noting(index), launch=self._launch, probe_s=self._probe_s, sharing=sharing)
        except BakeoffError as error:
            if isinstance(error, UsageError) and self._is_of_all():
                shutil.rmtree(self._folder)
                raise
            return str(error)
        return ""

    def _is_of_all(self) -> bool:
        """Return whether what a point cannot have was most likely asked for at every point: it is the first to be run.

        A document's comparisons are of different work each: what one cannot have says nothing of the others.
        """
        differs = self._file.study.reproduces is not None and len(self._file.study.points) > 1
        return not differs and not any(one.comparison or one.reason for one in self._file.states)

    def _noting(self, index: int) -> StudyObserver:
        """Return an observer that writes which comparison a point has, before its first trial, and no old reason."""

        def observe(event: StudyEvent | Event) -> None:
            if isinstance(event, Prepared):
                self._note(index, comparison=Path(event.path).name, reason="")
            self._observe(event)

        return observe

    def _note(self, index: int, **changes: str) -> None:
        """Change a point's state, and write it."""
        states = list(self._file.states)
        states[index] = msgspec.structs.replace(states[index], **changes)
        self._file = msgspec.structs.replace(self._file, states=states)
        studies.write(self._folder, self._file)


def is_final(folder: Path, request: Request, state: PointState) -> bool:
    """Return whether running a point of the study in a folder again, as it is asked for now, would change nothing."""
    if not state.comparison or state.reason or state.comparison != Path(state.comparison).name:
        return False
    try:
        with told_if_absurd():
            outcome = judge_comparison(folder / state.comparison)
    except BakeoffError:
        return False
    # Of rounds behind the last look that can be reached none is run, so that they may be fewer than it was allowed.
    allowed = outcome.comparison.procedure.max_rounds or LOOKS[-1]
    all_rounds = outcome.ended == "rounds" and allowed >= _rounds_with_made_up(folder / state.comparison, request)
    if goal_of(outcome.comparison.procedure.aim) != goal_of(request.aim):
        return False
    if request.traced and lacks_traces(folder / state.comparison, request.trace_rounds):
        return False
    return outcome.ended in _FINAL or (all_rounds and request.aim != "until-sure")


def _rounds_with_made_up(folder: Path, request: Request) -> int:
    """Return how many rounds a comparison has when all that were asked for are done: more where trials are gone."""
    comparison, limit = read_comparison(folder), request.max_rounds or LOOKS[-1]
    procedure = msgspec.structs.replace(comparison.procedure, max_rounds=limit)
    going_on = made_up(msgspec.structs.replace(comparison, procedure=procedure), folder, folder)
    return going_on.procedure.max_rounds or limit


def finished(study: Study, results: Path) -> list[bool]:
    """Return of each point of a study whether the latest study that asked for the same has finished it."""
    found = studies.latest_like(results, study)
    if found is None:
        return [False for _ in study.points]
    folder, before = found
    return [is_final(folder, point.request, state) for point, state in zip(study.points, before.states, strict=True)]
