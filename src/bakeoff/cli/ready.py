"""`bakeoff doctor --device`: whether this machine is ready for races on a device, and else what to do."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from json import dumps
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import typer

from bakeoff.cli.columns import wrapped
from bakeoff.environments.builds import NVIDIA, check_device
from bakeoff.environments.declared import framework, frameworks
from bakeoff.environments.interpreters import available, create_command
from bakeoff.environments.usable import compiled_at_first, is_shared, kernels_for, missing_tools, why_not
from bakeoff.measure.gpu_packages import deciding
from bakeoff.report.called import pasteable
from bakeoff.report.gpus import COMPUTE_MODE, IN_USE, advise_gpu, gpu_line
from bakeoff.report.machine_advice import Advice
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.measure.system_settings import Facts
    from bakeoff.spec.framework import FrameworkInfo
    from bakeoff.spec.probe import ProbeAnswer

VERSION = 1
"""Of the JSON object (docs/json-doctor-device.md)."""

HEAD = 12
"""Columns before what is told."""

NOTES = {
    "mps": "not run by us on Apple's GPUs: rounds run one after another, as macOS does not tell the memory that is "
    "left, and their clocks, power and other processes are not read"
}
"""What is missing on a device, whatever the machine is."""

_COMMAND = re.compile(r"(?P<why>.*): (?P<do>(?:bakeoff|sudo) .*)", re.DOTALL)
"""The end of a reason that is a command."""


class Checked(NamedTuple):
    """One framework, as its interpreter answered."""

    info: FrameworkInfo
    interpreter: str
    answer: ProbeAnswer
    reason: str
    """Why it cannot run on the device; "" where it can."""


class Readiness(NamedTuple):
    """All that was asked, and what there is to do."""

    device: str
    facts: Facts
    now: Facts
    """Of the GPU: what changes from moment to moment."""
    checked: list[Checked]
    absent: dict[str, str]
    """Frameworks that are not installed, with the command that makes their environments."""
    to_do: list[Advice]
    advice: list[Advice]
    """What to set besides: races run without it, with wider intervals."""

    @property
    def is_ready(self) -> bool:
        """Whether nothing is to do."""
        return not self.to_do


def check(device: str, *, gpu: str | None, json: bool) -> bool:
    """Ask machine and frameworks, print what they say and what to do; return whether nothing is to do.

    `gpu` names the GPU, by index or UUID. Raises UsageError for a device that bakeoff does not have, or no such GPU.
    """
    check_device(device)
    if gpu is not None and device != NVIDIA:
        msg = f"--gpu {gpu} names an NVIDIA GPU, and the device is {device}: leave it out, or name --device {NVIDIA}"
        raise UsageError(msg)
    found = asked(device, gpu)
    if json:
        typer.echo(dumps(_data(found), indent=2))
    else:
        _show(found)
    return found.is_ready


def asked(device: str, gpu: str | None = None) -> Readiness:
    """Ask NVML and every framework that has the device, all at once."""
    from bakeoff.measure import gpu_facts
    from bakeoff.measure.gpus import choose
    from bakeoff.measure.machine import describe

    chosen = choose(gpu) if device == NVIDIA else None
    uuid = chosen.gpu.uuid if chosen else ""
    facts = describe(gpu_facts.gpu(uuid) if chosen else None)
    now = gpu_facts.state(uuid) if chosen else {}
    has = [name for name, one in frameworks().items() if one.info.listed and device in _devices(one.info)]
    interpreters, reasons = available(device)
    checked = _checked({name: interpreters[name] for name in has if name in interpreters}, device, facts, uuid)
    absent = {name: create_command(name, _build(name, device)) for name in has if name in reasons}
    advice = advise_gpu(facts, now) if chosen else []
    to_do = [one for one in advice if one.about in (COMPUTE_MODE, IN_USE)]
    to_do += [*_of_machine(device, facts), *_of_frameworks(device, facts, checked, absent)]
    return Readiness(device, facts, now, checked, absent, to_do, [one for one in advice if one not in to_do])


def _devices(info: FrameworkInfo) -> tuple[str, ...]:
    """Return the devices that a framework has at all."""
    return info.options["device"].values if "device" in info.options else ()


def _build(name: str, device: str) -> str:
    """Return the device that the environment of a framework is made for: its own, or the usual one."""
    return device if device in framework(name).info.builds else "cpu"


def _checked(interpreters: dict[str, str], device: str, facts: Facts, uuid: str) -> list[Checked]:
    """Ask every interpreter, at the same time unless the GPU admits one process alone."""
    from bakeoff.environments import probe
    from bakeoff.measure.gpus import variables_for

    def ask(name: str) -> ProbeAnswer:
        folder = framework(name).path
        return probe.probe(interpreters[name], folder, device=device, variables=variables_for(uuid))

    with ThreadPoolExecutor(max_workers=max(1, len(interpreters)) if is_shared(facts) else 1) as pool:
        answers = dict(zip(interpreters, pool.map(ask, interpreters), strict=True))
    found = []
    for name, answer in answers.items():
        info = framework(name).info
        defaults = {option: support.default for option, support in info.options.items()} | {"device": device}
        found.append(Checked(info, interpreters[name], answer, why_not(info, answer, defaults, facts)))
    return found


# --- What is to do ------------------------------------------------------------------------------------------------


def _of_machine(device: str, facts: Facts) -> list[Advice]:
    """Return what to do about the GPU itself."""
    if device != NVIDIA:
        return []
    if "gpu" not in facts:
        from bakeoff.measure.nvml import why_no_gpu

        why, do = why_no_gpu()
        return [Advice(about="gpu", why=f"NVML reports no NVIDIA GPU: {why}", do=do)]
    return []


def _of_frameworks(device: str, facts: Facts, checked: list[Checked], absent: dict[str, str]) -> list[Advice]:
    """Return what to do so that the frameworks which are here can run on the device, and at least one is."""
    if device == NVIDIA and "gpu" not in facts:
        return []  # Without it no framework can say what it lacks besides.
    found = [_advice(one.info.name, one.reason) for one in checked if one.reason]
    for one in checked:
        for need in one.info.needs if not one.reason else ():
            options = {name: values[0] for name, values in need.when.items()}
            lacks = missing_tools(one.info, one.answer, options) if options.get("device") == device else ""
            found += [_advice(one.info.name, lacks)] if lacks else []
    if not checked and absent:
        found.append(Advice(about="frameworks", why="none with this device is here", do=_all_of(absent, device)))
    return found


def _all_of(absent: dict[str, str], device: str) -> str:
    """Return the command that makes the environments of all frameworks that are missing."""
    return create_command(
        " ".join(absent), device if any("--device" in command for command in absent.values()) else "cpu"
    )


def _advice(about: str, reason: str) -> Advice:
    """Return a reason as what to do, with its command where it ends in one."""
    match = _COMMAND.fullmatch(reason)
    return Advice(about=about, why=match["why"], do=match["do"]) if match else Advice(about=about, why=reason, do="")


# --- For people ---------------------------------------------------------------------------------------------------


def _show(found: Readiness) -> None:
    """Print the machine's GPU, a line for each framework, and "ok" or what to do."""
    if "gpu" in found.facts and found.device == NVIDIA:
        _tell(f"gpu {found.facts.get('gpu_index') or 0}", gpu_line(found.facts, found.now))
    if found.device in NOTES:
        _tell(found.device, NOTES[found.device])
    for one in found.checked:
        _tell(one.info.name, _said(one, found))
        typer.echo(f"{'':<{HEAD}}{one.interpreter}")
    for name, command in found.absent.items():
        _tell(name, "not installed here:")
        typer.echo(pasteable(f"{'':<{HEAD}}{command}"))
    for head, several in (("advice", found.advice), ("to do:", found.to_do)):
        for advice in several:
            _tell(head, f"{advice.about}: {advice.why}")
            if advice.do:
                # A command is pasted: it is not broken.
                typer.echo(pasteable(f"{'':<{HEAD}}{advice.do}"))
    if found.is_ready:
        typer.echo("ok")
    sys.stdout.flush()


