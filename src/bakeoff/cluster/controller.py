"""Slurm's own commands, and what they answer: the only file that calls them."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.errors import BakeoffError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ANSWER_LIMIT_S = 30.0
"""A controller that is busy answers within its MessageTimeout, 10 s unless a site says more; clients try again."""

ARRAY_LIMIT = 1001
"""Of Slurm (MaxArraySize, slurm.conf(5)), where its controller does not tell."""

WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
RUNNING = frozenset(
    {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "RESIZING", "STOPPED"}
)
"""States of squeue(1) in which a job has a node; all others are ends."""

_FORMAT = "%F|%K|%T|%r|%N"


class SlurmError(BakeoffError):
    """Slurm refused, or did not answer; the text has its own words."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """An array's task, as Slurm tells it."""

    state: str
    reason: str = ""
    node: str = ""


def submit(script: Path, tasks: str, offset: int, after: str = "") -> str:
    """Hand an array to Slurm and return its id; `after` is that of an array that has to end before."""
    depends = [f"--dependency=afterany:{after}"] if after else []
    said = _called("sbatch", "--parsable", f"--array={tasks}", *depends, str(script), str(offset))
    job = said.strip().partition(";")[0]  # Behind a semicolon is the cluster's name (sbatch(1)).
    if not job.isdigit():
        msg = f"sbatch said {said.strip()!r}, which is no job's id"
        raise SlurmError(msg)
    return job


def longest_array() -> int:
    """Return how many tasks an array may have, as the controller tells."""
    found = re.search(r"^MaxArraySize\s*=\s*(\d+)", _called("scontrol", "show", "config"), re.MULTILINE)
    return max(1, int(found[1]) - 1 if found else ARRAY_LIMIT - 1)


def queue(jobs: Sequence[str]) -> dict[str, Task]:
    """Return the tasks of these arrays that the controller knows, those that ended some minutes ago among them."""
    if not jobs:
        return {}
    asked = ("--noheader", "--array", "--states=all", f"--jobs={','.join(jobs)}", f"--format={_FORMAT}")
    try:
        said = _called("squeue", *asked)
    except SlurmError as error:
        if "Invalid job id" in str(error):
            return {}  # It has forgotten all of them (MinJobAge, slurm.conf(5)).
        raise
    return parsed(said)


def parsed(said: str) -> dict[str, Task]:
    """Return the tasks of what squeue said, by their names, such as "123_4"."""
    rows = (line.split("|") for line in said.splitlines())
    return {
        f"{job}_{task}": Task(state=state, reason="" if reason == "None" else reason, node=node)
        for job, task, state, reason, node in (row for row in rows if len(row) == _FORMAT.count("|") + 1)
    }


def accounted(jobs: Sequence[str]) -> dict[str, Task]:
    """Return how tasks ended, from Slurm's accounting; nothing where a site keeps none."""
    if not jobs or shutil.which("sacct") is None:
        return {}
    asked = ("--noheader", "--parsable2", "--allocations", f"--jobs={','.join(jobs)}", "--format=JobID,State,NodeList")
    try:
        said = _called("sacct", *asked)
    except (SlurmError, UnavailableError):
        return {}
    rows = (line.split("|") for line in said.splitlines())
    # "CANCELLED by 1000" has the user's number behind it.
    return {row[0]: Task(state=row[1].split()[0], node=row[2]) for row in rows if len(row) == 3 and row[1]}  # noqa: PLR2004


def cancel(tasks: Sequence[str]) -> None:
    """Have Slurm end arrays or tasks of them; those that have ended are no error."""
    if tasks:
        _called("scancel", "--quiet", *tasks)


def _called(command: str, *arguments: str) -> str:
    """Return what a command of Slurm prints; raise UnavailableError without it, SlurmError where it fails."""
    path = shutil.which(command)
    if path is None:
        msg = f"{command} is not here: jobs are submitted and watched on a machine that has Slurm's commands"
        raise UnavailableError(msg)
    try:
        done = subprocess.run(
            [path, *arguments], capture_output=True, text=True, check=False, timeout=ANSWER_LIMIT_S, errors="replace"
        )
    except subprocess.TimeoutExpired as error:
        msg = f"{command} did not answer within {ANSWER_LIMIT_S:.0f} s: the controller is down or busy; try again"
        raise SlurmError(msg) from error
    except OSError as error:
        msg = f"{command} cannot be started: {error.strerror or error}"
        raise SlurmError(msg) from error
    if done.returncode:
        told = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        msg = f"{command}: {told.removeprefix(f'{command}: ')}"
        raise SlurmError(msg)
    return done.stdout
