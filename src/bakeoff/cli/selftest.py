"""`bakeoff doctor --self-test`: whether the timers can be trusted here, and what this machine can resolve."""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

import typer

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.selftest import TimerVerdict

WORKLOAD = "mlp-mnist"
"""The workload of the self-test: its steps are short, so that an error of the clock matters most."""


class RaceAgainstItself(NamedTuple):
    """How a contender is raced against itself.

    budget_s  no new round starts after this time: some ten rounds, which are enough to estimate the spread
    margin    far below the default of 5 %, so that the race does not end before the spread is known
    races     how often a winner has to appear: one race in twenty has one by chance, two in a row one in four hundred
    """

    budget_s: float = 90.0
    margin: float = 0.01
    races: int = 2


AGAINST_ITSELF = RaceAgainstItself()

SMALLEST_SHARE = 0.001
"""The smallest difference that is shown as a number: no step time stays the same to within a per mille for long."""


def self_test(contenders: tuple[str, ...], gpu: str | None = None) -> bool:
    """Test the timers of these contenders, of every available framework if empty; return whether all is well."""
    with tempfile.TemporaryDirectory(prefix="bakeoff-") as folder:
        timers = _check_timers(contenders, folder, gpu)
        sound = [verdict for verdict in timers if verdict.outcome != "failed"]
        # A label is the contender's own text (the first of several of the same text), so that it can be raced again.
        return _fair(sound[0].contender, folder, gpu) and len(sound) == len(timers) if sound else False


def _check_timers(contenders: tuple[str, ...], folder: str, gpu: str | None) -> list[TimerVerdict]:
    """Test each timer, print its checks, and return the verdicts."""
    from bakeoff.cli.progress import shown
    from bakeoff.cli.telling import timer_text
    from bakeoff.race import conductor
    from bakeoff.report.sections.timing import TIMER_WORDS
    from bakeoff.spec.request import Request

    request = Request(workload=WORKLOAD, contenders=contenders, data="synthetic", results=folder, gpu=gpu)
    with shown(sys.stderr) as observer:
        verdicts = conductor.check_timers(request, observer)
    for verdict in verdicts:
        typer.echo(f"timer       {verdict.contender}: {timer_text(verdict)}")
        for check in verdict.checks:
            typer.echo(f"{'':<12}{check.name} {TIMER_WORDS[check.outcome]}: {check.detail}")
    return verdicts


def _fair(contender: str, folder: str, gpu: str | None) -> bool:
    """Race a contender against itself and print what can be resolved; return whether one race had no winner."""
    for _ in range(AGAINST_ITSELF.races):
        outcome = _race_itself(contender, folder, gpu)
        if not outcome.verdicts:
            reasons = {side.reason for side in outcome.contenders if side.reason}
            typer.echo(f"resolution  {contender} could not be raced against itself: {'; '.join(sorted(reasons))}")
            return False
        typer.echo(f"resolution  {_resolved(outcome)}")
        if outcome.verdicts[0].verdict not in ("faster", "slower"):
            return True
        typer.echo(f"{'':<12}A winner of {contender} against itself: one such race in twenty may end so by chance.")
    times = AGAINST_ITSELF.races
    typer.echo(f"{'':<12}A winner each of {times} times: this machine as it is now, or bakeoff, is not to be trusted.")
    return False


def _race_itself(contender: str, folder: str, gpu: str | None) -> Outcome:
    """Return the outcome of a race of a contender against itself."""
    from bakeoff.cli.progress import shown
    from bakeoff.race import conductor
    from bakeoff.spec.contender import parse_contender
    from bakeoff.spec.request import Request

    request = Request(
        workload=WORKLOAD,
        contenders=(contender, contender),
        data="synthetic",
        margin=AGAINST_ITSELF.margin,
        budget_s=AGAINST_ITSELF.budget_s,
        self_test=False,
        results=folder,
        # The contender that is raced may be one on a processor.
        gpu=gpu if parse_contender(contender).on_cuda else None,
    )
    with shown(sys.stderr) as observer:
        return conductor.run(request, observer)


def _resolved(outcome: Outcome) -> str:
    """Return in words what differences this machine can show, and how that was measured."""
    from pathlib import Path

    from bakeoff.judge.comparison import history
    from bakeoff.report.standings import ratio_text
    from bakeoff.report.units import rounded
    from bakeoff.spec.text import count
    from bakeoff.stats.boundaries import LOOKS
    from bakeoff.stats.futility import resolution

    verdict = outcome.verdicts[0]
    differences = [value for value in history(Path(outcome.path))[0].differences if value is not None]
    share = resolution(differences)
    race = f"{verdict.first} against itself, {count(len(differences), 'round')}"
    if share is None:
        return f"unknown: {race} in the time there was, and 3 are the fewest"
    ratio = ratio_text(verdict, outcome.comparison.procedure.margin)
    shown = f"about {rounded(100 * share, 1)} %" if share >= SMALLEST_SHARE else "less than 0.1 %"
    return f"this machine can show {shown} in {LOOKS[-1]} rounds ({race}: {verdict.verdict}, ratio {ratio})"
