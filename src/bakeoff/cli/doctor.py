"""`bakeoff doctor`: the machine at once, then its noise and the frameworks as they answer, and what to set."""

import platform
import sys
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bakeoff.cli import FAILED, completing, parameters
from bakeoff.cli.columns import wrapped
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bakeoff.measure.neighbours import Neighbour
    from bakeoff.measure.noise import Noise
    from bakeoff.measure.system_settings import Facts
    from bakeoff.report.machine_advice import Advice
    from bakeoff.spec.probe import ProbeAnswer

VERSION = 1
"""Of the JSON object (docs/json-doctor.md)."""

HEAD = 12
"""Columns before what is told."""


def doctor(
    contenders: parameters.Contenders = None,
    *,
    self_test: Annotated[
        bool,
        typer.Option("--self-test", help="Test each contender's timer, and what differences this machine can show."),
    ] = False,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="DEVICE",
            help="cuda or mps: check only whether races can run there; ends in ok, or in what to do and exit code 1.",
            show_default=False,
            autocompletion=completing.option("device"),
        ),
    ] = None,
    gpu: parameters.Gpu = None,
    json: parameters.Json = False,
) -> None:
    """Show the machine, its load now, each framework or why it is unavailable, and what to set before a race."""
    if device is not None:
        if self_test:
            msg = "--device asks what can run there; a self-test names that of each contender: FRAMEWORK:device=cuda"
            raise UsageError(msg)
        from bakeoff.cli import ready

        if not ready.check(device, gpu=gpu, json=json):
            raise typer.Exit(FAILED)
        return
    if contenders and not self_test:
        msg = "contenders are for the self-test: bakeoff doctor --self-test CONTENDER ..."
        raise UsageError(msg)
    if gpu is not None and not self_test:
        msg = "--gpu names the GPU of --self-test's contenders, or of --device cuda: without either every GPU is shown"
        raise UsageError(msg)
    if json and self_test:
        msg = "--self-test prints what it tests while it runs: leave out --json"
        raise UsageError(msg)
    if json:
        typer.echo(dumps(_everything(), indent=2))
        return
    _show()
    if self_test:
        from bakeoff.cli import selftest

        if not selftest.self_test(tuple(contenders or ()), gpu):
            raise typer.Exit(FAILED)


def _show() -> None:
    """Print what is known at once, and then what takes longer as it comes; last what to do."""
    from bakeoff import __version__
    from bakeoff.environments.interpreters import available, parted
    from bakeoff.measure.machine import describe
    from bakeoff.report.machine_advice import advise_calm

    _tell("bakeoff", f"{__version__}, Python {platform.python_version()}, {sys.executable}")
    facts = describe()
    _show_machine(facts)
    interpreters, reasons = available()
    _tell("frameworks", ", ".join(_versions(name, path) for name, path in interpreters.items()) or "none is here")
    for name, reason in reasons.items():
        why, command = parted(reason)
        _tell(name, f"not available: {why}" if not command else why)
        if command:
            # As those of advice, it is pasted: it is not broken.
            typer.echo(pasteable(f"{'':<{HEAD}}{command}"))
    settings = _settings_advice(facts)
    _show_advice(settings)
    # Before the frameworks: importing them is noise.
    noise, neighbours = _watch(told=True)
    _show_noise(noise, neighbours)
    calm = advise_calm(noise, neighbours)
    _show_advice(calm)
    if not (settings or calm):
        _tell("advice", "none: nothing here is known to widen intervals")
    if interpreters:
        _tell("importing", f"{', '.join(interpreters)}, all at once: some seconds")
    for name, answer in _probed(interpreters, facts):
        said = f"cannot be used: {answer.error}"
        if not answer.error:
            versions = ", ".join(f"{package} {version}" for package, version in answer.versions.items())
            said = f"{versions}; devices: {', '.join(answer.devices)}; Python {answer.python}"
        _tell(name, said)
        typer.echo(f"{'':<{HEAD}}{interpreters[name]}")
        if not answer.compiled:
            _tell(
                "",
                "each process compiles all that it imports, for seconds, since Python keeps nothing of it; that ends:",
            )
            typer.echo(f"{'':<{HEAD}}unset PYTHONDONTWRITEBYTECODE")
        _show_idle_gpu(name, answer, facts)


