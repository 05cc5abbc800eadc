"""`bakeoff reproduce all`: every shipped study, one after another, with a summary of what was done, left and failed."""

from __future__ import annotations

import sys
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bakeoff.cli import FAILED, code_of
from bakeoff.cli.columns import columns, wrapped
from bakeoff.report.called import pasteable

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from bakeoff.judge.study import StudyOutcome
    from bakeoff.race.progress import StudyObserver
    from bakeoff.spec.published import PublishedStudy
    from bakeoff.spec.study import Study
    from bakeoff.study.every import Every, StudyState

ALL = "all"
"""In place of a study's name: every shipped one."""

INDENT = "  "


def shipped() -> list[PublishedStudy]:
    """Return every shipped study, in the order in which they are run."""
    from bakeoff.study.every import in_order
    from bakeoff.study.published import load, names

    return in_order([load(name) for name in names()])


def race(
    declare: Callable[[PublishedStudy], Study], results: str, *, resume: bool, budget_s: float | None, command: str
) -> tuple[Every, KeyboardInterrupt | None]:
    """Run all studies, telling of each; return what became of them, and the interrupt that ended them early."""
    from contextlib import ExitStack

    from bakeoff.study.every import EveryRun

    running = EveryRun(shipped(), declare, results=Path(results), resume=resume, budget_s=budget_s, command=command)
    with ExitStack() as screen:
        teller = _Teller(len(running.every.studies), screen)
        try:
            return running.run(teller.begins, teller.ends), None
        except KeyboardInterrupt as interrupt:
            screen.close()
            return running.every, interrupt


class _Teller:
    """Writes on stderr of each study while it runs, and in a sentence what came of it; its reports are saved."""

    def __init__(self, of: int, screen: ExitStack) -> None:
        """Take how many there are, and what closes the live screen of each."""
        self._of, self._screen = of, screen

    def begins(self, number: int, study: Study) -> StudyObserver:
        """Write which study begins; return what tells of its progress."""
        from bakeoff.cli.progress import shown

        sys.stderr.write(f"study {number} of {self._of}: {study.name}\n")
        return self._screen.enter_context(shown(sys.stderr))

    def ends(self, state: StudyState, outcome: StudyOutcome | None) -> None:
        """Save a study's reports beside its records, and say what it came to."""
        from bakeoff.report.forms import save
        from bakeoff.report.pages import page_of
        from bakeoff.spec.errors import BakeoffError

        self._screen.close()
        said = state.reason
        if outcome is not None:
            page = page_of(outcome)
            said = page.headline
            try:
                save(page)
            except BakeoffError as error:  # Records are what counts: reports can be made again.
                sys.stderr.write(f"{state.name}: no report was written: {error}\n")
        for line in wrapped(f"{state.name}: {said}"):
            sys.stderr.write(f"{pasteable(line)}\n")


def tell(every: Every, results: str, interrupt: KeyboardInterrupt | None, *, json: bool) -> None:
    """Print the summary; end with the exit code that tells whether anything failed, or that it was interrupted."""
    import msgspec

    if json:
        typer.echo(dumps(msgspec.to_builtins(every), indent=2))
    else:
        for line in lines(every, results):
            typer.echo(pasteable(line))
    if interrupt is not None:
        raise typer.Exit(code_of(interrupt)) from None
    if any(one.ended == "failed" for one in every.studies) or all(one.ended == "not here" for one in every.studies):
        raise typer.Exit(FAILED)


def lines(every: Every, results: str) -> list[str]:
    """Return the summary: a line for each study, the counts, and how to go on."""
    from bakeoff.study.every import STATE_FILE

    rows = [["study", "comparisons", "", "records, or why there are none"]]
    rows += [[one.name, f"{one.done} of {one.comparisons}", one.ended, _where(one)] for one in every.studies]
    counts = {kind: sum(one.ended == kind for one in every.studies) for kind in ("done", "left", "failed", "not here")}
    said = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    told = [*columns(rows, indent=INDENT), "", f"Of {len(every.studies)} studies: {said}."]
    if counts["left"] or counts["failed"]:
        told.append(f"go on with  {every.command} --resume")
    return [*told, f"summary     {Path(results) / STATE_FILE}"]


def _where(state: StudyState) -> str:
    """Return where a study's records are, and why it is not done."""
    return ": ".join(part for part in (state.path, state.reason) if part)
