"""Which options stand on the command line, and how they are written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import typer


def given_in(context: typer.Context) -> list[str]:
    """Return the parameters that the user has written, by their names in Python."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]


def as_flags(names: Iterable[str]) -> list[str]:
    """Return options as they are written on the command line, from their names in Python."""
    return [f"--{name.replace('_', '-')}" for name in names]