def _show_idle_gpu(name: str, answer: "ProbeAnswer", facts: "Facts") -> None:
    """Print how a framework whose environment is the processor's gets the GPU that is here."""
    from bakeoff.environments.builds import NVIDIA, name_for
    from bakeoff.environments.declared import framework
    from bakeoff.environments.installed import find
    from bakeoff.environments.interpreters import create_command

    info = framework(name).info
    if "gpu" not in facts or NVIDIA not in info.builds or NVIDIA in answer.devices:
        return
    if find(name_for(name, NVIDIA)) is not None:
        _tell("", f"with device={NVIDIA} it runs in {name_for(name, NVIDIA)}:")
        typer.echo(pasteable(f"{'':<{HEAD}}bakeoff doctor --device {NVIDIA}"))
        return
    _tell("", "a GPU is here, and this environment is the processor's:")
    typer.echo(pasteable(f"{'':<{HEAD}}{create_command(name, NVIDIA)}"))


def _tell(name: str, said: str) -> None:
    """Print one subject, in lines that fit; whoever reads it, reads it now."""
    for line in wrapped(said, f"{name:<{HEAD}}" if len(name) < HEAD else f"{name} "):
        typer.echo(pasteable(line))
    sys.stdout.flush()


# --- At once ------------------------------------------------------------------------------------------------------


def _show_machine(facts: "Facts") -> None:
    """Print the machine's facts, and how it is set."""
    from bakeoff.measure.energy import meters
    from bakeoff.report.units import size

    _tell("processor", f"{facts['processor']}, {facts['usable_cores']} of {facts['cores']} processors usable{_quota()}")
    _tell("memory", _memory(facts))
    hypervisor = ", on a hypervisor" if facts["hypervisor"] else ""
    _tell("system", f"{facts['system']} {facts['kernel']}, {facts['architecture']}{hypervisor}")
    _show_gpus()
    available, reason = meters("cuda" if "gpu" in facts else "cpu")
    _tell("energy", f"not available here, {reason}" if reason else ", ".join(meter.name for meter in available))
    now = _now()
    shown = {name: "unknown" if value is None else value for name, value in (facts | now).items()}
    swap = now["swap_bytes"]
    swap_text = "swap unknown" if swap is None else f"swap {size(int(swap))}" if swap else "no swap"
    _tell("clock", f"{shown['clock_mhz']} MHz now, governor {shown['governor']}, turbo {shown['turbo']}")
    _tell(
        "kernel",
        f"huge pages {shown['huge_pages']}, NUMA nodes {shown['numa_nodes']} (balancing {shown['numa_balancing']}), "
        f"sibling threads {shown['sibling_threads']}, addresses {shown['address_layout']}, {swap_text}",
    )


def _show_gpus() -> None:
    """Print every GPU: what it is, how it is set, and what goes on on it."""
    from bakeoff.report.gpus import gpu_line

    found = _gpus()
    for place, facts, now in found:
        _tell(f"gpu {place}", gpu_line(facts, now))
    if not found:
        _tell("gpu", "none that NVML reports")


def _gpus() -> "list[tuple[str, Facts, Facts]]":
    """Return every GPU's place, facts and state; one that does not answer is left out."""
    from bakeoff.measure import gpu_facts
    from bakeoff.measure.gpus import all_gpus
    from bakeoff.spec.errors import UnavailableError

    try:
        found = [(gpu.place, gpu_facts.gpu(gpu.uuid), gpu_facts.state(gpu.uuid)) for gpu in all_gpus()]
    except UnavailableError:
        return []
    return [one for one in found if one[1]]


def _now() -> dict[str, Any]:
    """Return what may change on the same machine."""
    from bakeoff.measure.system_settings import weather

    return dict(weather())


def _quota() -> str:
    """Return the quota of a container or a batch system; empty where there is none."""
    from bakeoff.measure import cgroups

    quota = cgroups.processors()
    return "" if quota is None else f", a quota of {quota:g} processors"


def _memory(facts: "Facts") -> str:
    """Return the machine's memory, and how much of it may be taken."""
    from bakeoff.measure import cgroups
    from bakeoff.measure.machine import available_memory_bytes
    from bakeoff.report.units import size

    total, limit = facts["memory_bytes"], cgroups.free_memory_bytes()
    memory = total if isinstance(total, int) else None
    container = "" if limit is None else f"; a container's limit leaves {size(limit)}"
    return f"{size(memory)}, {size(available_memory_bytes())} available{container}"


def _versions(name: str, interpreter: str) -> str:
    """Return a framework with its version, from what lies beside its interpreter."""
    from bakeoff.environments.declared import framework
    from bakeoff.environments.interpreters import versions_beside

    found = versions_beside(interpreter, framework(name).info)
    return next((f"{package} {version}" for package, version in found.items()), name)


def _settings_advice(facts: "Facts") -> "list[Advice]":
    """Return what to set on this machine."""
    import os

    from bakeoff.measure import cgroups
    from bakeoff.measure.cores import one_of_each_core
    from bakeoff.measure.machine import available_memory_bytes
    from bakeoff.report.gpus import advise_gpu
    from bakeoff.report.machine_advice import ProcessLimits, advise

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = ProcessLimits(
        processors=cgroups.processors(),
        usable=usable,
        available_bytes=available_memory_bytes(),
        one_of_each_core=one_of_each_core(),
    )
    return [*advise(facts, _now(), limits), *(one for _, *gpu in _gpus() for one in advise_gpu(*gpu))]


