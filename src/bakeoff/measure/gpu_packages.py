"""Versions of what a framework runs on an NVIDIA GPU beside itself: CUDA's libraries, plug-ins and compilers.

Two environments with the same framework may have other ones, and cuDNN alone can decide a race. The driver is the
machine's (gpu_facts.py).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

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
    """Return the version of every such distribution that is installed for this interpreter, by normalised name.

    Nothing of them is imported or read: the folder of a distribution is called NAME-VERSION.dist-info (PyPA's
    specification "Recording installed projects"), and this runs in every worker on a GPU. `folders` are looked into
    instead of sys.path; of two with one name the first counts, which Python would import.
    """
    known: dict[str, str] = {}
    for folder in sys.path if folders is None else folders:
        for path in Path(folder).glob("*.dist-info"):
            name, _, version = path.stem.partition("-")
            name = re.sub(r"[-_.]+", "-", name).lower()
            if version and is_library(name):
                known.setdefault(name, version)
    return dict(sorted(known.items()))
