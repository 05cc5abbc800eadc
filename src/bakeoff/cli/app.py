"""The commands by name; nothing that takes time to import is imported before its command runs."""

from typing import Annotated

import typer

from bakeoff import __version__
from bakeoff.cli import diff, doctor, env, history, list, report, reproduce, run, verify

app = typer.Typer(
    name="bakeoff",
    help="Race deep-learning frameworks on the same work, with a verdict that holds.",
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help: rich's takes 0.1 s to import.
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        typer.echo(f"bakeoff {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Race deep-learning frameworks on the same work, with a verdict that holds."""
    del version


app.command("run")(run.run)
app.command("reproduce")(reproduce.reproduce)
app.command("verify")(verify.verify)
app.command("list")(list.list_what)
app.add_typer(env.app, name="env")
app.command("doctor")(doctor.doctor)
app.command("report")(report.report)
app.command("history")(history.history)
app.command("diff")(diff.diff)