def _show_advice(found: "Iterable[Advice]") -> None:
    """Print what to do, and under it why."""
    for advice in found:
        _tell("advice", f"{advice.about}: {advice.why}")
        # A command is pasted: it is not broken.
        typer.echo(pasteable(f"{'':<{HEAD}}{advice.do}"))


# --- What takes longer --------------------------------------------------------------------------------------------


def _watch(*, told: bool) -> "tuple[Noise, list[Neighbour]]":
    """Watch the machine for a moment: how busy others are, and who."""
    from bakeoff.measure import noise
    from bakeoff.measure.neighbours import watched

    if told and sys.stdout.isatty():
        typer.echo(f"load now    watching for {noise.PROBE_S:g} s", nl=False)
    with watched() as neighbours:
        seen = noise.probe()
    if told and sys.stdout.isatty():
        typer.echo("\r", nl=False)
    return seen, neighbours


def _show_noise(noise: "Noise", neighbours: "list[Neighbour]") -> None:
    """Print how calm the machine is, and who is busiest."""
    from bakeoff.report.units import percent

    shares = (
        ("other processes", noise.foreign_share),
        ("other machines", noise.steal_share),
        ("waiting for a processor", noise.pressure_share),
    )
    parts = [f"{name} {'unknown' if value is None else percent(value)}" for name, value in shares]
    load = "unknown" if noise.load is None else f"{noise.load:.2f}"
    state = {True: "calm", False: "not calm", None: "unknown"}[noise.calm]
    _tell("load now", f"{state}: {', '.join(parts)}, load {load}")
    if neighbours:
        from bakeoff.report.machine_advice import named

        _tell("busiest", f"{', '.join(map(named, neighbours))}")


def _probed(interpreters: dict[str, str], facts: "Facts") -> "Iterator[tuple[str, ProbeAnswer]]":
    """Import all frameworks at once, each in its interpreter, and yield their answers as they come."""
    from bakeoff.environments.builds import NVIDIA, PROCESSOR
    from bakeoff.environments.declared import frameworks
    from bakeoff.environments.probe import probe_all

    declared = frameworks()
    asked = {name: (path, declared[name].path) for name, path in interpreters.items()}
    # Beside a GPU they are set up as workers on it: by themselves some would take most of its memory.
    return probe_all(asked, NVIDIA if "gpu" in facts else PROCESSOR)


# --- For programs -------------------------------------------------------------------------------------------------


def _everything() -> dict[str, Any]:
    """Return all that is shown, as one object."""
    import msgspec

    from bakeoff import __version__
    from bakeoff.environments.interpreters import available
    from bakeoff.measure import cgroups
    from bakeoff.measure.energy import meters
    from bakeoff.measure.machine import available_memory_bytes, describe
    from bakeoff.report.machine_advice import advise_calm

    facts = describe()
    meter, reason = meters("cuda" if "gpu" in facts else "cpu")
    interpreters, reasons = available()
    noise, neighbours = _watch(told=False)
    answers = dict(_probed(interpreters, facts))
    advice = [*_settings_advice(facts), *advise_calm(noise, neighbours)]
    return {
        "version": VERSION,
        "bakeoff": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "machine": facts,
        "now": _now(),
        "gpus": [{"index": place, **gpu, **now} for place, gpu, now in _gpus()],
        "limits": {
            "processors": cgroups.processors(),
            "memory_free_bytes": cgroups.free_memory_bytes(),
            "available_bytes": available_memory_bytes(),
        },
        "energy": {"meters": [one.name for one in meter], "reason": reason},
        "noise": msgspec.to_builtins(noise) | {"calm": noise.calm},
        "busiest": msgspec.to_builtins(neighbours),
        "frameworks": [
            {"name": name, "interpreter": path, "reason": answers[name].error, **_answer(answers[name])}
            for name, path in interpreters.items()
        ]
        + [{"name": name, "interpreter": None, "reason": why, **_answer(None)} for name, why in reasons.items()],
        "advice": msgspec.to_builtins(advice),
    }


def _answer(answer: "ProbeAnswer | None") -> dict[str, Any]:
    """Return what a framework said when it was imported."""
    known = answer is not None and not answer.error
    return {
        "usable": known,
        "python": answer.python if answer and known else None,
        "versions": answer.versions if answer and known else {},
        "devices": answer.devices if answer and known else [],
        "compiled": answer.compiled if answer and known else None,
    }
