"""`bakeoff run`: a comparison, from its plan to its report."""

import json as json_text
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

import typer

from bakeoff.cli import FAILED, INTERRUPTED, maxbatch, sweep
from bakeoff.cli import parameters as given
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.comparison import Aim
    from bakeoff.spec.request import Request


def run(
    context: typer.Context,
    workload: given.Workload,
    contenders: given.Contenders = None,
    *,
    scenario: given.Scenario = None,
    batch_size: given.BatchSizes = None,
    size: given.Size = "full",
    device: given.Devices = None,
    threads: given.ThreadCounts = None,
    precision: given.Precisions = None,
    option: given.Options = None,
    tier: given.Tier = None,
    data: given.Data = None,
    rounds: given.Rounds = None,
    budget: given.Budget = None,
    how_much: given.HowMuch = False,
    until_sure: given.UntilSure = False,
    epochs: given.Epochs = None,
    steps: given.Steps = None,
    repeats: given.Repeats = 3,
    fail_if_slower: given.FailIfSlower = None,
    margin: given.Margin = "0.05",
    seed: given.Seed = 0,
    trial_limit: given.TrialLimit = "10m",
    results: given.Results = "results",
    resume: given.Resume = False,
    json: given.Json = False,
    max_batch: given.MaxBatch = False,
    memory: given.Memory = None,
) -> None:
    """Race contenders on a workload until every pair has its verdict."""
    from bakeoff.spec.request import Request

    asked = sweep.read(batch_size, device, threads, precision, option)
    search = maxbatch.wanted(context, max_batch=max_batch, memory=memory, several=bool(asked.several))
    request = Request(
        workload=workload,
        contenders=tuple(contenders or ()),
        scenario=scenario,
        size=size,
        **asked.fields,
        tiers=tuple(tier.split(",")) if tier else (),
        data=data,
        aim=_aim(how_much=how_much or fail_if_slower is not None, until_sure=until_sure),
        max_rounds=rounds,
        budget_s=None if budget is None else given.seconds(budget, "--budget"),
        margin=given.share(margin, "--margin"),
        seed=seed,
        epochs=epochs,
        steps=steps,
        repeats=repeats,
        trial_limit_s=given.seconds(trial_limit, "--trial-limit"),
        results=results,
        resume=resume,
        command=shlex.join(["bakeoff", *sys.argv[1:]]),
    )
    limit = _limit(fail_if_slower, alone=not (search or asked.several))
    race = search or (partial(sweep.run, several=asked.several) if asked.several else partial(_race, limit=limit))
    race(request, json=json)


def _limit(fail_if_slower: str | None, *, alone: bool) -> float | None:
    """Read by how much a contender may be slower; only a comparison that stands alone can fail for it."""
    if fail_if_slower is not None and not alone:
        msg = "--fail-if-slower answers one comparison: name one value of each option, and no --max-batch"
        raise UsageError(msg)
    return None if fail_if_slower is None else given.share(fail_if_slower, "--fail-if-slower")


def _race(request: "Request", *, json: bool, limit: float | None) -> None:
    """Run one comparison and show it; with a limit, the exit code says whether a contender is slower than the first."""
    from bakeoff.cli import slower
    from bakeoff.cli.progress import shown
    from bakeoff.race import conductor

    try:
        with shown(sys.stderr if json else sys.stdout, live=not json) as observer:
            outcome = conductor.run(request, observer)
    except KeyboardInterrupt:
        where = f"finished trials are in {request.results}"
        sys.stderr.write(f"interrupted: {where}; the same command with --resume goes on\n")
        raise typer.Exit(INTERRUPTED) from None
    _show(outcome, json=json)
    if limit is not None:
        raise typer.Exit(slower.tell(outcome, limit))
    if not outcome.is_answered:
        raise typer.Exit(FAILED)


def _aim(*, how_much: bool, until_sure: bool) -> "Aim":
    """Give the aim that the options name; there is one."""
    if how_much and until_sure:
        msg = "--until-sure excludes --how-much and --fail-if-slower, which implies it: name one of them"
        raise UsageError(msg)
    return "how-much" if how_much else "until-sure" if until_sure else "verdict"


def _show(outcome: "Outcome", *, json: bool) -> None:
    """Save the reports beside the records, and print the answer, which a full disk does not take away."""
    from bakeoff.report import jsonform, save, terminal

    try:
        save.save(outcome)
    finally:
        if json:
            typer.echo(json_text.dumps(jsonform.to_json(outcome), indent=2))
        else:
            terminal.show(outcome)
