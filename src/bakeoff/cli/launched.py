"""`bakeoff reproduce --launcher slurm`: each study is an array of jobs, as by `bakeoff slurm submit reproduce`."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bakeoff.cli import FAILED, slurm
from bakeoff.spec.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSION = 1
"""Of the JSON object: `studies`, each with `name`, `path` and `reason`, why nothing of it was handed over."""


def submit(
    names: Sequence[str],
    options: Sequence[str],
    profile: Path | None,
    results: str,
    *,
    resume: bool,
    dry_run: bool,
    json: bool,
) -> None:
    """Hand studies to Slurm, or print their scripts; one that cannot be ends no other, and makes the exit code 1.

    With `resume` what is open of an earlier array of the same study is handed over again, and no new one is made.
    Raises UsageError where a single study cannot be, SlurmError where Slurm is not here or refuses.
    """
    given = slurm.defaults() | {"profile": profile, "results": results, "json": json}
    found = []
    for name in names:
        words = ["reproduce", name, *options]
        try:
            path, reason = _handed(given | {"words": words}, resume=resume, dry_run=dry_run), ""
        except (UsageError, StoreError) as error:
            if len(names) == 1:
                raise
            path, reason = "", str(error)
            typer.echo(f"{name}: {reason}", err=True)
        found.append({"name": name, "path": path, "reason": reason})
    if json:
        typer.echo(dumps({"version": VERSION, "studies": found}, indent=2))
    if any(one["reason"] for one in found):
        raise typer.Exit(FAILED)


def _handed(given: dict[str, Any], *, resume: bool, dry_run: bool) -> str:
    """Hand one study to Slurm, or print its script; return its folder, "" where none was made."""
    from bakeoff.cli.slurm_told import submitted_lines
    from bakeoff.cluster import plans
    from bakeoff.cluster.submitting import hand_over, open_elements

    before = _latest(Path(given["results"]), given["words"]) if resume else None
    if dry_run and before is None:
        slurm.written(given, dry_run=True)
        return ""
    folder, plan = (before, plans.read(before)) if before else slurm.written(given, dry_run=False)
    if dry_run:
        typer.echo(f"What is open of {folder} would be handed over again. Nothing was written or submitted.")
        return ""
    if before and not open_elements(folder, plan):
        typer.echo(f"{folder}: all its comparisons are done, running or waiting", err=given["json"])
        return str(folder)
    for line in submitted_lines(folder, hand_over(folder, plan)):
        typer.echo(line, err=given["json"])
    return str(folder)


def _latest(results: Path, words: Sequence[str]) -> Path | None:
    """Return the folder of the latest jobs of the same words; None where there is none."""
    from bakeoff.cluster import plans
    from bakeoff.store.studies import studies

    for folder in reversed(studies(results)):
        if not (folder / plans.FOLDER / plans.PLAN_FILE).is_file():
            continue
        elements = plans.read(folder).elements
        if elements and are_same(elements[0].words, words):
            return folder
    return None


def are_same(earlier: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a job was asked for by these words: behind them stands the device alone, where they left it open.

    Those of a study at its full size begin with those of the scaled one, and are another study.
    """
    behind = earlier[len(words) :]
    return list(earlier[: len(words)]) == list(words) and (not behind or list(behind[:-1]) == ["--device"])
