"""How far a study is: from what its elements left on disk, and from Slurm what is waiting, and how jobs ended."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Literal

import msgspec

from bakeoff.cluster import asked, controller, states
from bakeoff.cluster.plans import submissions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bakeoff.cluster.plans import JobPlan, Submission
    from bakeoff.cluster.states import ElementState

Kind = Literal["done", "running", "waiting", "failed", "cancelled", "not submitted"]
KINDS: tuple[Kind, ...] = ("done", "running", "waiting", "failed", "cancelled", "not submitted")
WAITS: frozenset[Kind] = frozenset({"running", "waiting"})

_ENDS = {
    "TIMEOUT": "it reached its time limit (--time), and was not begun again",
    "OUT_OF_MEMORY": "its node's memory was not enough (--memory)",
    "NODE_FAIL": "its node failed",
    "PREEMPTED": "it was pre-empted, and not begun again",
    "BOOT_FAIL": "its node did not start",
    "DEADLINE": "it could not end before its deadline",
    "FAILED": "its script ended before the comparison began",
}
"""What Slurm's states mean (squeue(1), JOB STATE CODES) for an element that could not say itself how it ended."""


class ElementStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How far one element is."""

    element: int
    title: str
    state: Kind
    task: str
    """As Slurm names it; empty where it was not submitted."""
    node: str
    comparison: str
    """The name of its folder; empty: none was begun."""
    attempts: int
    seconds: float
    """Of its attempts that came to an end."""
    reason: str
    """Why it failed, or waits; empty where all is well."""
    log: str
    """The path of its latest log; empty where it has none."""
    log_end: str
    """Of what failed: the last lines of its log."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """Every element, and when the last one will end."""

    rows: list[ElementStatus]
    left_s: float | None
    """Until all are done, by the median of those that are, and as many at once as run now; None: not known."""
    asked_at: str
    """When Slurm was asked; empty: it did not have to be."""
    unheard: str
    """Why Slurm did not answer; empty where it did."""

    def count(self, kind: Kind) -> int:
        """Return how many elements are in a state."""
        return sum(row.state == kind for row in self.rows)


def status_of(folder: Path, plan: JobPlan) -> Status:
    """Return how far every element is; Slurm is asked at most once in some seconds, and only where it is needed."""
    known, arrays = states.read_every(folder, len(plan.elements)), submissions(folder)
    tasks = [_task(arrays, number, state) for number, state in enumerate(known)]
    open_jobs = {
        task.partition("_")[0] for state, task in zip(known, tasks, strict=True) if task and state.ended != "done"
    }
    jobs = sorted(open_jobs)
    answer = asked.tasks_of(folder, jobs) if jobs else None
    if answer is not None:
        answer = _completed(folder, answer, _unexplained(known, tasks, answer))
    heard = answer.tasks if answer is not None else {}
    cancelled = {one.job for one in arrays if one.cancelled}
    is_deaf = answer is not None and bool(answer.failed)
    rows = [
        _row(folder, plan, number, state, task, heard.get(task), cancelled, is_deaf=is_deaf)
        for number, (state, task) in enumerate(zip(known, tasks, strict=True))
    ]
    return Status(
        rows=rows,
        left_s=left_s(rows, plan.profile.at_once),
        asked_at=answer.at if answer is not None else "",
        unheard=answer.failed if answer is not None else "",
    )


def left_s(rows: Sequence[ElementStatus], at_once: int | None) -> float | None:
    """Return how long it takes until nothing waits or runs; None where nothing has ended or nothing runs."""
    took = [row.seconds for row in rows if row.state == "done" and row.seconds > 0]
    waiting = sum(row.state == "waiting" for row in rows)
    running = sum(row.state == "running" for row in rows)
    if not waiting + running:
        return 0.0
    if not took or not running:
        return None
    # Those that run are half done in the mean.
    left = (waiting + running / 2) * statistics.median(took)
    return left / min(running, at_once or running)


def _task(arrays: Sequence[Submission], element: int, state: ElementState) -> str:
    """Return the latest task of an element, also of a script that somebody gave to sbatch by hand; "" for none."""
    began = state.attempts[-1].task if state.attempts else ""
    return next((task for one in reversed(arrays) if (task := one.task_of(element))), began)


def _unexplained(known: Sequence[ElementState], tasks: Sequence[str], answer: asked.Answer) -> list[str]:
    """Return the arrays of which tasks did not say how they ended, and Slurm's controller has forgotten it."""
    gone = {
        task.partition("_")[0]
        for state, task in zip(known, tasks, strict=True)
        if task and state.ended not in ("done", "failed") and task not in answer.tasks
    }
    return sorted(gone) if not answer.failed else []


