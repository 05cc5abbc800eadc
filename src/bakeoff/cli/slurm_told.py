"""What `bakeoff slurm` prints: how far a study is, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.cli import showing
from bakeoff.cli.columns import columns, wrapped
from bakeoff.cluster import unpaired
from bakeoff.cluster.status import KINDS
from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.study import judge_study
from bakeoff.report.called import pasteable
from bakeoff.report.units import elapsed
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.text import count, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bakeoff.cluster.plans import JobPlan, Submission
    from bakeoff.cluster.status import ElementStatus, Status
    from bakeoff.judge.outcome import Outcome

VERSION = 1
"""Of the JSON object (docs/json-slurm.md)."""

INDENT = "  "

MOST_FAILED = 10
"""Failures that are printed with their logs; --json has all of them."""

MOST_POINTS = 64
"""As many as a sweep has: a report of thousands of comparisons is nothing that anybody reads on a screen."""


def written_lines(folder: Path, plan: JobPlan, paths: Sequence[Path]) -> list[str]:
    """Return what was written, and how to go on."""
    rows = [["study", str(folder)], *[["script", str(path)] for path in paths]]
    limit = f"{elapsed(plan.limit_s)}: {plan.limit_why}"
    rows += [["time limit", limit]]
    again = pasteable(f"bakeoff slurm submit {folder}")
    return [*wrapped(f"{plan.title}: {count(len(plan.elements), 'comparison')}"), *columns(rows), f"submit   {again}"]


def submitted_lines(folder: Path, new: Sequence[Submission]) -> list[str]:
    """Return which arrays Slurm has, and how to watch them."""
    said = [f"submitted {one.job}: {count(len(one.tasks), 'comparison')}" for one in new]
    return [*said, f"watch     {pasteable(f'bakeoff slurm status {folder}')}"]


def lines(folder: Path, plan: JobPlan, found: Status) -> list[str]:
    """Return how far a study is: its counts, what runs, what failed with the ends of logs, and when it will end."""
    counts = ", ".join(f"{found.count(kind):,} {kind}" for kind in KINDS if found.count(kind))
    said = [*wrapped(f"{plan.title}: {counts} of {count(len(found.rows), 'comparison')}")]
    running = [row for row in found.rows if row.state == "running"]
    said += columns(
        [[row.title, "runs", row.task, row.node, _times(row)] for row in running[:MOST_FAILED]], indent=INDENT
    )
    failed = [row for row in found.rows if row.state == "failed"]
    for row in failed[:MOST_FAILED]:
        said += wrapped(f"{row.title} failed ({row.task or 'no task'}): {row.reason}", INDENT, indent=INDENT * 2)
        said += [f"{INDENT * 2}| {plain(line)}" for line in row.log_end.splitlines()]
    if len(failed) > MOST_FAILED:
        said += [f"{INDENT}and {len(failed) - MOST_FAILED:,} more failed: --json has all of them"]
    said += _end(found)
    if found.unheard:
        said += wrapped(f"Slurm was not heard: {found.unheard}")
    if failed or found.count("cancelled") or found.count("not submitted"):
        said += [pasteable(f"what is open is submitted by\n{INDENT}bakeoff slurm submit {folder}")]
    return said


def _times(row: ElementStatus) -> str:
    """Return which start of an element runs."""
    return "" if row.attempts <= 1 else f"start {row.attempts}"


def _end(found: Status) -> list[str]:
    """Return when the last comparison will be done."""
    if found.count("running") + found.count("waiting") == 0:
        return []
    if found.left_s is None:
        return ["when it ends is not known before a first comparison is done and others run"]
    return [f"done in about {elapsed(found.left_s)}, if as many run at once as now"]


def show_collected(folder: Path, plan: JobPlan) -> None:
    """Print the report of what there is, and of contenders in jobs of their own what can be said across them."""
    import typer

    outcome = judge_study(folder)
    if plan.unpaired:
        for line in across(outcome.outcomes):
            typer.echo(line)
    if len(outcome.points) > MOST_POINTS or not outcome.outcomes:
        typer.echo(pasteable(f"report   bakeoff report {folder}"))
        return
    showing.show(outcome if len(outcome.points) > 1 else outcome.outcomes[0], json=False)


def across(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what can be said of contenders that ran in jobs of their own."""
    said = ["Across jobs (unpaired: no round has both contenders)"]
    for pair in unpaired.pairs(outcomes):
        if pair.ratio is None:
            said += wrapped(f"{pair.first} / {pair.second}: no verdict; {pair.reason}", INDENT, indent=INDENT * 2)
        else:
            ratio = f"{pair.ratio.estimate:.3f} (99 % CI {pair.ratio.low:.3f} to {pair.ratio.high:.3f})"
            said += wrapped(f"{pair.first} / {pair.second}: {ratio}: {pair.verdict}", INDENT, indent=INDENT * 2)
    return said


def data(folder: Path, plan: JobPlan, found: Status) -> dict[str, Any]:
    """Return the JSON object."""
    import msgspec

    return {
        "version": VERSION,
        "id": plan.id,
        "path": str(folder),
        "title": plan.title,
        "unpaired": plan.unpaired,
        "limit_s": plan.limit_s,
        "counts": {kind: found.count(kind) for kind in KINDS},
        "left_s": found.left_s,
        "asked_at": found.asked_at,
        "unheard": found.unheard,
        "elements": [msgspec.to_builtins(row) for row in found.rows],
        "across": [msgspec.to_builtins(pair) for pair in unpaired.pairs(_ended(folder, found))]
        if plan.unpaired
        else [],
    }


def _ended(folder: Path, found: Status) -> list[Outcome]:
    """Return the comparisons that are done and can be read."""
    outcomes = []
    for row in found.rows:
        try:
            outcomes += [judge_comparison(folder / row.comparison)] if row.state == "done" else []
        except BakeoffError:
            continue  # `bakeoff report` says why; across jobs there is nothing to say of it.
    return outcomes
