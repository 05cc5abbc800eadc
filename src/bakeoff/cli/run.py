"""`bakeoff run`: a comparison, from its plan to its report."""

# ruff: noqa: ARG001 (typer gives the parameters in the context, too, where `requested` reads them by their names)

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bakeoff.cli import FAILED, code_of, command_of, dryrun, explained, maxbatch, parameters, showing, sweep
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.comparison import Aim
    from bakeoff.spec.request import Request


def run(
    context: typer.Context,
    workload: parameters.Workload,
    contenders: parameters.Contenders = None,
    *,
    scenario: parameters.Scenario = None,
    batch_size: parameters.BatchSizes = None,
    size: parameters.Size = "full",
    layer: parameters.Layer = None,
    device: parameters.Devices = None,
    gpu: parameters.Gpu = None,
    reference_device: parameters.ReferenceDevice = None,
    devices: parameters.DeviceCounts = None,
    scaling: parameters.HowScaled = "weak",
    threads: parameters.ThreadCounts = None,
    precision: parameters.Precisions = None,
    option: parameters.Options = None,
    tier: parameters.Tier = None,
    data: parameters.Data = None,
    padding: parameters.Padding = "fixed",
    max_norm: parameters.MaxNorm = None,
    noise_multiplier: parameters.NoiseMultiplier = None,
    rounds: parameters.Rounds = None,
    budget: parameters.Budget = None,
    wait_for_calm: parameters.WaitForCalm = None,
    direction: parameters.Direction = False,
    how_much: parameters.HowMuch = False,
    until_sure: parameters.UntilSure = False,
    epochs: parameters.Epochs = None,
    steps: parameters.Steps = None,
    repeats: parameters.Repeats = 3,
    fail_if_slower: parameters.FailIfSlower = None,
    why: parameters.Why = False,
    margin: parameters.Margin = "0.05",
    seed: parameters.Seed = 0,
    trial_limit: parameters.TrialLimit = "10m",
    results: parameters.Results = "results",
    resume: parameters.Resume = False,
    dry_run: parameters.DryRun = False,
    json: parameters.Json = False,
    max_batch: parameters.MaxBatch = False,
    memory: parameters.MemoryLimit = None,
) -> None:
    """Race contenders on a workload until every pair has its verdict."""
    asked = sweep.read(batch_size, device, threads, precision, option)
    search = maxbatch.wanted(context, max_batch=max_batch, memory=memory, several=bool(asked.several))
    request = _of_layer(requested(context.params, asked, sys.argv[1:]), layer, dry_run=dry_run)
    alone = not (search or asked.several)
    limit = _limit(fail_if_slower, request, alone=alone)
    if why:
        explained.check(request, json=json, dry_run=dry_run, alone=alone)
    if dry_run:
        dryrun.check(resume=resume, search=search is not None)
        _tell_beforehand(request, asked, json=json)
        return
    race = search or (
        partial(sweep.run, several=asked.several) if asked.several else partial(_race, limit=limit, why=why)
    )
    race(request, json=json)


def _of_layer(request: "Request", layer: str | None, *, dry_run: bool) -> "Request":
    """Return the request for one layer of the workload, whose file is written among the results; as it is without."""
    if layer is None:
        return request
    import msgspec

    from bakeoff.race.checks import results_folder
    from bakeoff.store.layers import write_layer

    if dry_run:
        msg = "--dry-run writes nothing, and --layer writes a workload's file: leave one of them out"
        raise UsageError(msg)
    file = write_layer(request.workload, layer, results_folder(request.results))
    return msgspec.structs.replace(request, workload=str(file))


def _tell_beforehand(request: "Request", asked: sweep.SweepOptions, *, json: bool) -> None:
    """Print what would run: one comparison, or one for each combination."""
    if asked.several:
        dryrun.tell_study(sweep.study_of(request, asked.several), request.results, json=json)
    else:
        dryrun.tell(request, json=json)


