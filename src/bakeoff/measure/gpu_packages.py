"""Versions of what a framework runs on an NVIDIA GPU beside itself: CUDA's libraries, plug-ins, compilers, the driver.

Two environments with the same framework may have other ones, and cuDNN alone can decide a race.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.measure import nvml
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES = re.compile(r"(nvidia|cuda|triton|pytorch-triton|tensorrt)(-|$)|.*-cuda\d*(-|$)")
"""Of distributions on PyPI: NVIDIA's own, compilers for GPUs, and plug-ins, which have CUDA in their names."""

DRIVER = "nvidia driver"
"""The name of the driver among versions: it compiles what a wheel has no code for."""

DRIVER_FILE = Path("/proc/driver/nvidia/version")
"""What the kernel's module says of itself, where NVML's Python package is missing (Linux)."""

_DRIVER_VERSION = re.compile(r"Kernel Module\s.*?(\d+\.[\d.]+)")


def is_library(name: str) -> bool:
    """Return whether a version's name is of these, and not of a framework."""
    return name == DRIVER or _NAMES.match(name) is not None


def versions(folders: list[str] | None = None) -> dict[str, str]:
    """Return the version of every such distribution that is installed for this interpreter, and the driver's.

    Nothing of them is imported. `folders` are looked into instead of sys.path.
    """
    found = metadata.distributions() if folders is None else metadata.distributions(path=folders)
    driver = _driver()
    return _named(found) | ({DRIVER: driver} if driver else {})


def _named(distributions: Iterable[metadata.Distribution]) -> dict[str, str]:
    """Return the versions by normalised name; of two with one name the first counts, which Python would import."""
    known: dict[str, str] = {}
    for one in distributions:
        # What was removed badly has a folder without a name.
        name = re.sub(r"[-_.]+", "-", str(one.metadata["Name"] or "")).lower()
        if is_library(name):
            known.setdefault(name, one.version)
    return dict(sorted(known.items()))


def _driver() -> str:
    """Return the version of NVIDIA's driver; empty where nothing tells it."""
    try:
        with nvml.opened() as pynvml:
            return str(pynvml.nvmlSystemGetDriverVersion())
    except UnavailableError:
        pass
    try:
        found = _DRIVER_VERSION.search(DRIVER_FILE.read_text())
    except OSError:
        return ""
    return found[1] if found else ""
