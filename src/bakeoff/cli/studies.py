"""Studies on the command line: run one, show it, write its reports; the forms are those that fit its kind."""

import json as json_text
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bakeoff.cli import INTERRUPTED

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.study import Study


def race(study: "Study", results: str, *, resume: bool, json: bool) -> "StudyOutcome":
    """Run a study and show it; after Ctrl-C show the points that are finished, say how to go on, and end."""
    from bakeoff.cli.progress import shown
    from bakeoff.judge.study import judge_study
    from bakeoff.store import studies
    from bakeoff.study.run import run_study

    try:
        with shown(sys.stderr if json else sys.stdout, live=not json) as observer:
            outcome = run_study(study, observer, results=results, resume=resume)
    except KeyboardInterrupt:
        found = studies.latest_like(Path(results), study)
        if found is not None:
            folder, _ = found
            sys.stderr.write(f"interrupted: finished trials are in {folder}; the same command with --resume goes on\n")
            begun = judge_study(folder)
            if begun.outcomes:
                show(begun, json=json)
        raise typer.Exit(INTERRUPTED) from None
    show(outcome, json=json)
    return outcome


def show(study: "StudyOutcome", *, json: bool) -> None:
    """Save the reports beside the records, and print the answer, which a full disk does not take away."""
    try:
        _form(study, "save").save(study)
    finally:
        print_one(study, markdown=False, json=json)


def print_one(study: "StudyOutcome", *, markdown: bool, json: bool) -> None:
    """Print a study in the form that was asked for; a terminal's is the default."""
    if markdown:
        typer.echo(_form(study, "markdown").to_markdown(study))
    elif json:
        typer.echo(json_text.dumps(_form(study, "jsonform").to_json(study), indent=2))
    else:
        _form(study, "terminal").show(study)


def write(study: "StudyOutcome", html: Path | None, chart: Path | None) -> None:
    """Write the files that were asked for."""
    from bakeoff.store.files import write_atomically

    if html is not None:
        write_atomically(html, _form(study, "html").to_html(study, html.parent).encode())
        typer.echo(f"report  {html}", err=True)
    if chart is not None:
        form = "png" if chart.suffix.lower() == ".png" else "svg"
        write_atomically(chart, _form(study, "charts").render(study, form))
        typer.echo(f"chart   {chart}", err=True)


def _form(study: "StudyOutcome", name: str) -> Any:
    """Give the module for one form of a study's report: one that is held against published figures has its own."""
    kind = "study" if study.study.reproduces is None else "reproduced"
    return import_module(f"bakeoff.report.{kind}.{name}")
