"""`bakeoff run --why`: behind a race, what its gaps consist of, and the suspects raced."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bakeoff.cli import code_of, showing
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.race.budget import Stopwatch
    from bakeoff.spec.request import Request


def check(request: "Request", *, json: bool, dry_run: bool, alone: bool) -> None:
    """Raise UsageError for what goes not together with an explanation, and for one contender alone."""
    from bakeoff.race.pairs import check_pair

    if not alone:
        msg = "--why explains one comparison: name one value of each option"
        raise UsageError(msg)
    if dry_run:
        msg = "--dry-run tells of the race alone: leave --why out, or call bakeoff explain ... --dry-run"
        raise UsageError(msg)
    if json:
        msg = "--why prints a second page, and --json is one object: leave --why out, and then bakeoff explain --json"
        raise UsageError(msg)
    check_pair(request)


def tell(outcome: "Outcome", request: "Request", watch: "Stopwatch") -> None:
    """Explain a comparison that was run just now, in what is left of its time budget, and show the page."""
    from bakeoff.cli.progress import shown
    from bakeoff.judge.explain_again import explaining_command
    from bakeoff.judge.explained import explain
    from bakeoff.race import explaining
    from bakeoff.race.budget import with_budget
    from bakeoff.report.called import pasteable

    folder = Path(outcome.path)
    left = with_budget(request, watch.left_s())
    try:
        with shown(sys.stdout, live=True) as observer:
            explaining.explain_race(folder, left, observer)
    except KeyboardInterrupt as interrupt:
        sys.stderr.write(
            f"interrupted; go on with\n  {pasteable(explaining_command(outcome.comparison, outcome.path))}\n"
        )
        raise typer.Exit(code_of(interrupt)) from None
    showing.show(explain(folder), json=False)