def _completed(folder: Path, answer: asked.Answer, jobs: Sequence[str]) -> asked.Answer:
    """Return an answer with what accounting knows of these arrays, which is asked once for each answer of the queue."""
    new = sorted(set(jobs) - set(answer.accounted))
    if not new:
        return answer
    tasks = controller.accounted(new) | answer.tasks
    whole = msgspec.structs.replace(answer, tasks=tasks, accounted=[*answer.accounted, *new])
    asked.keep(folder, whole)
    return whole


def _row(  # noqa: PLR0913, PLR0917 - all that is known of one element
    folder: Path,
    plan: JobPlan,
    number: int,
    state: ElementState,
    task: str,
    heard: controller.Task | None,
    cancelled: set[str],
    *,
    is_deaf: bool,
) -> ElementStatus:
    """Return one element's row."""
    is_cancelled = task.partition("_")[0] in cancelled
    kind, reason = kind_of(state, task, heard, is_cancelled=is_cancelled, is_deaf=is_deaf)
    log = states.log_of(folder, task)
    return ElementStatus(
        element=number,
        title=plan.elements[number].title,
        state=kind,
        task=task,
        node=state.attempts[-1].node if state.attempts else "",
        comparison=state.comparison,
        attempts=len(state.attempts),
        seconds=state.seconds,
        reason=reason,
        log=str(log) if log is not None else "",
        log_end=states.end_of(log) if kind == "failed" else "",
    )


def kind_of(
    state: ElementState, task: str, heard: controller.Task | None, *, is_cancelled: bool = False, is_deaf: bool = False
) -> tuple[Kind, str]:
    """Return an element's state and the reason for it; what lies on disk counts before what Slurm says.

    `heard` is the task as Slurm tells it, None where it knows none; with `is_deaf` it could not be asked.
    """
    if state.ended == "done":
        return "done", state.reason
    if heard is not None and heard.state in controller.WAITING:
        return "waiting", _words(heard.reason)
    if heard is not None and heard.state in controller.RUNNING:
        return "running", state.reason
    if state.ended == "failed":
        return "failed", state.reason
    return _unsaid(state, task, heard, is_cancelled=is_cancelled, is_deaf=is_deaf)


def _unsaid(
    state: ElementState, task: str, heard: controller.Task | None, *, is_cancelled: bool, is_deaf: bool
) -> tuple[Kind, str]:
    """Return the state of an element that did not say how it ended, and that Slurm neither runs nor will run."""
    if is_cancelled or (heard is not None and heard.state == "CANCELLED"):
        return "cancelled", "" if is_cancelled else "by scancel"
    if not task:
        return "not submitted", ""
    if is_deaf:
        return "running" if state.attempts else "waiting", "Slurm did not answer: as it was"
    return "failed", _lost(state, heard)


def _words(reason: str) -> str:
    """Return Slurm's reason why a job waits; the usual ones need no word."""
    return "" if reason in ("", "None", "Priority", "Resources", "JobArrayTaskLimit") else f"Slurm says {reason}"


def _lost(state: ElementState, heard: controller.Task | None) -> str:
    """Return why an element ended that could not say so itself."""
    if heard is None:
        return "its job ended without a word, and Slurm has forgotten how"
    if heard.state == "FAILED" and state.attempts:
        return "its job was ended in the middle of the comparison"
    said = _ENDS.get(heard.state, f"its job ended as {heard.state}")
    return f"{said}{f' (Slurm says {heard.reason})' if _words(heard.reason) else ''}"
