"""`bakeoff report`: recomputed from the records alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import acceptance, maxbatch, parameters, showing
from bakeoff.spec.errors import StoreError, UsageError

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.search import SearchOutcome
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.acceptance import AcceptanceOutcome


def report(
    comparisons: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMPARISON",
            help="An id of a comparison, a study or a search, its end, or a folder; the latest if not said.",
            show_default=False,
        ),
    ] = None,
    *,
    markdown: Annotated[bool, typer.Option("--markdown", "--md", help="Print Markdown.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one HTML file that works offline.", show_default=False)
    ] = None,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the chart: FILE.png or FILE.svg.", show_default=False)
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Let --html and --chart replace a file that bakeoff did not write.")
    ] = False,
    json: parameters.Json = False,
    results: parameters.Results = "results",
) -> None:
    """Report on comparisons and studies that were run, computed from their records again."""
    from bakeoff.report.forms.pictures import EXTENSIONS
    from bakeoff.report.pages import page_of

    if markdown and json:
        msg = "--markdown and --json both want stdout: name one of them"
        raise UsageError(msg)
    if chart is not None and chart.suffix.lower() not in EXTENSIONS:
        msg = f"--chart {chart}: the file must end in {' or '.join(EXTENSIONS)}"
        raise UsageError(msg)
    showing.check(html, chart, force=force)
    with told_if_absurd():
        pages = [page_of(outcome) for outcome in _judged(Path(results), comparisons or [])]
        if markdown or json or not (html or chart):
            showing.print_pages(pages, markdown=markdown, json=json)
        else:
            showing.print_headlines(pages)
        showing.write(pages, html, chart)


@contextmanager
def told_if_absurd() -> Iterator[None]:
    """Raise StoreError for what no honest record leads to: a time below 0, a size that the workload does not have."""
    try:
        yield
    except (ArithmeticError, LookupError, ValueError, TypeError, AssertionError, RecursionError) as error:
        msg = (
            "these records cannot be reported on: they are sealed, and yet not what bakeoff writes "
            f"({type(error).__name__}: {error})"
        )
        raise StoreError(msg) from error


def _judged(results: Path, names: list[str]) -> "list[Outcome | StudyOutcome | SearchOutcome | AcceptanceOutcome]":
    """Judge what was named, with no name the latest; raise UsageError where a study or a search is not alone."""
    from bakeoff.judge.comparison import judge_comparison
    from bakeoff.judge.search import judge_search
    from bakeoff.judge.study import judge_study
    from bakeoff.store.results import find, is_study

    if found := acceptance.find(results, names):
        return [found]
    if search := maxbatch.find(results, names):
        return [judge_search(search)]
    wanted: list[str | None] = [*names] or [None]
    folders = [find(results, name) for name in wanted]
    if not any(map(is_study, folders)):
        return [judge_comparison(folder) for folder in folders]
    if len(folders) > 1:
        msg = "a study is reported by itself: name it alone"
        raise UsageError(msg)
    return [judge_study(folders[0])]
