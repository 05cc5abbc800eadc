"""All studies one after another: every document has something early, and one that fails ends no other."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

import msgspec

import bakeoff
from bakeoff.judge.study import NOT_BEGUN, judge_study
from bakeoff.measure.noise import PROBE_S
from bakeoff.race.budget import Stopwatch
from bakeoff.race.progress import StudyObserver, silent
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.errors import BakeoffError, UsageError
from bakeoff.store import studies
from bakeoff.store.files import write_json
from bakeoff.study.run import OUT_OF_TIME, finished, run_study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bakeoff.judge.study import StudyOutcome
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.published import PublishedStudy
    from bakeoff.spec.study import Study

STATE_FILE = "reproduced-all.json"
"""In the results directory, written after each study: what became of all of them the last time."""

Ending = Literal["done", "left", "failed", "not here"]
"""What became of a study.

done      every comparison is finished
left      time was over, or it was interrupted, before all were: to be resumed
failed    a comparison, or the study itself, ended with an error, or nothing in it was ranked
not here  nothing of it can be run on this machine
"""

INTERRUPTED = "interrupted"

UNFINISHED = "not every comparison of it is finished"
"""Why a study is left that was run: its share of the time is over, or what it lacks could not be had this time."""


class StudyState(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one study."""

    name: str
    document: str
    ended: Ending
    comparisons: int
    done: int = 0
    """Comparisons that are finished."""
    failed: int = 0
    """Comparisons that could not be had, or in which nobody was ranked."""
    path: str = ""
    """The study's folder; empty where none was made."""
    reason: str = ""
    seconds: float = 0.0
    """How long it was run this time."""


class Every(msgspec.Struct, frozen=True, kw_only=True):
    """The content of reproduced-all.json."""

    version: int = 1
    bakeoff: str = bakeoff.__version__
    began_at: str
    command: str
    budget_s: float | None
    studies: list[StudyState]
    """In the order in which they are run."""


def in_order(found: Sequence[PublishedStudy]) -> list[PublishedStudy]:
    """Return studies so that every document has its turn before one has a second: of each the shortest come first."""
    documents: dict[str, list[PublishedStudy]] = {}
    for study in sorted(found, key=lambda one: (one.minutes, one.id)):
        documents.setdefault(study.document.name, []).append(study)
    return [study for turn in zip_longest(*documents.values()) for study in turn if study is not None]


