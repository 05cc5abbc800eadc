"""`bakeoff report`: recomputed from the records alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import acceptance, maxbatch, parameters, showing
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.search import SearchOutcome
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.acceptance import AcceptanceOutcome


ReadmeFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the parts of your own Markdown file that stand between <!-- bakeoff:NAME --> and <!-- /bakeoff --> "
        "anew, and a chart for each beside it; NAME is a workload or a comparison.",
        show_default=False,
    ),
]
Watch = Annotated[bool, typer.Option("--watch", help="Go on and write --readme whenever records arrive, until Ctrl-C.")]


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
    readme: ReadmeFile = None,
    watch: Watch = False,
    force: Annotated[
        bool, typer.Option("--force", help="Let --html, --chart and --readme's charts replace files not of bakeoff's.")
    ] = False,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact", help="Leave out folders, names of users and machines, values that look like keys, and logs."
        ),
    ] = False,
    json: parameters.Json = False,
    results: parameters.Results = "results",
) -> None:
    """Report on comparisons and studies that were run, computed from their records again."""
    from bakeoff.report.called import forget
    from bakeoff.report.forms.pictures import EXTENSIONS
    from bakeoff.report.pages import page_of
    from bakeoff.report.redacted import redacted
    from bakeoff.store.absurd import told_if_absurd

    if readme is not None or watch:
        others = {"--markdown": markdown, "--html": html, "--chart": chart, "--json": json}
        _keep(readme, Path(results), [*(comparisons or []), *(name for name, on in others.items() if on)], watch, force)
        return
    if markdown and json:
        msg = "--markdown and --json both want stdout: name one of them"
        raise UsageError(msg)
    if chart is not None and chart.suffix.lower() not in EXTENSIONS:
        msg = f"--chart {chart}: the file must end in {' or '.join(EXTENSIONS)}"
        raise UsageError(msg)
    showing.check(html, chart, force=force)
    if redact:
        forget()
    with told_if_absurd():
        pages = [
            page_of(redacted(outcome) if redact else outcome) for outcome in _judged(Path(results), comparisons or [])
        ]
        if markdown or json or not (html or chart):
            showing.print_pages(pages, markdown=markdown, json=json)
        else:
            showing.print_headlines(pages)
        showing.write(pages, html, chart)


def _keep(file: Path | None, results: Path, others: list[str], watch: bool, force: bool) -> None:
    """Write the parts of a README; raise UsageError for what does not go with them."""
    from bakeoff.cli.readme import Readme, keep

    if file is None:
        msg = "--watch keeps a README as the records are: name it by --readme FILE"
        raise UsageError(msg)
    if others:
        msg = (
            f"--readme takes what its markers name, and goes with --watch, --force and --results: leave out {others[0]}"
        )
        raise UsageError(msg)
    keep(Readme(file, results, force), watch=watch)


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
