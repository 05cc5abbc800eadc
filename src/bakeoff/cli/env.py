"""`bakeoff env`: one environment for each framework."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import completing
from bakeoff.cli.columns import wrapped
from bakeoff.report.called import pasteable

if TYPE_CHECKING:
    from bakeoff.environments.builds import Choice
    from bakeoff.environments.declared import Framework
    from bakeoff.environments.plan import EnvironmentPlan

INDENT = "    "

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
        typer.Option(metavar="FILE", help="Pins of your own; NumPy and msgspec are added.", show_default=False),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="DEVICE",
            help="cpu, or cuda for NVIDIA's GPUs: an environment FRAMEWORK-cuda beside the usual one, which contenders "
            "with device=cuda find by themselves; what NVML reports of this machine decides, if not said.",
            show_default=False,
            autocompletion=completing.option("device"),
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Fetch and make nothing: print what would be made, and from which pins.")
    ] = False,
) -> None:
    """Make environments with pip, as each framework pins them for a device; what is there stays."""
    from bakeoff.environments.declared import framework
    from bakeoff.environments.plan import parse_version, planned
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
    named = [(text, declared) for text, (declared, _) in zip(frameworks, wanted, strict=True)]
    choices = _choices(named, device, pins_are_own=requirements is not None)
    plans = [
        planned(declared, name=name, requirements=requirements, version=version, device=choice.device)
        for (declared, version), choice in zip(wanted, choices, strict=True)
    ]
    _tell_choices(plans, choices)
    (_tell_plans if dry_run else _make)(plans)


def _make(plans: "list[EnvironmentPlan]") -> None:
    """Make the environments, as many at a time as there are processors, and tell how far each is."""
    from bakeoff.environments.create import make_all
    from bakeoff.measure.machine import usable_cores
    from bakeoff.race.workers.guard import guarded, marked
    from bakeoff.race.workers.process import MARK

    # When this process dies, pip and what it has started end, too.
    with guarded(MARK), marked(MARK):
        make_all(plans, typer.echo, at_once=usable_cores())


def _choices(wanted: "list[tuple[str, Framework]]", asked: str | None, *, pins_are_own: bool) -> "list[Choice]":
    """Return for which device each framework's environment is made, and why.

    Raise UsageError for each that cannot be, with the command that makes the others.
    """
    from bakeoff.environments.builds import PROCESSOR, Choice, check_device, chosen
    from bakeoff.environments.interpreters import create_command
    from bakeoff.measure.gpu_facts import gpu
    from bakeoff.spec.errors import UsageError

    if pins_are_own:  # What they need of a driver is not known here.
        check_device(asked or PROCESSOR)
        return [Choice(device=asked or PROCESSOR, why="whatever its own file brings") for _ in wanted]
    if asked is not None:
        check_device(asked)
    facts, choices, problems = gpu(), [], {}
    for name, declared in wanted:
        try:
            choices.append(chosen(declared, asked, facts))
        except UsageError as error:
            problems[name] = str(error)
    if problems:
        others = " ".join(name for name, _ in wanted if name not in problems)
        hint = [f"What can be made: {create_command(others, asked or PROCESSOR)}"] if others else []
        raise UsageError("\n".join([*dict.fromkeys(problems.values()), *hint]))
    return choices


def _tell_choices(plans: "list[EnvironmentPlan]", choices: "list[Choice]") -> None:
    """Print for which device environments are made, and why."""
    for choice in dict.fromkeys(choices):
        names = [plan.name for plan, one in zip(plans, choices, strict=True) if one == choice]
        for told in wrapped(f"{', '.join(names)}: for {choice.device}, {choice.why}"):
            typer.echo(pasteable(told))


def _tell_plans(plans: "list[EnvironmentPlan]") -> None:
    """Print what would be made, from which pins, how large it is and where it would be."""
    from bakeoff.environments.installed import home
    from bakeoff.environments.plan import already_made, free_bytes

    sizes_mb: list[int] = []
    for plan in plans:
        if made := already_made(plan):
            typer.echo(f"{plan.name}: already there ({made.path})")
            continue
        typer.echo(f"{plan.name}: would be made in {home() / plan.name}")
        typer.echo(f"  from {plan.requirements}")
        for line in plan.lines():
            typer.echo(f"{INDENT}{line}")
        sizes_mb += _tell_size(plan)
    # Pip keeps what it has fetched until it is unpacked, and in its cache.
    most_gb, free_gb = sum(sizes_mb) / 1e3, free_bytes() / 1e9
    if not sizes_mb:
        typer.echo("Nothing was fetched or made.")
        return
    total = f"In all up to {most_gb:.1f} GB with what pip keeps of its downloads, of {free_gb:.0f} GB that are free"
    short = ": that is too little" if most_gb > free_gb else ""
    for told in wrapped(f"{total}{short}. Nothing was fetched or made."):
        typer.echo(told)


def _tell_size(plan: "EnvironmentPlan") -> list[int]:
    """Print how large an environment is, and where that is known from; return what is fetched and installed, in MB."""
    size = plan.size()
    if size is None:
        typer.echo("  how large that is is not known here")
        return []
    fetched = f"{size.download_mb / 1e3:.2f} GB to fetch, " if size.download_mb else ""
    typer.echo(f"  {fetched}{size.installed_mb / 1e3:.2f} GB on disk")
    for told in wrapped(size.source, INDENT) if size.source else ():
        typer.echo(told)
    return [size.download_mb or 0, size.installed_mb]


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
        facts = [packages, f"for {info.device}", f"Python {info.python}", size(info.size_bytes), info.created_at]
        typer.echo(f"{environment.path.name:<20}{'; '.join(facts)}")
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
