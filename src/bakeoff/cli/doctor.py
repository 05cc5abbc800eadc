"""`bakeoff doctor`: the machine, its noise now, and the frameworks or why they cannot be used."""

import platform
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import FAILED, parameters
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.measure.system_settings import Facts


def doctor(
    contenders: parameters.Contenders = None,
    *,
    self_test: Annotated[
        bool,
        typer.Option("--self-test", help="Test each contender's timer, and what differences this machine can show."),
    ] = False,
) -> None:
    """Show the machine, its noise now, and each framework or why it is unavailable."""
    from bakeoff import __version__

    if contenders and not self_test:
        msg = "contenders are for the self-test: bakeoff doctor --self-test CONTENDER ..."
        raise UsageError(msg)
    typer.echo(f"bakeoff     {__version__}, Python {platform.python_version()}, {sys.executable}")
    _show_machine()
    # Before the frameworks: importing them is noise.
    _show_noise()
    _show_frameworks()
    if self_test:
        from bakeoff.cli import selftest

        if not selftest.self_test(tuple(contenders or ())):
            raise typer.Exit(FAILED)


def _show_machine() -> None:
    """Print the machine's facts."""
    from bakeoff.measure.energy import meters
    from bakeoff.measure.machine import available_memory_bytes, describe
    from bakeoff.report.units import size

    facts = describe()
    typer.echo(f"processor   {facts['processor']}, {facts['usable_cores']} of {facts['cores']} processors usable")
    memory, free = facts["memory_bytes"], available_memory_bytes()
    typer.echo(f"memory      {size(memory if isinstance(memory, int) else None)}, {size(free)} available")
    hypervisor = ", on a hypervisor" if facts["hypervisor"] else ""
    typer.echo(f"system      {facts['system']} {facts['kernel']}, {facts['architecture']}{hypervisor}")
    gpu = f"{facts['gpu']}, driver {facts['gpu_driver']}" if "gpu" in facts else "none that NVML reports"
    typer.echo(f"gpu         {gpu}")
    available, reason = meters(("cpu", "cuda") if "gpu" in facts else ("cpu",))
    energy = f"not available here, {reason}" if reason else ", ".join(meter.name for meter in available)
    typer.echo(f"energy      {energy}")
    _show_settings(facts)


def _show_settings(facts: "Facts") -> None:
    """Print how the kernel and the processor are set, with notes on settings that may decide a comparison."""
    from bakeoff.measure.system_settings import weather
    from bakeoff.report.units import size
    from bakeoff.report.words import advice, remarks

    now = weather()
    shown = {name: "unknown" if value is None else value for name, value in (facts | now).items()}
    swap = now["swap_bytes"]
    swap_text = "swap unknown" if swap is None else f"swap {size(int(swap))}" if swap else "no swap"
    typer.echo(f"clock       {shown['clock_mhz']} MHz now, governor {shown['governor']}, turbo {shown['turbo']}")
    typer.echo(
        f"kernel      huge pages {shown['huge_pages']}, NUMA nodes {shown['numa_nodes']} (balancing "
        f"{shown['numa_balancing']}), sibling threads {shown['sibling_threads']}, addresses "
        f"{shown['address_layout']}, {swap_text}"
    )
    for sentence in remarks(facts) + advice(facts):
        typer.echo(f"{'':<12}note: {sentence}")


def _show_noise() -> None:
    """Watch the machine for a moment and print how calm it is."""
    from bakeoff.measure.noise import PROBE_S, probe

    typer.echo(f"noise now   watching for {PROBE_S:g} s", nl=not sys.stdout.isatty())
    noise = probe()
    parts = [
        f"{name} {_percent(value)}"
        for name, value in (
            ("foreign load", noise.foreign_share),
            ("stolen", noise.steal_share),
            ("waiting for a processor", noise.pressure_share),
        )
    ]
    load = "unknown" if noise.load is None else f"{noise.load:.2f}"
    state = {True: "calm", False: "not calm", None: "unknown"}[noise.calm]
    start = "\r" if sys.stdout.isatty() else ""
    typer.echo(f"{start}noise now   {state}: {', '.join(parts)}, load {load}")


def _percent(share: float | None) -> str:
    """Return a share in percent; "unknown" where this system does not report it."""
    from bakeoff.report.units import percent

    return "unknown" if share is None else percent(share)


def _show_frameworks() -> None:
    """Import each framework in its interpreter, one after another, and print its versions and devices."""
    from bakeoff.environments.declared import frameworks
    from bakeoff.environments.interpreters import available
    from bakeoff.environments.probe import probe

    interpreters, reasons = available()
    declared = frameworks()
    for name in sorted(interpreters | reasons):
        if name in reasons:
            typer.echo(pasteable(f"{name:<12}not available: {reasons[name]}"))
            continue
        answer = probe(interpreters[name], declared[name].path)
        if answer.error:
            typer.echo(pasteable(f"{name:<12}cannot be used: {answer.error}"))
        else:
            versions = ", ".join(f"{package} {version}" for package, version in answer.versions.items())
            typer.echo(f"{name:<12}{versions}; devices: {', '.join(answer.devices)}; Python {answer.python}")
        typer.echo(f"{'':<12}{interpreters[name]}")
