"""`bakeoff report`: recomputed from the records alone."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import maxbatch
from bakeoff.cli import parameters as given
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome


def report(
    comparisons: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMPARISON",
            help="An id of a comparison or a study, its end, or a folder; the latest if not said.",
            show_default=False,
        ),
    ] = None,
    *,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one HTML file that works offline.", show_default=False)
    ] = None,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the chart: FILE.png or FILE.svg.", show_default=False)
    ] = None,
    json: given.Json = False,
    results: given.Results = "results",
) -> None:
    """Report on comparisons and studies that were run, computed from their records again."""
    from bakeoff.judge.comparison import judge_comparison
    from bakeoff.report.charts import EXTENSIONS
    from bakeoff.store.results import find, is_study

    if markdown and json:
        msg = "--markdown and --json both want stdout: name one of them"
        raise UsageError(msg)
    if chart is not None and chart.suffix.lower() not in EXTENSIONS:
        msg = f"--chart {chart}: the file must end in {' or '.join(EXTENSIONS)}"
        raise UsageError(msg)
    if search := maxbatch.find(Path(results), comparisons or []):
        maxbatch.report(search, json=json, markdown=markdown, files=bool(html or chart))
        return
    wanted: list[str | None] = list(comparisons) if comparisons else [None]
    folders = [find(Path(results), name) for name in wanted]
    if any(map(is_study, folders)):
        _report_study(folders, html, chart, markdown=markdown, json=json)
        return
    outcomes = [judge_comparison(folder) for folder in folders]
    _write(outcomes, html, chart)
    if markdown or json or not (html or chart):
        _print(outcomes, markdown=markdown, json=json)


def _report_study(folders: list[Path], html: Path | None, chart: Path | None, *, markdown: bool, json: bool) -> None:
    """Report on one study."""
    from bakeoff.cli import studies
    from bakeoff.judge.study import judge_study

    if len(folders) > 1:
        msg = "a study is reported by itself: name it alone"
        raise UsageError(msg)
    study = judge_study(folders[0])
    studies.write(study, html, chart)
    if markdown or json or not (html or chart):
        studies.print_one(study, markdown=markdown, json=json)


def _write(outcomes: list["Outcome"], html: Path | None, chart: Path | None) -> None:
    """Write the files that were asked for."""
    from bakeoff.report import charts
    from bakeoff.report.html import to_html
    from bakeoff.store.files import write_atomically

    if html is not None:
        write_atomically(html, to_html(outcomes, html.parent).encode())
        typer.echo(f"report  {html}", err=True)
    if chart is not None:
        charts.save_chart(outcomes, chart)
        typer.echo(f"chart   {chart}", err=True)


def _print(outcomes: list["Outcome"], *, markdown: bool, json: bool) -> None:
    """Print every comparison in the form that was asked for; a terminal's is the default."""
    from bakeoff.report import jsonform, terminal
    from bakeoff.report import markdown as page

    if markdown:
        typer.echo(page.to_markdown(outcomes))
    elif json:
        told = [jsonform.to_json(outcome) for outcome in outcomes]
        typer.echo(json_text.dumps(told[0] if len(told) == 1 else told, indent=2))
    else:
        for outcome in outcomes:
            terminal.show(outcome)
