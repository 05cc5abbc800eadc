"""`bakeoff list`: what there is in a screen, each kind by its names, and each by its details."""

from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bakeoff.cli import parameters
from bakeoff.cli.completing import one_of
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("workloads", "frameworks", "options", "studies")


def list_what(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="|".join(KINDS),
            help="A summary of all if not said.",
            show_default=False,
            autocompletion=one_of(KINDS),
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="One of them, with all that is known of it; a workload may be a file, and of options a framework "
            "shows all that it has.",
            show_default=False,
        ),
    ] = None,
    *,
    json: parameters.Json = False,
) -> None:
    """List the workloads, frameworks, options and studies that there are, and tell of one by its name."""
    from bakeoff.cli import listed

    if what is not None and what not in KINDS:
        kind = "kind"
        raise UnknownNameError(kind, what, KINDS)
    if json:
        typer.echo(dumps(_content(what, name), indent=2))
        return
    lines: Callable[[], list[str]]
    if what is None:
        lines = listed.summary
    elif name is None:
        lines = listed.SHORT[what]
    else:
        lines = lambda: listed.details(what, name)  # noqa: E731 - chosen here, called once below
    for line in lines():
        typer.echo(pasteable(line))


def _content(what: str | None, name: str | None) -> Any:
    """Return what --json prints: everything by its kind, all of a kind, or what has this name."""
    from bakeoff.cli import entries

    if what is None:
        return {kind: gather() for kind, gather in entries.GATHER.items()}
    return entries.GATHER[what]() if name is None else entries.named(what, name)
