"""`bakeoff env`: one environment for each framework."""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli import completing
from bakeoff.report.called import pasteable

app = typer.Typer(help="Make, list and remove environments of frameworks.", rich_markup_mode=None)


@app.command(short_help="Make environments with pip, of pinned packages.")
def create(
    frameworks: Annotated[
        list[str],
        typer.Argument(
            metavar="FRAMEWORK[@VERSION]",
            help="From `bakeoff list frameworks`; with a version, another environment, that FRAMEWORK@VERSION races.",
            autocompletion=completing.frameworks,
        ),
    ],
    *,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Another environment beside the usual one: FRAMEWORK@NAME races it.",
            show_default=False,
        ),
    ] = None,
    requirements: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What to install instead of the framework's own pins.", show_default=False),
    ] = None,
) -> None:
    """Make environments with pip, as each framework's requirements.txt pins them; what is there stays."""
    from bakeoff.environments.create import make_environment, parse_version
    from bakeoff.environments.declared import framework
    from bakeoff.race.workers.guard import guarded, marked
    from bakeoff.race.workers.process import MARK
    from bakeoff.spec.errors import UsageError

    asked = [parse_version(text) for text in frameworks]
    if name is not None and (len(asked) > 1 or asked[0][1]):
        msg = "--name is for one framework at a time, and without a version"
        raise UsageError(msg)
    if requirements is not None and name is None:
        msg = "--requirements needs --name, so that the usual environment keeps its pins"
        raise UsageError(msg)
    # All names are looked up before the first environment is made.
    wanted = [(framework(each), version) for each, version in asked]
    # When this process dies, pip and what it has started end, too.
    with guarded(MARK), marked(MARK):
        for declared, version in wanted:
            make_environment(declared, typer.echo, name=name, requirements=requirements, version=version)


@app.command("list")
def list_made() -> None:
    """List the environments that bakeoff has made."""
    from bakeoff.environments.declared import frameworks
    from bakeoff.environments.installed import home, installed
    from bakeoff.report.units import size

    all_declared = frameworks()
    environments = installed()
    for environment in environments:
        info = environment.info
        declared = all_declared.get(info.framework)
        versions = environment.versions(declared.info.distributions) if declared else {}
        packages = ", ".join(f"{name} {version}" for name, version in versions.items()) or info.framework
        typer.echo(
            f"{environment.path.name:<20}{packages}; Python {info.python}; {size(info.size_bytes)}; {info.created_at}"
        )
        typer.echo(f"{'':<20}{environment.path}")
    if not environments:
        typer.echo(pasteable(f"none in {home()}; make one: bakeoff env create FRAMEWORK"))


@app.command()
def remove(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME", help="From `bakeoff env list`.", autocompletion=completing.environments),
    ],
) -> None:
    """Remove environments that bakeoff has made."""
    from bakeoff.environments.create import remove_environment

    for name in names:
        typer.echo(f"removed {remove_environment(name)}")
