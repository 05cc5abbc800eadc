"""`bakeoff doctor --self-test`: whether the timers can be trusted here, and what this machine can resolve."""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.selftest import TimerVerdict

WORKLOAD = "mlp-mnist"
"""Its steps are short: what is wrong with a clock weighs most there."""

AGAINST_ITSELF_S = 90.0
"""No new round of the race against itself starts after this time: some ten rounds, which tell the spread."""

AGAINST_ITSELF_MARGIN = 0.01
"""Far below the default of 5 %, so that the race is not over before the spread is known."""

RACES = 2
"""One race in twenty names a winner by chance, two in a row one in four hundred."""

SMALLEST_SHARE = 0.001
"""Below a per mille no step time is the same for long."""


def self_test(contenders: tuple[str, ...]) -> bool:
    """Test the timers of these contenders (none: of every available framework); tell whether all is well."""
    with tempfile.TemporaryDirectory(prefix="bakeoff-") as folder:
        timers = _check_timers(contenders, folder)
        sound = [verdict for verdict in timers if verdict.outcome != "failed"]
        # Every label is a contender's own text, but that of a second one of the same text.
        return _fair(sound[0].contender, folder) and len(sound) == len(timers) if sound else False


def _check_timers(contenders: tuple[str, ...], folder: str) -> list[TimerVerdict]:
    """Test each timer and print its checks."""
    from bakeoff.cli.progress import shown, timer_text
    from bakeoff.race import conductor
    from bakeoff.report.sections.timing import TIMER_WORDS
    from bakeoff.spec.request import Request

    request = Request(workload=WORKLOAD, contenders=contenders, data="synthetic", results=folder)
    with shown(sys.stderr) as observer:
        verdicts = conductor.check_timers(request, observer)
    for verdict in verdicts:
        typer.echo(f"timer       {verdict.contender}: {timer_text(verdict)}")
        for check in verdict.checks:
            typer.echo(f"{'':<12}{check.name} {TIMER_WORDS[check.outcome]}: {check.detail}")
    return verdicts


def _fair(contender: str, folder: str) -> bool:
    """Race a contender against itself and print what can be resolved; tell whether no winner stood."""
    for _ in range(RACES):
        outcome = _race_itself(contender, folder)
        if not outcome.verdicts:
            reasons = {one.reason for one in outcome.contenders if one.reason}
            typer.echo(f"resolution  {contender} could not be raced against itself: {'; '.join(sorted(reasons))}")
            return False
        typer.echo(f"resolution  {_resolved(outcome)}")
        if outcome.verdicts[0].verdict not in ("faster", "slower"):
            return True
        typer.echo(f"{'':<12}A winner of {contender} against itself: one such race in twenty may end so by chance.")
    typer.echo(f"{'':<12}A winner each of {RACES} times: this machine as it is now, or bakeoff, is not to be trusted.")
    return False


def _race_itself(contender: str, folder: str) -> Outcome:
    """Race a contender against itself."""
    from bakeoff.cli.progress import shown
    from bakeoff.race import conductor
    from bakeoff.spec.request import Request

    request = Request(
        workload=WORKLOAD,
        contenders=(contender, contender),
        data="synthetic",
        margin=AGAINST_ITSELF_MARGIN,
        budget_s=AGAINST_ITSELF_S,
        self_test=False,
        results=folder,
    )
    with shown(sys.stderr) as observer:
        return conductor.run(request, observer)


def _resolved(outcome: Outcome) -> str:
    """Say what differences this machine can show, and what that rests on."""
    from pathlib import Path

    from bakeoff.judge.comparison import history
    from bakeoff.report.standings import ratio_text
    from bakeoff.report.units import count, rounded
    from bakeoff.stats.boundaries import LOOKS
    from bakeoff.stats.resolution import resolution

    verdict = outcome.verdicts[0]
    differences = [value for value in history(Path(outcome.path))[0].differences if value is not None]
    share = resolution(differences)
    race = f"{verdict.first} against itself, {count(len(differences), 'round')}"
    if share is None:
        return f"cannot be told: {race} in the time there was, and 3 are the fewest"
    ratio = ratio_text(verdict, outcome.comparison.procedure.margin)
    shown = f"about {rounded(100 * share, 1)} %" if share >= SMALLEST_SHARE else "less than 0.1 %"
    return f"this machine can show {shown} in {LOOKS[-1]} rounds ({race}: {verdict.verdict}, ratio {ratio})"
