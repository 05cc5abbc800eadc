"""What a framework is in this interpreter: its versions and devices, or why it cannot be used."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

import msgspec

from bakeoff.environments.options import supported, variables_of
from bakeoff.measure import gpu_packages
from bakeoff.spec.framework import FrameworkInfo
from bakeoff.spec.probe import ProbeAnswer
from bakeoff.trial.framework import make_engine, set_variables


def probe(folder: Path, answer_fd: int, device: str) -> int:
    """Write a ProbeAnswer to the pipe; the exit code is 0 also when the framework cannot be used.

    The framework's variables are those of a worker on this device: on a GPU it takes no more memory than it needs.
    """
    python = platform.python_version()
    try:
        info = msgspec.toml.decode((folder / "framework.toml").read_bytes(), type=FrameworkInfo)
        set_variables({name: value for name, value in _variables(info, device).items() if "{" not in value})
        engine, _ = make_engine(folder)
        answer = _asked(engine, info, python)
    except Exception as error:  # noqa: BLE001 - whatever a framework's import raises is the reason to tell
        answer = ProbeAnswer(python=python, error=f"{type(error).__name__}: {error}")
    with os.fdopen(answer_fd, "wb") as file:
        file.write(msgspec.json.encode(answer))
    return 0


def _variables(info: FrameworkInfo, device: str) -> dict[str, str]:
    """Return the variables of a worker with the framework's defaults on a device, where the framework has that."""
    options = {name: support.default for name, support in supported(info).items()}
    support = info.options.get("device")
    if support is not None and device in support.values:
        options["device"] = device
    return variables_of(info, options)


def _asked(engine: Any, info: FrameworkInfo, python: str) -> ProbeAnswer:
    """Return what the engine tells; what an engine leaves out is not known."""
    devices = engine.devices()
    built = engine.built_for() if hasattr(engine, "built_for") else None
    support = info.options.get("device")
    missing = [one for one in (support.values if support else ()) if one not in devices]
    told = {one: engine.why_not(one) for one in missing} if hasattr(engine, "why_not") else {}
    return ProbeAnswer(
        python=python,
        versions=engine.versions(),
        devices=devices,
        reasons={one: why for one, why in told.items() if why},
        cuda=built.cuda if built else "",
        kernels=list(built.kernels) if built else [],
        packages=gpu_packages.versions(),
        tools=tools(),
        compiled=is_compiled(info.module),
    )


def is_compiled(module: str) -> bool:
    """Return whether what Python has compiled of an imported module is kept, or there is nothing to compile.

    Pip compiles what it installs, uv does not, and where PYTHONDONTWRITEBYTECODE is set an import keeps nothing.
    """
    spec = sys.modules[module].__spec__ if module in sys.modules else None
    return spec is None or spec.cached is None or Path(spec.cached).exists()


def tools() -> list[str]:
    """Return which of what a compiler at run time may need there is: found as Triton does (runtime/build.py)."""
    named = os.environ.get("CC")
    compilers = [named.split()[0]] if named and named.split() else ["gcc", "clang"]
    found = ["C compiler"] if any(shutil.which(one) for one in compilers) else []
    scheme = sysconfig.get_default_scheme()
    # Debian's own scheme leads to /usr/local; headers are where all other schemes say.
    scheme = "posix_prefix" if scheme == "posix_local" else scheme
    has_headers = (Path(sysconfig.get_paths(scheme)["include"]) / "Python.h").is_file()
    return [*found, "Python headers"] if has_headers else found
