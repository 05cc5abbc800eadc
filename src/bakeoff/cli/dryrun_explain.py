"""`bakeoff explain --dry-run`: what an explanation would run, and how long about; nothing is started."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bakeoff.cli import dryrun
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.race.forecast_why import SuspectRaceForecast, WhyForecast


def check(*, recorded: bool, json: bool, resume: bool) -> None:
    """Raise UsageError for what goes not together with it."""
    if recorded:
        msg = "--recorded runs nothing, so that there is nothing to tell: leave out --dry-run"
        raise UsageError(msg)
    if json:
        msg = "--dry-run of an explanation is for people: leave out --json, or take bakeoff run --dry-run --json"
        raise UsageError(msg)
    dryrun.check(resume=resume, search=False)


def tell(folder: Path) -> None:
    """Print what the explanation of a comparison lacks."""
    from bakeoff.cli.columns import wrapped
    from bakeoff.race.forecast_why import forecast_why
    from bakeoff.report.called import pasteable

    told = forecast_why(folder)
    lacking = [*_traces(told), *_checks(told)] if told.ranked else ["None of its contenders is ranked: nothing is run."]
    for said in [f"{folder.name}:", *lacking, "", "Nothing was started or written."]:
        for line in wrapped(said) or [""]:
            typer.echo(pasteable(line))


def _traces(told: "WhyForecast") -> list[str]:
    """Return how many trials are still to be traced."""
    if not told.traces:
        return ["All of its traces are there."]
    noun = "trial is" if told.traces == 1 else "trials are"
    return [f"{told.traces} {noun} traced, which takes {_about(told.traces_s)}."]


def _checks(told: "WhyForecast") -> list[str]:
    """Return which suspects would be raced, as far as they are known."""
    if told.checks is None:
        most = _about(told.most_checks_s)
        return [f"Which suspects are raced, the traces tell: none where nothing is told apart, and else up to {most}."]
    return [_check(one) for one in told.checks] or ["No race of suspects is lacking."]


def _check(one: "SuspectRaceForecast") -> str:
    """Return what one race of suspects has."""
    turned = ", ".join(switch or "the same once more" for switch in one.switches)
    return f"{one.first} and {one.second} race again beside {one.second} with {turned}: {_about(one.seconds)}."


def _about(seconds: float | None) -> str:
    """Return a time in words."""
    return "a time that is not known" if seconds is None else dryrun.span(seconds, seconds)
