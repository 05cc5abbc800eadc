"""`bakeoff run --max-batch`: instead of a race, each contender's largest batch."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bakeoff.cli import FAILED, code_of, showing
from bakeoff.cli.flags import as_flags, given_in
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.request import Request

OPTIONS = {
    *("workload", "contenders", "scenario", "batch_size", "size", "device", "gpu", "threads", "precision", "option"),
    *("tier", "data", "budget", "seed", "trial_limit", "results", "resume", "json", "max_batch", "memory", "dry_run"),
    *("max_norm", "noise_multiplier"),
    *("number", "benchmark"),  # of use-case, by which the workload and the scenario are said
}
"""What has a meaning for a search; a race's other options are refused, not passed over."""

LARGEST_BYTES = 2.0**63
"""No machine addresses more."""

_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<prefix>[kMGT]?)(?P<binary>i?)B?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def bytes_of(text: str) -> int:
    """Read a size such as "4GiB", "500MB" or "4G" (decimal)."""
    from bakeoff.race.stages.attempts import LEAST_BYTES

    match = _SIZE.fullmatch(text.strip())
    value = 0.0
    if match:
        base = 1024 if match["binary"] else 1000
        value = float(match["number"]) * base ** _POWERS[match["prefix"].lower()]
    if not 1 <= value < LARGEST_BYTES:
        msg = f"--memory {text!r} is not a size: write 4GiB, 500MB or 4G"
        raise UsageError(msg)
    if value < LEAST_BYTES:
        msg = f"--memory {text!r} is {value:,.0f} bytes, which no step fits into{_meant(match)}"
        raise UsageError(msg)
    return int(value)


def _meant(match: re.Match[str] | None) -> str:
    """Return what a size without its unit may mean; empty where there is a unit."""
    return f"; did you mean {match['number']}GB?" if match and not match["prefix"] else ": write 4GiB, 500MB or 4G"


def wanted(
    context: typer.Context, *, max_batch: bool, memory: str | None, several: bool = False
) -> Callable[..., None] | None:
    """Return the search that `run`'s options ask for instead of a race; None where they ask for none.

    Options that would be passed over are refused: a race's in a search, a search's in a race, several values.
    """
    if not max_batch:
        if memory is None:
            return None
        msg = "--memory is the limit of a search for the largest batch: add --max-batch"
        raise UsageError(msg)
    strange = as_flags(name for name in given_in(context) if name not in OPTIONS)
    if strange:
        msg = f"--max-batch searches a batch size and races nothing: leave out {', '.join(strange)}"
        raise UsageError(msg)
    if several:
        msg = "--max-batch searches for one setting of all options: give each a single value"
        raise UsageError(msg)
    return partial(search, limit_bytes=None if memory is None else bytes_of(memory))


def search(request: Request, *, limit_bytes: int | None, json: bool) -> None:
    """Search, save the report beside the records, and print the answer."""
    from bakeoff.cli.progress import shown
    from bakeoff.cli.studies import noting
    from bakeoff.race import conductor

    places: list[str] = []
    try:
        with shown(sys.stderr if json else sys.stdout, live=not json) as observer:
            outcome = conductor.search_batches(request, noting(observer, places), limit_bytes=limit_bytes)
    except KeyboardInterrupt as interrupt:
        _tell_so_far(places, json=json)
        raise typer.Exit(code_of(interrupt)) from None
    showing.show(outcome, json=json)
    if not any(one.largest for one in outcome.found):
        raise typer.Exit(FAILED)


def _tell_so_far(places: list[str], *, json: bool) -> None:
    """Save and print the report of what is known, where an attempt was finished, and say how to go on."""
    from bakeoff.cli.studies import going_on
    from bakeoff.judge.search import judge_search

    for place in places:
        outcome = judge_search(Path(place))
        if any(one.attempts for one in outcome.found):
            showing.show(outcome, json=json)
        sys.stderr.write(f"interrupted; {going_on(place, outcome.search.plan.command)}\n")
    if not places:
        sys.stderr.write(f"interrupted; {going_on(None, '')}\n")


def find(results: Path, names: list[str]) -> Path | None:
    """Return the search that a report is asked for, with no name the latest result; None where it is none.

    Raises UsageError where it stands among others.
    """
    from bakeoff.store.searches import find_search, latest_search

    if not names:
        return latest_search(results)
    found = [folder for name in names if (folder := find_search(results, name))]
    if found and len(names) > 1:
        msg = f"a search for the largest batch is reported by itself: name {found[0].name} alone"
        raise UsageError(msg)
    return found[0] if found else None
