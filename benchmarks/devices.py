"""Whether the frameworks of a benchmark can use the device that it is asked to measure, asked before anything is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.environments.declared import framework
from bakeoff.environments.interpreters import resolve
from bakeoff.environments.probe import probe
from bakeoff.environments.usable import why_not
from bakeoff.measure import gpu_facts
from bakeoff.spec.contender import Contender
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

DEVICES = ("cpu", "cuda")


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark be asked for a device; cuda was not run by us."""
    parser.add_argument("--device", choices=DEVICES, default=DEVICES[0], help="where steps run")


def check(parser: argparse.ArgumentParser, frameworks: Iterable[str], device: str) -> None:
    """End with what is missing where a framework's environment cannot use the device; a processor is always there."""
    if device == DEVICES[0]:
        return
    missing = [f"{name}: {why}" for name in frameworks if (why := _why_not(name, device))]
    if missing:
        parser.error(f"--device {device} cannot be measured here:\n" + "\n".join(missing))


def _why_not(name: str, device: str) -> str:
    """Return why a framework cannot use a device, in the words of a race; empty where it can."""
    declared = framework(name)
    try:
        interpreter = resolve(Contender(framework=name, label=name), declared, device)
    except UnavailableError as error:
        return str(error)
    answer = probe(interpreter, declared.path, device=device)
    return why_not(declared.info, answer, {"device": device}, gpu_facts.gpu())
