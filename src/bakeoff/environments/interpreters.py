"""Which interpreter runs a contender: the current one, one by `bakeoff env create`, or one that the user names."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.environments.builds import PROCESSOR, name_for
from bakeoff.environments.declared import frameworks
from bakeoff.environments.installed import find, installed
from bakeoff.spec.bounded import at_home
from bakeoff.spec.errors import UnavailableError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from bakeoff.environments.declared import Framework
    from bakeoff.spec.contender import Contender
    from bakeoff.spec.framework import FrameworkInfo


def resolve(contender: Contender, framework: Framework, device: str = PROCESSOR) -> str:
    """Return the path of the interpreter in which a contender runs on a device.

    Raise UsageError where the contender names one that does not exist, and UnavailableError where it names none and
    the framework is not installed.
    """
    if framework.problem:
        raise UnavailableError(framework.problem)
    if contender.environment is None:
        return _find(framework.info, device)
    if os.sep in contender.environment or contender.environment.startswith("~"):
        return _by_path(contender.label, at_home(contender.environment))
    return _by_name(contender, framework.info, device)


NOT_INSTALLED = "not installed here"
"""The start of the reason of a framework that nothing is amiss with: it was never installed."""


def available(device: str = PROCESSOR) -> tuple[dict[str, str], dict[str, str]]:
    """Return, by the names of all listed frameworks, the interpreters of those available and the others' reasons.

    On a device, a framework's environment for it comes first; whether any other can use it, only a probe tells.
    """
    interpreters: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for name, framework in frameworks().items():
        if framework.problem:
            reasons[name] = framework.problem
        elif framework.info.listed:
            try:
                interpreters[name] = _find(framework.info, device)
            except UnavailableError as error:
                reasons[name] = str(error)
    return interpreters, reasons


_CREATE = ": bakeoff env create "
"""Between a reason and its framework's name: the end is a command, to be pasted."""


def parted(reason: str) -> tuple[str, str]:
    """Return why a framework is not available, and the command that mends it; "" where there is none."""
    why, create, name = reason.rpartition(_CREATE)
    return (f"{why}:", f"{create.removeprefix(': ')}{name}") if create else (reason, "")


def create_command(name: str, device: str = PROCESSOR) -> str:
    """Return the command that makes a framework's environment for a device."""
    return f"bakeoff env create {name}" + ("" if device == PROCESSOR else f" --device {device}")


def _find(info: FrameworkInfo, device: str) -> str:
    """Return the interpreter of the environment for a device, the current one if it has the framework, or the usual.

    One for another device is the last: the processor is there in each of them.
    """
    if device in info.builds and (own := made_for(info, device)):
        return own
    lacking = [module for module in (info.module, *info.companions) if module and not _is_here(module)]
    if not lacking:
        return sys.executable
    for name in (info.name, *(name_for(info.name, other) for other in info.builds)):
        if made := _made(info, name):
            return made
    command = create_command(info.name, device if device in info.builds else PROCESSOR)
    remedy = f"name an interpreter, {info.name}@/path/to/python, or make one: {command}"
    if info.module in lacking:
        msg = f"{NOT_INSTALLED}; {remedy}"
    else:
        msg = f"installed here without {' and '.join(lacking)}: install that; {remedy}"
    raise UnavailableError(msg)


def made_for(info: FrameworkInfo, device: str) -> str:
    """Return the interpreter of the environment that was made for a framework on a device; "" where there is none."""
    return _made(info, name_for(info.name, device))


def _made(info: FrameworkInfo, name: str) -> str:
    """Return the interpreter of a framework's environment of this name; "" where there is none."""
    environment = find(name)
    return str(environment.python) if environment is not None and environment.info.framework == info.name else ""


def _is_here(module: str) -> bool:
    """Return whether the current interpreter can import a module, without importing it."""
    spec = importlib.util.find_spec(module)
    # A mere folder of that name, in the current directory for one, has no origin.
    return spec is not None and spec.origin is not None


def _by_path(label: str, path: Path) -> str:
    """Return the interpreter at a path that the user names; of a folder, the environment's interpreter."""
    if path.is_dir() and (path / "bin" / "python").exists():
        path = path / "bin" / "python"
    if not path.exists():
        msg = f"contender {label!r}: there is no interpreter {path}"
        raise UsageError(msg)
    if not path.is_file() or not os.access(path, os.X_OK):
        msg = f"contender {label!r}: {path} is not a program that can be run"
        raise UsageError(msg)
    # Symbolic links stay: an environment's python is a link, and its target would not see the environment's packages.
    return str(path.absolute())


def _by_name(contender: Contender, info: FrameworkInfo, device: str) -> str:
    """Return the interpreter of the environment made for this version, or else of the one with this name.

    Of a version's environments the one for the device comes first, and one for another device last.
    """
    name = str(contender.environment)
    version, others = f"{info.name}@{name}", [one for one in info.builds if one != device]
    names = [name_for(version, device), version, name, *(name_for(version, other) for other in others)]
    environment = next((found for each in names if (found := find(each)) is not None), None)
    if environment is None:
        made = [other.path.name for other in installed() if other.info.framework == info.name]
        by_version = f"a version, once `bakeoff env create {version}` has made it" if name[:1].isdigit() else ""
        raise UnknownNameError("environment", name, made, by_version or "the path of an interpreter")
    if environment.info.framework != info.name:
        msg = f"contender {contender.label!r}: environment {name!r} was made for {environment.info.framework}"
        raise UsageError(msg)
    return str(environment.python)


def versions_beside(interpreter: str, info: FrameworkInfo) -> dict[str, str]:
    """Return the versions of a framework's packages in an interpreter's environment, without starting it.

    Empty where they do not lie beside it.
    """
    if interpreter == sys.executable:
        return {name: package.version for name in info.distributions if (package := _distribution(name))}
    # The link is not followed: an environment's interpreter is a link out of it.
    environment = Path(interpreter).parent.parent
    packages = [str(path) for path in environment.glob("lib/python*/site-packages")]
    found = {name: next(iter(distributions(name=name, path=packages)), None) for name in info.distributions}
    return {name: one.version for name, one in found.items() if one is not None}


def _distribution(name: str) -> Distribution | None:
    """Return an installed package of the current interpreter; None where it is not installed."""
    return next(iter(distributions(name=name)), None)
