"""Pages on the command line: printed in the form that was asked for, saved beside the records, written where asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from bakeoff.report.called import pasteable
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bakeoff.judge.explanation import Explanation
    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.search import SearchOutcome
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.page import Page
    from bakeoff.spec.acceptance import AcceptanceOutcome


def show(outcome: Outcome | StudyOutcome | SearchOutcome | AcceptanceOutcome | Explanation, *, json: bool) -> None:
    """Print the answer, then save the reports beside the records, which takes seconds and may fail on a full disk."""
    from bakeoff.report.forms import save, terminal
    from bakeoff.report.pages import page_of

    page = page_of(outcome)
    try:
        if json:
            print_pages([page], json=True)
        else:
            terminal.show_answer(page)
    finally:
        # A stdout that is lost takes no report away, and a disk that is full no word of where the records are.
        try:
            save(page)
        finally:
            if not json:
                terminal.show_files(page)


def print_pages(pages: Sequence[Page], *, markdown: bool = False, json: bool = False) -> None:
    """Print pages in the form that was asked for; a terminal's is the default."""
    if markdown:
        from bakeoff.report.forms.markdown import to_markdown

        typer.echo(to_markdown(pages))
    elif json:
        from bakeoff.report.forms.json import to_json

        typer.echo(to_json(pages))
    else:
        from bakeoff.report.forms import terminal

        for page in pages:
            terminal.show(page)


def print_headlines(pages: Sequence[Page]) -> None:
    """Print the answer of each page alone, where the whole goes into a file."""
    for page in pages:
        typer.echo(plain(pasteable(page.headline)))


def say_new_folder(path: Path) -> None:
    """Print which folder will be made for a file, where it is not there: its name may be a slip."""
    if not path.parent.exists():
        typer.echo(f"folder  {plain(str(path.parent))} is new", err=True)


def check(*files: Path | None, force: bool) -> None:
    """Raise UsageError where a file that is to be written is there and is not bakeoff's."""
    from bakeoff.report.forms.marks import check_overwritable

    for path in files:
        if path is not None:
            check_overwritable(path, force=force)


def write(pages: Sequence[Page], html: Path | None, chart: Path | None) -> None:
    """Write the files that were asked for; `check` has found that they may be."""
    from bakeoff.store.files import write_atomically

    if html is not None:
        from bakeoff.report.forms.html import to_html

        say_new_folder(html)
        write_atomically(html, to_html(pages, html.parent).encode())
        typer.echo(f"report  {html}", err=True)
    if chart is not None:
        from bakeoff.report.forms.pictures import to_picture

        say_new_folder(chart)
        write_atomically(chart, to_picture(pages, chart))
        typer.echo(f"chart   {chart}", err=True)
