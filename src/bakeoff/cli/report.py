"""`bakeoff report`: recomputed from the records alone."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import parameters as given
from bakeoff.spec.errors import StoreError, UsageError

if TYPE_CHECKING:
    from bakeoff.compare.outcome import Outcome

CHART_KINDS = (".png", ".svg")


def report(
    comparisons: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMPARISON", help="An id, its end, or a folder; the latest if not said.", show_default=False
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
    """Report on comparisons that were run, computed from their records again."""
    from bakeoff.compare.judge import judge
    from bakeoff.store.results import find

    if markdown and json:
        msg = "--markdown and --json both want stdout: name one of them"
        raise UsageError(msg)
    if chart is not None and chart.suffix not in CHART_KINDS:
        msg = f"--chart {chart}: the file must end in {' or '.join(CHART_KINDS)}"
        raise UsageError(msg)
    if chart is not None and len(comparisons or ()) > 1:
        msg = "--chart draws one comparison: name one"
        raise UsageError(msg)
    wanted: list[str | None] = list(comparisons) if comparisons else [None]
    outcomes = [judge(find(Path(results), name)) for name in wanted]
    _write(outcomes, html, chart)
    if markdown or json or not (html or chart):
        _print(outcomes, markdown=markdown, json=json)


def _write(outcomes: list["Outcome"], html: Path | None, chart: Path | None) -> None:
    """Write the files that were asked for."""
    from bakeoff.report import charts
    from bakeoff.report import html as page

    try:
        if html is not None:
            html.write_text(page.to_html(outcomes), encoding="utf-8")
            typer.echo(f"report  {html}", err=True)
        if chart is not None:
            charts.save_chart(outcomes[0], chart)
            typer.echo(f"chart   {chart}", err=True)
    except OSError as error:
        msg = f"cannot write {error.filename}: {error.strerror}"
        raise StoreError(msg) from error


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
