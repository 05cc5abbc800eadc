"""`bakeoff explain`: what the gap between contenders consists of, from traces of trials of their own."""

# ruff: noqa: ARG001 (typer gives the parameters in the context, too, where `_asked` reads them by their names)

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bakeoff.cli import FAILED, code_of, completing, dryrun, dryrun_explain, parameters, run, showing, sweep
from bakeoff.cli.flags import as_flags, given_in
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Explanation
    from bakeoff.spec.request import Request

What = Annotated[
    str | None,
    typer.Argument(
        metavar="COMPARISON|WORKLOAD",
        help="A comparison that was run, by its id, its end, or its folder (the latest if not said), in which trials "
        "that are missing are run now; or a workload, which is raced first.",
        show_default=False,
        autocompletion=completing.workloads,
    ),
]
Contenders = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONTENDER",
        help="Of a workload: framework[@environment][:option=value,...], as in `bakeoff run`.",
        show_default=False,
        autocompletion=completing.contenders,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="No trial starts after this time: 90s, 5m, 1h.", show_default=False),
]
Recorded = Annotated[
    bool, typer.Option("--recorded", help="Of a comparison: run nothing, and explain by the records that there are.")
]
ANSWERED = {"what", "contenders", "budget", "data", "results", "recorded", "dry_run", "json"}
"""Parameters that a comparison takes; all others are fixed in its file."""


def explain(
    context: typer.Context,
    what: What = None,
    contenders: Contenders = None,
    *,
    scenario: parameters.Scenario = None,
    batch_size: parameters.BatchSizes = None,
    size: parameters.Size = "full",
    device: parameters.Devices = None,
    gpu: parameters.Gpu = None,
    reference_device: parameters.ReferenceDevice = None,
    threads: parameters.ThreadCounts = None,
    precision: parameters.Precisions = None,
    option: parameters.Options = None,
    tier: parameters.Tier = None,
    data: parameters.Data = None,
    padding: parameters.Padding = "fixed",
    max_norm: parameters.MaxNorm = None,
    noise_multiplier: parameters.NoiseMultiplier = None,
    rounds: parameters.Rounds = None,
    budget: Budget = None,
    wait_for_calm: parameters.WaitForCalm = None,
    margin: parameters.Margin = "0.05",
    seed: parameters.Seed = 0,
    trial_limit: parameters.TrialLimit = "10m",
    results: parameters.Results = "results",
    resume: parameters.Resume = False,
    recorded: Recorded = False,
    dry_run: parameters.DryRun = False,
    json: parameters.Json = False,
) -> None:
    """Explain why one contender is slower: by kind of operation and by layer of the model."""
    is_race = bool(contenders) or is_workload(what)
    if is_race and recorded:
        msg = "--recorded explains a comparison that was run: name it in place of the workload"
        raise UsageError(msg)
    if not is_race:
        _check_answered(context, what)
    request = _request(context.params) if is_race else None
    if request is not None:
        from bakeoff.race.pairs import check_pair

        check_pair(request)
    if dry_run:
        _tell_beforehand(context.params, request)
        return
    if request is not None:
        found = _race(request, json=json)
    else:
        found = _of_comparison(context.params, recorded=recorded, json=json)
    showing.show(found, json=json)
    if not any(one.level != "none" for one in found.profiles):
        raise typer.Exit(FAILED)


def _tell_beforehand(params: dict[str, Any], request: "Request | None") -> None:
    """Print what would run: a race with its explanation, or what a comparison's explanation lacks."""
    dryrun_explain.check(**{name: params[name] for name in ("recorded", "json", "resume")})
    if request is None:
        dryrun_explain.tell(_folder(params))
    else:
        dryrun.tell(request, json=False, why=True)


def is_workload(what: str | None) -> bool:
    """Return whether this names a workload, by its name or its file."""
    from bakeoff.workloads.load import names

    return what is not None and (what in names() or what.endswith(".py"))


def _check_answered(context: typer.Context, what: str | None) -> None:
    """Raise UsageError for an option that a comparison's own file has answered."""
    wrong = as_flags(name for name in given_in(context) if name not in ANSWERED)
    if wrong:
        msg = (
            f"{', '.join(wrong)}: {what or 'the latest comparison'} was run with options of its own; to race with "
            "others name a workload and its contenders"
        )
        raise UsageError(msg)


def _request(params: dict[str, Any]) -> "Request":
    """Return the race that is asked for; raise UsageError for several of them."""
    asked = sweep.read(*(params[name] for name in ("batch_size", "device", "threads", "precision", "option")))
    if asked.several:
        msg = f"explain answers one comparison: name one value of {asked.several[0].name}"
        raise UsageError(msg)
    fixed: dict[str, Any] = dict.fromkeys(("devices", "fail_if_slower")) | {"scaling": "weak"}
    fixed |= dict.fromkeys(("direction", "how_much", "until_sure"), False)
    return run.requested(params | fixed | {"workload": params["what"]}, asked, sys.argv[1:])


def _race(request: "Request", *, json: bool) -> "Explanation":
    """Race, trace and race the suspects, and judge all of it."""
    from bakeoff.cli import studies
    from bakeoff.cli.progress import shown
    from bakeoff.race import explaining

    places: list[str] = []
    try:
        with shown(sys.stderr if json else sys.stdout, live=not json) as observer:
            return explaining.race(request, studies.noting(observer, places))
    except KeyboardInterrupt as interrupt:
        sys.stderr.write(f"interrupted; {studies.going_on(places[-1] if places else None, request.command)}\n")
        raise typer.Exit(code_of(interrupt)) from None


def _of_comparison(params: dict[str, Any], *, recorded: bool, json: bool) -> "Explanation":
    """Run the trials that a comparison lacks, and judge it."""
    from bakeoff.cli.progress import shown
    from bakeoff.judge import explained
    from bakeoff.race.explaining import complete
    from bakeoff.store.absurd import told_if_absurd

    folder = _folder(params)
    budget_s = None if params["budget"] is None else parameters.seconds(params["budget"], "--budget")
    if not recorded:
        try:
            with shown(sys.stderr if json else sys.stdout, live=not json) as observer:
                complete(folder, observer, budget_s=budget_s, data=params["data"])
        except KeyboardInterrupt as interrupt:
            sys.stderr.write(f"interrupted; go on with\n  {pasteable(f'bakeoff explain {shlex.quote(str(folder))}')}\n")
            raise typer.Exit(code_of(interrupt)) from None
    with told_if_absurd():
        return explained.explain(folder)


def _folder(params: dict[str, Any]) -> Path:
    """Return the folder of the comparison that is named; raise UsageError for a study."""
    from bakeoff.store.results import find, is_study

    folder = find(Path(params["results"]), params["what"])
    if is_study(folder):
        msg = f"{folder.name} is a study: name one of its comparisons, which lie in {folder}"
        raise UsageError(msg)
    return folder
