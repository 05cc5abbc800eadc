"""`bakeoff track`: comparisons as runs in a tracker of experiments, one run for each contender."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import FAILED, parameters
from bakeoff.spec.errors import UsageError
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from bakeoff.tracking.following import ComparisonUpdate
    from bakeoff.tracking.run import TrackedRun
    from bakeoff.tracking.sending import Sent
    from bakeoff.tracking.tracker import Tracker

app = typer.Typer(
    help="Send comparisons to W&B, MLflow or TensorBoard.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Comparisons = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="COMPARISON",
        help="An id of a comparison or a study, its end, or a folder; the latest if not said.",
        show_default=False,
    ),
]
Live = Annotated[
    bool, typer.Option("--live", help="Go on for as long as the comparison runs, and send records as they arrive.")
]
Project = Annotated[str, typer.Option(metavar="NAME", help="Where runs are put: W&B's project, MLflow's experiment.")]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact/--no-redact",
        help="Leave out folders, names of users and machines, values that look like keys, and logs.",
    ),
]


@app.command(short_help="To Weights & Biases, or into folders that `wandb sync` takes.")
def wandb(
    comparisons: Comparisons = None,
    *,
    live: Live = False,
    project: Project = "bakeoff",
    entity: Annotated[
        str | None,
        typer.Option(
            metavar="TEAM", help="The team or user of the project; your default if not said.", show_default=False
        ),
    ] = None,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Send nothing: write folders for `wandb sync`; WANDB_MODE=offline does too."),
    ] = False,
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Where W&B's folder `wandb` is made.")] = Path(),
    redact: Redact = True,
    results: parameters.Results = "results",
) -> None:
    """Send comparisons to Weights & Biases; its key is W&B's own business: `wandb login`, or WANDB_API_KEY.

    A run that is there is replaced, so that sending again fills what lacks.
    """

    def tracker() -> "Tracker":
        from bakeoff.tracking.wandb import WandbTracker

        mode = os.environ.get("WANDB_MODE")
        if mode == "disabled" and not offline:
            msg = "WANDB_MODE=disabled switches W&B off: unset it, or write folders by --offline"
            raise UsageError(msg)
        is_offline = offline or mode == "offline"
        made = WandbTracker(project, entity, folder, is_offline=is_offline)
        _say_new(folder / "wandb")
        return made

    _track(comparisons, results, tracker, live=live, redact=redact)


@app.command(short_help="To an MLflow server or an SQLite file.")
def mlflow(
    comparisons: Comparisons = None,
    *,
    live: Live = False,
    project: Project = "bakeoff",
    uri: Annotated[
        str,
        typer.Option(
            metavar="URI",
            help="Where MLflow is: http://HOST:PORT, or sqlite:///FILE.",
            envvar="MLFLOW_TRACKING_URI",
        ),
    ] = "sqlite:///mlflow.db",
    redact: Redact = True,
    results: parameters.Results = "results",
) -> None:
    """Send comparisons to MLflow; who signs in says MLFLOW_TRACKING_USERNAME and the like, which are MLflow's own.

    Runs that are there are found again and get what they lack.
    """

    def tracker() -> "Tracker":
        from bakeoff.tracking.mlflow import MlflowTracker

        made = MlflowTracker(uri, project)
        # A file that is there may be no database, and then nothing is made beside it.
        for path in made.files if made.files and not made.files[0].exists() else ():
            _say_new(path)
        return made

    _track(comparisons, results, tracker, live=live, redact=redact)


@app.command(short_help="Into TensorBoard's event files.")
def tensorboard(
    comparisons: Comparisons = None,
    *,
    live: Live = False,
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Where event files are written.")] = Path("runs"),
    redact: Redact = True,
    results: parameters.Results = "results",
) -> None:
    """Write comparisons as TensorBoard's event files, one folder for each contender.

    Files of the same comparison that are there are replaced.
    """

    def tracker() -> "Tracker":
        from bakeoff.tracking.tensorboard import TensorboardTracker

        made = TensorboardTracker(folder)
        _say_new(folder)
        return made

    _track(comparisons, results, tracker, live=live, redact=redact)


def _track(
    comparisons: list[str] | None, results: str, make: Callable[[], "Tracker"], *, live: bool, redact: bool
) -> None:
    """Send what was named; end with exit code 1 where the tracker lacks something."""
    from bakeoff.acceptance.redacted import sharing_redactor
    from bakeoff.store.absurd import told_if_absurd
    from bakeoff.tracking.content import runs_of
    from bakeoff.tracking.following import as_they_are, following
    from bakeoff.tracking.sending import send

    places, using = _places(Path(results), comparisons), sharing_redactor() if redact else None
    known = as_they_are(places)
    if not known and not live:
        raise _nothing(places)
    tracker = make()

    def read(change: "ComparisonUpdate") -> "list[TrackedRun]":
        with told_if_absurd():
            return runs_of(change.folder, using, is_running=change.is_running)

    if live:
        typer.echo(f"following {', '.join(plain(place.name) for place in places)}", err=True)
    changes = following(places) if live else known
    sent = send(changes, tracker, read, _warn, again=live)
    for line in _lines(sent, tracker):
        typer.echo(plain(line))
    for reason in sent.unread.values():
        typer.echo(f"left out: {plain(reason)}", err=True)
    if sent.missing or sent.unread:
        raise typer.Exit(FAILED)
    if not sent.runs:
        raise _nothing(places)


def _nothing(places: list[Path]) -> UsageError:
    """Return the error for studies of which no comparison was begun."""
    return UsageError(
        f"no comparison of {', '.join(place.name for place in places)} was begun: there is nothing to track"
    )


def _say_new(path: Path) -> None:
    """Print which file or folder will be made here, where it is not there: its name may be a slip."""
    if not os.path.exists(path):  # noqa: PTH110 - unlike Path.exists, no error for a name that is too long
        typer.echo(f"new     {plain(str(path))}", err=True)


def _warn(reason: str) -> None:
    """Write why the tracker lacks something, and what to do."""
    text = f"{reason}; no record is lost: the same command sends what is missing once it can be reached"
    typer.echo(f"warning: {plain(text)}", err=True)


def _places(results: Path, names: list[str] | None) -> list[Path]:
    """Return the folders of the comparisons and studies that were named; raise UsageError without any."""
    from bakeoff.store.results import find

    wanted: list[str | None] = [*names] if names else [None]
    return [find(results, name) for name in wanted]


def _lines(sent: "Sent", tracker: "Tracker") -> list[str]:
    """Return what was sent, in a line for each run."""
    lines = [f"{run.group}  {run.name}: {run.state}, {len(run.points)} blocks" for run in sent.runs]
    return [*lines, f"in {tracker.where}"] if lines else []
