"""Versions of what a framework runs on an NVIDIA GPU beside itself: CUDA's libraries, plug-ins and compilers.

Two environments with the same framework may have other ones, and cuDNN alone can decide a race. The driver is the
machine's (gpu_facts.py).
"""

from __future__ import annotations

import re
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES = re.compile(r"(nvidia|cuda|triton|pytorch-triton|tensorrt)(-|$)|.*-cuda\d*(-|$)")
"""Of distributions on PyPI: NVIDIA's own, compilers for GPUs, and plug-ins, which have CUDA in their names."""

_DECIDING = re.compile(r"nvidia-(cudnn|cublas|cuda-runtime|nccl)(-|$)")
"""Those that compute most of a network's steps, or start and join them."""


def is_library(name: str) -> bool:
    """Return whether a version's name is of these, and not of a framework."""
    return _NAMES.match(name) is not None


def deciding(versions: dict[str, str]) -> dict[str, str]:
    """Return the few of these versions that a reader asks for first: cuDNN, cuBLAS, CUDA's runtime, NCCL."""
    return {name: version for name, version in versions.items() if _DECIDING.match(name)}


def versions(folders: list[str] | None = None) -> dict[str, str]:
    """Return the version of every such distribution that is installed for this interpreter.

    Nothing of them is imported. `folders` are looked into instead of sys.path.
    """
    return _named(metadata.distributions() if folders is None else metadata.distributions(path=folders))


def _named(distributions: Iterable[metadata.Distribution]) -> dict[str, str]:
    """Return the versions by normalised name; of two with one name the first counts, which Python would import."""
    known: dict[str, str] = {}
    for one in distributions:
        # What was removed badly has a folder without a name.
        name = re.sub(r"[-_.]+", "-", str(one.metadata["Name"] or "")).lower()
        if is_library(name):
            known.setdefault(name, one.version)
    return dict(sorted(known.items()))
