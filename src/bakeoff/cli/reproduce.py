"""`bakeoff reproduce`: a document's published figures, measured here and set beside ours."""

import shlex
import sys
from typing import Annotated

import typer

from bakeoff.cli import FAILED, completing, dryrun, parameters
from bakeoff.report.called import pasteable

Name = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A name from `bakeoff list studies`, or your own file: my_study.toml.",
        autocompletion=completing.studies,
    ),
]
Contenders = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONTENDER",
        help="In place of the document's rows: FRAMEWORK@VERSION replaces the row of that framework.",
        show_default=False,
        autocompletion=completing.contenders,
    ),
]
Full = Annotated[
    bool, typer.Option("--full", help="At the document's own sizes; if not said, scaled down to what a processor can.")
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE",
        help="cpu, cuda or mps; if not said, a GPU where one is and all environments are for it.",
        show_default=False,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Shared by all comparisons: after a first round, none starts beyond its share: 90s, 5m, 1h.",
        show_default=False,
    ),
]


def reproduce(
    study: Name,
    contenders: Contenders = None,
    *,
    full: Full = False,
    device: Device = None,
    budget: Budget = None,
    seed: parameters.Seed = 0,
    results: parameters.Results = "results",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last study in --results that asked for the same.")
    ] = False,
    dry_run: parameters.DryRun = False,
    json: parameters.Json = False,
) -> None:
    """Measure what a document published, and show its figures beside ours."""
    from bakeoff.cli import studies
    from bakeoff.environments.builds import check_device
    from bakeoff.study.published import declare, load, place_for

    published = load(study)
    if device is None:
        place = place_for(published, contenders or ())
        device = place.device
        if place.told:
            sys.stderr.write(f"{pasteable(place.told)}; --device cuda races those that can\n")
    check_device(device)
    declared = declare(
        published,
        full=full,
        device=device,
        contenders=contenders or (),
        seed=seed,
        budget_s=None if budget is None else parameters.seconds(budget, "--budget"),
        command=shlex.join(["bakeoff", *sys.argv[1:]]),
    )
    if dry_run:
        dryrun.check(resume=resume, search=False)
        dryrun.tell_study(declared, results, json=json)
        return
    outcome = studies.race(declared, results, resume=resume, json=json)
    if not any(one.status == "ranked" for point in outcome.outcomes for one in point.contenders):
        raise typer.Exit(FAILED)
