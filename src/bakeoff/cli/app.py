"""The commands by name; nothing that takes time to import is imported before its command runs."""

import os
from typing import Annotated, Any

import typer

from bakeoff import __version__
from bakeoff.cli import (
    acceptance,
    completion,
    diff,
    doctor,
    env,
    explain,
    export,
    gallery,
    history,
    list,
    report,
    reproduce,
    run,
    slurm,
    track,
    usecase,
    verify,
)
from bakeoff.report.called import PLAIN, name, pasteable

COMPLETE_VARIABLE = "_BAKEOFF_COMPLETE"
"""By which a shell's completion asks, whatever path bakeoff is called by."""

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


app.command("run", short_help="Race contenders until every pair has its verdict.")(run.run)
app.command("use-case", short_help="Race a use case of the reference pipeline, by its number.")(usecase.use_case)
app.command("reproduce", short_help="Measure what a document published, beside its figures.")(reproduce.reproduce)
app.command("verify", short_help="Show that contenders compute the same thing.")(verify.verify)
app.command("acceptance", short_help="Check that a device can be believed, and what to send in.")(acceptance.acceptance)
app.command("list", short_help="List workloads, frameworks, options and studies.")(list.list_what)
app.command("explain", short_help="Explain why one contender is slower than another.")(explain.explain)
app.add_typer(env.app, name="env")
app.command("doctor", short_help="Show this machine, its noise, and what to set.")(doctor.doctor)
app.add_typer(slurm.app, name="slurm")
app.command("report", short_help="Report on what was run, from its records.")(report.report)
app.command("history", short_help="Show a workload's verdicts over time.")(history.history)
app.command("export", short_help="Write every block or verdict as a table.")(export.export)
app.command("gallery", short_help="Make a static site of many comparisons and studies.")(gallery.gallery)
app.command("diff", short_help="Show two comparisons side by side, and what changed.")(diff.diff)
app.add_typer(track.app, name="track")
app.add_typer(completion.app, name="completion")


def command() -> Any:
    """Return the whole command line, in whose help every command can be pasted."""
    if COMPLETE_VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined] # typer itself calls it so

        completion_init()
        # One line for each word that is offered, however long its help.
        os.environ["COLUMNS"] = "10000"
    whole = typer.main.get_command(app)
    if name() != PLAIN:
        _say_as_called(whole)
    return whole


def _say_as_called(one: Any) -> None:
    """Have the help of a command, its parameters and its own commands name bakeoff as it was called."""
    for named in (one, *one.params):
        if getattr(named, "help", None):
            named.help = pasteable(named.help)
    for inner in getattr(one, "commands", {}).values():
        _say_as_called(inner)