def requested(params: dict[str, Any], asked: sweep.SweepOptions, words: "Sequence[str]") -> "Request":
    """Return what is asked for; parameters that have the name of a request's field are that field.

    `words` are those behind `bakeoff`.
    """
    from bakeoff.spec.request import Request

    same = {name: value for name, value in params.items() if name in Request.__struct_fields__}
    usual = Request(workload="").repeats
    if params.get("repeats", usual) != usual and params.get("epochs") is None and params.get("steps") is None:
        msg = "--repeats says how often the whole run of --epochs or --steps is made: add one of them, or leave it out"
        raise UsageError(msg)
    size = params["how_much"] or params["fail_if_slower"] is not None
    read = {
        "contenders": tuple(params["contenders"] or ()),
        "scaling": parameters.scaling(params["scaling"]),
        "devices": parameters.counts(params["devices"], "--devices"),
        "device": None,  # It is among the options that were asked for.
        "tiers": tuple(params["tier"].split(",")) if params["tier"] else (),
        "aim": _aim(size=size, direction=params["direction"], until_sure=params["until_sure"]),
        "max_rounds": params["rounds"],
        "budget_s": None if params["budget"] is None else parameters.seconds(params["budget"], "--budget"),
        "calm_wait_s": parameters.seconds(params["wait_for_calm"], "--wait-for-calm")
        if params["wait_for_calm"]
        else 0.0,
        "margin": parameters.share(params["margin"], "--margin"),
        "trial_limit_s": parameters.seconds(params["trial_limit"], "--trial-limit"),
        "command": command_of(words),
    }
    return Request(**same | read | asked.fields)


def _limit(fail_if_slower: str | None, request: "Request", *, alone: bool) -> float | None:
    """Return by how much a contender may be slower; only a comparison of several, that stands alone, can fail for it.

    Raises UsageError for any other.
    """
    if fail_if_slower is not None and not alone:
        msg = "--fail-if-slower answers one comparison: name one value of each option, and no --max-batch"
        raise UsageError(msg)
    if fail_if_slower is None:
        return None
    from bakeoff.race.prepare import checked

    limit = parameters.share(fail_if_slower, "--fail-if-slower")
    _, plans, excluded = checked(request)
    is_pair = len(plans) + (len(excluded) if request.contenders else 0) > 1
    if not is_pair:
        label = plans[0].contender.label
        msg = f"--fail-if-slower holds the others against the first contender, and {label} is alone: name another one"
        raise UsageError(msg)
    return limit


def _race(request: "Request", *, json: bool, limit: float | None, why: bool) -> None:
    """Run one comparison and show it; with a limit, the exit code says whether a contender is slower than the first."""
    from bakeoff.cli import slower, studies
    from bakeoff.cli.progress import shown
    from bakeoff.race import conductor
    from bakeoff.race.budget import HALF, Stopwatch, with_budget

    places: list[str] = []
    watch = Stopwatch(request.budget_s)
    asked = with_budget(request, watch.left_s(HALF)) if why else request
    try:
        with shown(sys.stderr if json else sys.stdout, live=not json) as observer:
            outcome = conductor.run(asked, studies.noting(observer, places))
    except KeyboardInterrupt as interrupt:
        _tell_so_far(places, json=json)
        sys.stderr.write(f"interrupted; {_going_on(places)}\n")
        raise typer.Exit(code_of(interrupt)) from None
    showing.show(outcome, json=json)
    if why:
        explained.tell(outcome, request, watch)
    if limit is not None:
        raise typer.Exit(slower.tell(outcome, limit))
    if not outcome.is_answered:
        raise typer.Exit(FAILED)


def _tell_so_far(places: list[str], *, json: bool) -> None:
    """Save and print the report of what is known, where a round was finished."""
    from bakeoff.judge.comparison import judge_comparison

    for place in places:
        outcome = judge_comparison(Path(place))
        if outcome.rounds:
            showing.show(outcome, json=json)


def _going_on(places: list[str]) -> str:
    """Return where finished trials are, and the command that goes on."""
    from bakeoff.cli.studies import going_on
    from bakeoff.store.files import read_comparison

    return going_on(places[-1], read_comparison(Path(places[-1])).command) if places else going_on(None, "")


def _aim(*, size: bool, direction: bool, until_sure: bool) -> "Aim":
    """Return the aim that the options name; there is one."""
    if size + direction + until_sure > 1:
        msg = (
            "--direction, --how-much and --until-sure exclude each other, and --fail-if-slower needs the default, "
            "--how-much: name one of them"
        )
        raise UsageError(msg)
    return "direction" if direction else "until-sure" if until_sure else "size"