def _said(one: Checked, found: Readiness) -> str:
    """Return what is known of a framework: versions, what it brings along, and whether it runs on the device."""
    if one.answer.error:
        return one.reason
    versions = ", ".join(f"{name} {version}" for name, version in one.answer.versions.items())
    policy = one.info.options.get("device_memory")
    said = [
        f"{versions}:",
        f"built for CUDA {one.answer.cuda}," if one.answer.cuda else "",
        "".join(f"{name} {version}, " for name, version in deciding(one.answer.packages).items()).rstrip(),
        _kernels(one, found.facts),
        f"device_memory={policy.default}," if policy and not one.reason else "",
        f"runs on {found.device}" if not one.reason else f"does not run on {found.device}",
    ]
    return " ".join(filter(None, said))


def _kernels(one: Checked, facts: Facts) -> str:
    """Return by which kernels it runs on this GPU, and what comes first where the driver compiles them."""
    capability = str(facts.get("gpu_compute_capability") or "")
    if not capability or not one.answer.kernels:
        return ""
    by = kernels_for(capability, one.answer.kernels)
    if slow := compiled_at_first(one.answer, facts):
        return (
            f"no kernels for {capability}: the driver compiles {slow} at the first start, which may take 30 minutes or "
            "longer (bakeoff run ... --trial-limit 1h),"
        )
    return f"kernels for {capability}: {by or 'none'},"


def _tell(name: str, said: str) -> None:
    """Print one subject, in lines that fit."""
    for line in wrapped(said, f"{name:<{HEAD}}" if len(name) < HEAD else f"{name} "):
        typer.echo(pasteable(line))


# --- For programs -------------------------------------------------------------------------------------------------


def _data(found: Readiness) -> dict[str, Any]:
    """Return all of it as one object."""
    capability = str(found.facts.get("gpu_compute_capability") or "")
    return {
        "version": VERSION,
        "device": found.device,
        "ok": found.is_ready,
        "machine": found.facts,
        "now": found.now,
        "frameworks": [
            {
                "name": one.info.name,
                "interpreter": one.interpreter,
                "usable": not one.reason,
                "reason": one.reason,
                "python": one.answer.python or None,
                "versions": one.answer.versions,
                "devices": one.answer.devices,
                "cuda": one.answer.cuda or None,
                "packages": one.answer.packages,
                "kernels": one.answer.kernels,
                "kernels_used": kernels_for(capability, one.answer.kernels) or None if capability else None,
                "tools": one.answer.tools,
            }
            for one in found.checked
        ],
        "absent": found.absent,
        "to_do": msgspec.to_builtins(found.to_do),
        "advice": msgspec.to_builtins(found.advice),
    }
