"""Studies on the command line: run one and show it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bakeoff.cli import code_of, showing

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.race.progress import Event, Observer
    from bakeoff.spec.study import Study


def going_on(folder: str | None, command: str) -> str:
    """Return where finished trials are, and the command that goes on, as it is typed here; no folder: none is."""
    from bakeoff.report.called import pasteable
    from bakeoff.store.files import RECORD_FILE

    if folder is None:
        return "nothing was started yet: the same command begins again"
    is_begun = any(Path(folder).rglob(RECORD_FILE))
    said = (
        f"finished trials are in {folder}; go on" if is_begun else f"no trial was finished yet; begin in {folder} again"
    )
    return f"{said} with\n  {pasteable(command) or 'the same command'} --resume"


def noting(observer: "Observer", places: list[str]) -> "Observer":
    """Return an observer that notes where the records are, for the report of what is interrupted."""
    from bakeoff.race.progress import Prepared

    def note(event: "Event") -> None:
        if isinstance(event, Prepared):
            places.append(event.path)
        observer(event)

    return note


def race(study: "Study", results: str, *, resume: bool, json: bool) -> "StudyOutcome":
    """Run a study and show it; after Ctrl-C show the points that are finished, say how to go on, and end."""
    from bakeoff.cli.progress import shown
    from bakeoff.study.run import run_study

    try:
        with shown(sys.stderr if json else sys.stdout, live=not json) as observer:
            outcome = run_study(study, observer, results=results, resume=resume)
    except KeyboardInterrupt as interrupt:
        _tell_begun(study, results, json=json)
        raise typer.Exit(code_of(interrupt)) from None
    showing.show(outcome, json=json)
    return outcome


def _tell_begun(study: "Study", results: str, *, json: bool) -> None:
    """Show what is finished of a study that was interrupted, or say why it cannot be shown, and say how to go on."""
    from bakeoff.judge.study import judge_study
    from bakeoff.report.called import pasteable
    from bakeoff.spec.errors import BakeoffError
    from bakeoff.spec.text import plain
    from bakeoff.store import studies

    found = studies.latest_like(Path(results), study)
    if found is None:
        return
    folder, _ = found
    try:
        begun = judge_study(folder)
        if begun.outcomes:
            showing.show(begun, json=json)
    except BakeoffError as error:
        sys.stderr.write(f"what is finished cannot be shown: {plain(pasteable(str(error)))}\n")
    sys.stderr.write(f"interrupted; {going_on(str(folder), study.command)}\n")
