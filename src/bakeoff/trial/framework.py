"""Loading a framework's folder in the worker."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

import bakeoff.frameworks
from bakeoff.measure.clock import Clock, monotonic
from bakeoff.measure.floating_point import handle_denormals
from bakeoff.spec.options import FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

    from bakeoff.frameworks.engine import Engine
    from bakeoff.frameworks.tracing import Tracer


def set_variables(variables: Mapping[str, str]) -> None:
    """Set the framework's environment variables, before it is imported."""
    os.environ.update(variables)


def set_denormals(options: Mapping[str, str]) -> None:
    """Have this process handle denormal numbers as the option says, before a framework makes its threads.

    Raises UnsupportedError where the system has no way for it.
    """
    wanted = options.get("denormals", FRAMEWORK)
    if wanted != FRAMEWORK:
        handle_denormals(flush=wanted == "flush")


def import_engine(folder: Path) -> ModuleType:
    """Import engine.py of a framework's folder, wherever the folder lies, as bakeoff.frameworks.<folder>.engine."""
    name = f"{bakeoff.frameworks.__name__}.{folder.name}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        if spec is None or spec.loader is None:
            msg = f"{folder} is not a Python package"
            raise ImportError(msg)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return importlib.import_module(f"{name}.engine")


def make_engine(folder: Path) -> tuple[Engine, Clock]:
    """Return the framework's engine, and the clock to time it by: a scripted framework brings its own."""
    module = import_engine(folder)
    clock: Clock = getattr(module, "virtual_clock", monotonic)
    engine: Engine = module.Engine()
    return engine, clock


def make_tracer(folder: Path) -> Tracer | None:
    """Return the framework's tracer, once its engine is configured; None where its folder has no tracing.py."""
    module = part_of(folder, "tracing")
    return None if module is None else module.Tracer()


def part_of(folder: Path, name: str) -> Any:
    """Return a module of the folder of a framework whose engine is imported; None where it has none of this name."""
    module = f"{bakeoff.frameworks.__name__}.{folder.name}.{name}"
    return None if importlib.util.find_spec(module) is None else importlib.import_module(module)
