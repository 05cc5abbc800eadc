"""Which interpreter runs a contender: the current one, one that `bakeoff env create` made, or one the user names."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.environments.declared import frameworks
from bakeoff.environments.installed import find, installed
from bakeoff.spec.errors import UnavailableError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from bakeoff.environments.declared import Framework
    from bakeoff.spec.contender import Contender
    from bakeoff.spec.framework import FrameworkInfo


def resolve(contender: Contender, framework: Framework) -> str:
    """Give the interpreter's path; raise UsageError for a named one that is not there, else UnavailableError."""
    if framework.problem:
        raise UnavailableError(framework.problem)
    if contender.environment is None:
        return _find(framework.info)
    if os.sep in contender.environment or contender.environment.startswith("~"):
        return _by_path(contender.label, Path(contender.environment).expanduser())
    return _by_name(contender, framework.info)


def available() -> tuple[dict[str, str], dict[str, str]]:
    """Give, of all listed frameworks, the interpreters of those that can be used, and the reasons for the others."""
    interpreters: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for name, framework in frameworks().items():
        if framework.problem:
            reasons[name] = framework.problem
        elif framework.info.listed:
            try:
                interpreters[name] = _find(framework.info)
            except UnavailableError as error:
                reasons[name] = str(error)
    return interpreters, reasons


def _find(info: FrameworkInfo) -> str:
    """Take the current interpreter if the framework is there, as it is; else the environment made for it."""
    lacking = [module for module in (info.module, *info.companions) if module and not _is_here(module)]
    if not lacking:
        return sys.executable
    environment = find(info.name)
    if environment is not None and environment.info.framework == info.name:
        return str(environment.python)
    remedy = f"bakeoff env create {info.name}, or name an interpreter: {info.name}@/path/to/python"
    if info.module in lacking:
        msg = f"not installed here: {remedy}"
    else:
        msg = f"installed here without {' and '.join(lacking)}: install that, or {remedy}"
    raise UnavailableError(msg)


def _is_here(module: str) -> bool:
    """Tell whether the current interpreter has a module, without importing it."""
    spec = importlib.util.find_spec(module)
    # A mere folder of that name, in the current directory for one, has no origin.
    return spec is not None and spec.origin is not None


def _by_path(label: str, path: Path) -> str:
    """Take the interpreter that the user names; a folder is taken as an environment."""
    if path.is_dir() and (path / "bin" / "python").exists():
        path = path / "bin" / "python"
    if not path.exists():
        msg = f"contender {label!r}: there is no interpreter {path}"
        raise UsageError(msg)
    if not path.is_file() or not os.access(path, os.X_OK):
        msg = f"contender {label!r}: {path} is not a program that can be run"
        raise UsageError(msg)
    # Made absolute, but symbolic links stay: an environment's python is one, and would stop being the environment's.
    return str(path.absolute())


def _by_name(contender: Contender, info: FrameworkInfo) -> str:
    """Take the environment of this version, or else of this name, that `bakeoff env create` made."""
    name = str(contender.environment)
    environment = find(f"{info.name}@{name}") or find(name)
    if environment is None:
        raise UnknownNameError("environment", name, [known.path.name for known in installed()])
    if environment.info.framework != info.name:
        msg = f"contender {contender.label!r}: environment {name!r} was made for {environment.info.framework}"
        raise UsageError(msg)
    return str(environment.python)


def versions(interpreter: str, info: FrameworkInfo) -> dict[str, str]:
    """Give the versions of a framework's packages in an interpreter that `available` found, from their metadata."""
    if interpreter == sys.executable:
        return {name: found.version for name in info.distributions if (found := _distribution(name))}
    environment = find(info.name)
    return environment.versions(info.distributions) if environment else {}


def _distribution(name: str) -> Distribution | None:
    """Find an installed package of the current interpreter."""
    return next(iter(distributions(name=name)), None)
