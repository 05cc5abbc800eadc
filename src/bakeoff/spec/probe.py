"""What an interpreter answers about its framework, before anything is run in it."""

from __future__ import annotations

import msgspec


class ProbeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What `bootstrap.py probe` answers, as one JSON object."""

    python: str = ""
    versions: dict[str, str] = {}
    devices: list[str] = []
    reasons: dict[str, str] = {}
    """By device, why it cannot be used, in the framework's own words; only of those that it could be built for."""
    cuda: str = ""
    """The CUDA that the framework is built for, such as "13.0"; empty where it is built without, or does not say."""
    kernels: list[str] = []
    """What it has kernels for, in NVIDIA's names: "sm_89" for that GPU, "compute_90" to be compiled for newer ones.
    Empty where the framework does not say."""
    packages: dict[str, str] = {}
    """Versions of CUDA's libraries, plug-ins and compilers for GPUs beside it, by name."""
    tools: list[str] = []
    """What there is of `Need.tools`."""
    compiled: bool = True
    """Whether Python finds the framework's own sources compiled; False where each process compiles them anew."""
    error: str = ""
    """Why the framework cannot be used; empty when it can."""
