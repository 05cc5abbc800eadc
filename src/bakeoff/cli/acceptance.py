"""`bakeoff acceptance`: a device's first hour as one command, and what to send in."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import FAILED, code_of, completing, parameters, showing
from bakeoff.spec.errors import UsageError
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from bakeoff.acceptance.run import AcceptanceRequest, CheckEvent
    from bakeoff.race.progress import Observer
    from bakeoff.spec.acceptance import AcceptanceOutcome


Device = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE",
        help="What is to be believed: cuda, mps or cpu; needed unless --read is given.",
        show_default=False,
        autocompletion=completing.option("device"),
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="A first look: the smallest workload alone, two seeds, three rounds.")
]
Budget = Annotated[
    str, typer.Option(metavar="TIME", help="No check begins after this time, and each has its share of it.")
]
Only = Annotated[
    str | None,
    typer.Option(
        metavar="CHECK[,...]",
        help="Make these checks alone now, by the names of their folders: timers, ping-pong.",
        show_default=False,
    ),
]
Again = Annotated[bool, typer.Option("--again", help="Make checks again that failed or were inconclusive.")]
Bundle = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where the bundle to send in is written: FILE.tar.gz; beside the records if not said.",
        show_default=False,
    ),
]
Read = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Run nothing: show what a bundle says.", show_default=False)
]


def acceptance(
    contenders: parameters.Contenders = None,
    *,
    device: Device = None,
    gpu: parameters.Gpu = None,
    size: parameters.Size = "full",
    quick: Quick = False,
    budget: Budget = "1h",
    only: Only = None,
    again: Again = False,
    seed: parameters.Seed = 0,
    results: parameters.Results = "results",
    bundle: Bundle = None,
    read: Read = None,
    json: parameters.Json = False,
) -> None:
    """Check by check, prove or refuse that races on a device can be believed; what is done is not done again."""
    if read is not None:
        _show_bundle(read, json=json)
        return
    from bakeoff.acceptance.bundle import check_writable
    from bakeoff.acceptance.run import AcceptanceRequest
    from bakeoff.spec.options import OPTIONS

    valid = OPTIONS["device"].values
    if device not in valid:
        msg = f"--device {device}: valid: {', '.join(valid)}" if device else f"--device is needed: {', '.join(valid)}"
        raise UsageError(msg)

    if bundle is not None:
        check_writable(bundle)
    asked = AcceptanceRequest(
        contenders=tuple(contenders or ()),
        device=device,
        gpu=gpu,
        size=size,
        quick=quick,
        seed=seed,
        budget_s=parameters.seconds(budget, "--budget"),
        only=tuple(only.split(",")) if only else (),
        again=again,
        results=results,
        command=_whole(sys.argv[1:]),
    )
    outcome = _accepted(asked, bundle, json=json)
    if not outcome.acceptance.has_passed:
        raise typer.Exit(FAILED)


def _whole(arguments: Sequence[str]) -> str:
    """Return the command that makes every check, whichever are made now."""
    words, kept = iter(arguments), ["bakeoff"]
    for word in words:
        if word == "--only":
            next(words, None)
        elif word != "--again" and not word.startswith("--only="):
            kept.append(word)
    return shlex.join(kept)


def _accepted(asked: AcceptanceRequest, bundle: Path | None, *, json: bool) -> AcceptanceOutcome:
    """Make the checks and show the outcome; after Ctrl-C show what is known, say how to go on, and end."""
    from bakeoff.acceptance.run import AcceptanceStarted, accept, read_outcome
    from bakeoff.acceptance.setting import Launching

    stream = sys.stderr if json else sys.stdout
    places: list[str] = []

    def observe(event: CheckEvent) -> None:
        if isinstance(event, AcceptanceStarted):
            places.append(event.path)
        _tell(event, stream)

    @contextmanager
    def watching() -> Iterator[Observer]:
        from bakeoff.cli.progress import shown

        with shown(stream, live=not json) as observer:
            yield observer

    try:
        outcome = accept(asked, observe, launching=Launching(watching=watching))
    except KeyboardInterrupt as interrupt:
        for place in places:
            _finish(read_outcome(Path(place)), bundle, json=json)
        from bakeoff.report.called import pasteable

        sys.stderr.write(f"interrupted; go on with\n  {pasteable(asked.command)}\n")
        raise typer.Exit(code_of(interrupt)) from None
    _finish(outcome, bundle, json=json)
    return outcome


def _finish(outcome: AcceptanceOutcome, bundle: Path | None, *, json: bool) -> None:
    """Show an outcome and write its bundle."""
    from bakeoff.acceptance.bundle import write_bundle

    showing.show(outcome, json=json)
    path = write_bundle(outcome, bundle)
    typer.echo(f"bundle    {path} (names of people, machines and folders taken out: to be sent in)", err=json)


def _tell(event: CheckEvent, stream: TextIO) -> None:
    """Print a line about a check that begins or has ended."""
    from bakeoff.acceptance.run import CheckEnded, CheckStarted
    from bakeoff.report.units import elapsed

    match event:
        case CheckStarted(number, of, check, left_s):
            line = f"[{number}/{of}] {check.title} ({elapsed(left_s)} left): {check.expected}"
        case CheckEnded(number, of, check, left_s):
            line = f"[{number}/{of}] {check.title}: {check.state}: {check.found}"
        case _:
            state = f", {event.done} done before" if event.done else ""
            line = f"{len(event.acceptance.checks)} checks{state}; records in {event.path}"
    stream.write(f"{plain(line)}\n")
    stream.flush()


def _show_bundle(path: Path, *, json: bool) -> None:
    """Show what a bundle says; it is somebody else's, and nothing is written."""
    from bakeoff.acceptance.bundle import read_bundle
    from bakeoff.report.pages import page_of

    showing.print_pages([page_of(read_bundle(path))], json=json)


def find(results: Path, names: list[str]) -> AcceptanceOutcome | None:
    """Return the acceptance that a report names; None where it is none. Raises UsageError where it is not alone."""
    from bakeoff.acceptance.run import read_outcome
    from bakeoff.store.acceptances import find_acceptance

    found = [folder for name in names if (folder := find_acceptance(results, name))]
    if found and len(names) > 1:
        msg = f"an acceptance is reported by itself: name {found[0].name} alone"
        raise UsageError(msg)
    return read_outcome(found[0]) if found else None
