"""Handing a plan to Slurm: what is not done yet, in as few arrays as the site allows, one after another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.cluster import controller, script, states
from bakeoff.cluster.plans import FOLDER, SCRIPT, Submission, note_submissions, now, submissions
from bakeoff.cluster.status import WAITS, status_of
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.files import write_atomically
from bakeoff.store.reading import read_as, read_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.cluster.plans import JobPlan

SPLIT_FOLDER = "slurm_scripts"
"""Of the reference pipeline, in the working directory."""


def check_replaceable(names: Sequence[str]) -> None:
    """Raise UsageError where a script of the pipeline's name is there that bakeoff did not write: it stays."""
    for path in (Path(SPLIT_FOLDER) / name for name in names):
        if os.path.lexists(path) and not _is_ours(path):
            msg = f"{path} is there and was not written by bakeoff: move it, or call from another folder"
            raise UsageError(msg)


def write(folder: Path, plan: JobPlan, names: Sequence[str] = ()) -> list[Path]:
    """Write the scripts of a plan, executable, and return them; `names` are those of the pipeline's scripts."""
    texts = script.scripts(folder, plan)
    own = [folder / FOLDER / SCRIPT] if not names else [Path(SPLIT_FOLDER) / name for name in names]
    for path, written in zip(own, texts.values(), strict=True):
        write_atomically(path, written.encode())
        path.chmod(path.stat().st_mode | 0o111)
    write_atomically(folder / FOLDER / "scripts.json", msgspec.json.encode([str(path.absolute()) for path in own]))
    return own


def _is_ours(path: Path) -> bool:
    """Return whether this is a file that holds what every script of bakeoff holds."""
    try:
        return path.is_file() and script.CALLED in read_named(path)
    except (OSError, StoreError, UnicodeDecodeError):
        return False


def hand_over(folder: Path, plan: JobPlan) -> list[Submission]:
    """Submit every element that is neither done nor in the queue; return the new arrays.

    Raises UsageError where nothing is left, SlurmError with Slurm's own words where it refuses.
    """
    before = submissions(folder)
    wanted = open_elements(folder, plan)
    if not wanted:
        msg = f"nothing of {folder.name} is left to submit: all its comparisons are done, running or waiting"
        raise UsageError(msg)
    paths = _scripts_of(folder, plan)
    new: list[Submission] = []
    for path, elements in _by_script(paths, plan, wanted):
        for offset, tasks in chunks(elements, controller.longest_array() if len(elements) > 1 else 1):
            # One array after another, so that the throttle of each holds for all.
            after = new[-1].job if new and plan.profile.at_once and not plan.unpaired else ""
            throttle = f"%{plan.profile.at_once}" if plan.profile.at_once else ""
            job = controller.submit(path, f"{script.ranges(tasks)}{throttle}", offset, after)
            new.append(Submission(job=job, at=now(), offset=offset, tasks=tasks))
            # Noted at once: an array that Slurm has and nobody knows of would run unseen.
            note_submissions(folder, [*before, *new])
    return new


def _scripts_of(folder: Path, plan: JobPlan) -> list[Path]:
    """Return the scripts that were written for a plan; raise StoreError where their list is damaged."""
    file = folder / FOLDER / "scripts.json"
    paths = [Path(path) for path in read_as(list[str], file)]
    if len(paths) != (len(plan.elements) if plan.unpaired else 1):
        msg = f"{file} is damaged: it does not name the scripts of this plan"
        raise StoreError(msg)
    return paths


def end_jobs(folder: Path) -> list[str]:
    """Have Slurm end every array of a study, and return their ids; what is finished stays."""
    before = submissions(folder)
    jobs = [one.job for one in before if not one.cancelled]
    controller.cancel(jobs)
    note_submissions(folder, [msgspec.structs.replace(one, cancelled=True) for one in before])
    return jobs


def chunks(elements: Sequence[int], longest: int) -> list[tuple[int, list[int]]]:
    """Return elements in arrays whose tasks have numbers below `longest`, each with the element of its task 0."""
    found: list[tuple[int, list[int]]] = []
    for number in sorted(elements):
        if not found or number - found[-1][0] >= longest:
            found.append((number, []))
        found[-1][1].append(number - found[-1][0])
    return found


def open_elements(folder: Path, plan: JobPlan) -> list[int]:
    """Return the elements that are neither done nor in the queue."""
    if not submissions(folder):
        known = states.read_every(folder, len(plan.elements))
        return [number for number, state in enumerate(known) if state.ended != "done"]
    rows = status_of(folder, plan).rows
    return [row.element for row in rows if row.state != "done" and row.state not in WAITS]


def _by_script(paths: Sequence[Path], plan: JobPlan, wanted: Sequence[int]) -> list[tuple[Path, list[int]]]:
    """Return each script with the elements that it is to run."""
    if not plan.unpaired:
        return [(paths[0], list(wanted))]
    return [(paths[number], [number]) for number in wanted]