class EveryRun:
    """All studies on their way; after each the state of all is written."""

    def __init__(
        self,
        wanted: Sequence[PublishedStudy],
        declare: Callable[[PublishedStudy], Study],
        *,
        results: Path,
        resume: bool = False,
        budget_s: float | None = None,
        command: str = "",
    ) -> None:
        """Take the studies in any order; `declare` returns each as it is run, or raises UsageError where it cannot be.

        With `resume` each goes on where the last one that asked for the same ended; one that has none begins.
        """
        self._wanted, self._declare = in_order(wanted), declare
        self._results, self._resume = results, resume
        self._left = Stopwatch(budget_s)
        self._open: dict[str, bool] = {}
        self._every = Every(
            began_at=datetime.now(UTC).isoformat(timespec="seconds"),
            command=command,
            budget_s=budget_s,
            studies=[_waiting(one) for one in self._wanted],
        )

    @property
    def every(self) -> Every:
        """Return what became of all so far."""
        return self._every

    def run(
        self,
        begins: Callable[[int, Study], StudyObserver] = lambda _number, _study: silent,
        ends: Callable[[StudyState, StudyOutcome | None], None] = lambda _state, _outcome: None,
        *,
        launch: Launcher = ProcessWorker,
        probe_s: float = PROBE_S,
    ) -> Every:
        """Run them; `begins` gets the number of each, from 1 on, and returns its observer, `ends` what became of it.

        Raises StoreError where the state cannot be written; Ctrl-C ends all at once, with the state written.
        """
        self._write()
        for index, published in enumerate(self._wanted):
            began_s = time.monotonic()
            try:
                state, outcome = self._one(index, begins, launch, probe_s)
            except KeyboardInterrupt:
                self._note(index, self._begun(published, INTERRUPTED), began_s)
                raise
            self._note(index, state, began_s)
            ends(self._every.studies[index], outcome)
        return self._every

    def _one(
        self, index: int, begins: Callable[[int, Study], StudyObserver], launch: Launcher, probe_s: float
    ) -> tuple[StudyState, StudyOutcome | None]:
        """Run one study as far as there is time; return what became of it, and its outcome where there is one."""
        published, share_s = self._wanted[index], self._share_s(index)
        if share_s is not None and share_s <= 0:
            return self._begun(published, OUT_OF_TIME), None
        try:
            study = self._declare(published)
        except UsageError as error:
            return _state(published, "not here", reason=str(error)), None
        study = msgspec.structs.replace(study, budget_s=share_s)
        goes_on = self._resume and studies.latest_like(self._results, study) is not None
        observe = begins(index + 1, study)
        try:
            outcome = run_study(
                study, observe, results=str(self._results), resume=goes_on, launch=launch, probe_s=probe_s
            )
        except (BakeoffError, OSError) as error:
            return _state(published, "failed", reason=str(error), comparisons=len(study.points)), None
        return self._judged(published, study, outcome, ""), outcome

    def _share_s(self, index: int) -> float | None:
        """Return how long a study may take: what is left, shared by the documents that had nothing yet; None: no limit.

        A study of a document that had its turn takes what is left: it is better finished than begun beside others.
        """
        left_s = self._left.left_s()
        before = {one.document.name for one in self._wanted[:index]}
        if left_s is None or self._wanted[index].document.name in before:
            return left_s
        waiting = {one.document.name for one in self._wanted[index:] if self._takes_time(one)} - before
        return left_s / max(1, len(waiting))

    def _takes_time(self, published: PublishedStudy) -> bool:
        """Return whether a study was to be run when all began: neither finished, nor one that cannot be here."""
        if published.id not in self._open:
            try:
                study = self._declare(published)
                self._open[published.id] = not (self._resume and all(finished(study, self._results)))
            except (BakeoffError, OSError):  # What is wrong is told when its turn comes.
                self._open[published.id] = False
        return self._open[published.id]

    def _begun(self, published: PublishedStudy, reason: str) -> StudyState:
        """Return what there is of a study that was not run to its end, for this reason.

        What cannot be read is part of the reason, and no error: this is called while Ctrl-C ends everything.
        """
        try:
            study = self._declare(published)
        except UsageError as error:
            return _state(published, "not here", reason=str(error))
        try:
            found = studies.latest_like(self._results, study)
            if found is not None and (self._resume or found[1].created_at >= self._every.began_at):
                return self._judged(published, study, judge_study(found[0]), reason)
        except (BakeoffError, OSError) as error:
            reason = f"{reason}; what is finished of it cannot be read: {error}"
        return _state(published, "left", reason=reason, comparisons=len(study.points))

    def _judged(self, published: PublishedStudy, study: Study, outcome: StudyOutcome, reason: str) -> StudyState:
        """Return what became of a study that has a folder."""
        done = failed = 0
        why = []
        for point, is_done in zip(outcome.points, finished(study, self._results), strict=True):
            is_ranked = point.outcome is not None and any(one.status == "ranked" for one in point.outcome.contenders)
            done += is_done and is_ranked
            if (is_done and not is_ranked) or point.reason not in ("", OUT_OF_TIME, NOT_BEGUN):
                failed += 1
                why.append(f"{point.point.title}: {point.reason or 'nobody was ranked'}")
        left = len(outcome.points) - done - failed
        ended: Ending = "failed" if failed else "left" if left else "done"
        return _state(
            published,
            ended,
            comparisons=len(outcome.points),
            done=done,
            failed=failed,
            path=outcome.path,
            reason="; ".join(why) or ((reason or UNFINISHED) if left else ""),
        )

    def _note(self, index: int, state: StudyState, began_s: float) -> None:
        """Note what became of a study, and write it."""
        known = list(self._every.studies)
        known[index] = msgspec.structs.replace(state, seconds=time.monotonic() - began_s)
        self._every = msgspec.structs.replace(self._every, studies=known)
        self._write()

    def _write(self) -> None:
        """Write what became of all so far."""
        write_json(self._results / STATE_FILE, self._every)


def _waiting(published: PublishedStudy) -> StudyState:
    """Return the state of a study whose turn has not come."""
    return _state(published, "left", reason=NOT_BEGUN)


def _state(published: PublishedStudy, ended: Ending, **known: Any) -> StudyState:
    """Return the state of a study, of whose comparisons none is done if it is not said."""
    fields = {"comparisons": len(published.comparisons)} | known
    return StudyState(name=published.id, document=published.document.name, ended=ended, **fields)
