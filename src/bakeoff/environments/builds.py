"""Which device an environment is made for, and whether this machine's driver runs what would be installed.

An environment for a device stands beside the usual one, which is the processor's: `jax-cuda` beside `jax`.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.environments.declared import Framework
    from bakeoff.spec.framework import DeviceBuild, FrameworkInfo

PROCESSOR = "cpu"

NVIDIA = "cuda"

OLDEST_DRIVER = {"12": "525.60.13", "13": "580"}
"""By the major version of CUDA, the first driver for Linux on which its wheels run: NVIDIA's "CUDA Compatibility", on
minor version compatibility. A wheel for CUDA 12.9 runs on a driver of CUDA 12.0, and none for CUDA 13 does."""

MISSING = {
    "gpu": "an NVIDIA GPU is called cuda here, and Apple's mps",
    "rocm": (
        "AMD's GPUs are no device of bakeoff: what is missing is a value of the option device in the frameworks' "
        "folders, pinned requirements for ROCm, and what reads AMD's memory, clocks and processes (amdsmi, where "
        "NVIDIA has NVML). Nothing of bakeoff was run on one"
    ),
}
"""Devices that somebody may ask for, and that bakeoff does not have, with what there is or what is missing."""


Facts: TypeAlias = "Mapping[str, object]"
"""Of the machine, as `measure.machine.describe` gives them."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Which environment of a framework is made, and why that one."""

    device: str
    why: str


def name_for(name: str, device: str) -> str:
    """Return the name of an environment for a device: "jax-cuda", "jax@0.9.2-cuda"; the processor's has no suffix."""
    return name if device == PROCESSOR else f"{name}-{device}"


def check_device(device: str) -> None:
    """Raise UsageError for a device that bakeoff does not have, with what is missing where it is a known one."""
    check_known(device)
    if device not in OPTIONS["device"].values:
        kind = "device"
        raise UnknownNameError(kind, device, OPTIONS["device"].values)


def check_known(device: str) -> None:
    """Raise UsageError for a device that somebody may well ask for, with what there is or is missing."""
    if device in MISSING:
        msg = f"device {device}: {MISSING[device]}. Valid: {', '.join(OPTIONS['device'].values)}"
        raise UsageError(msg)


def chosen(declared: Framework, asked: str | None, facts: Facts) -> Choice:
    """Return which environment to make: the one that is asked for, else the one for what NVML reports.

    `facts` are those of `measure.machine`. Raise UsageError for a device that the framework has no environment for, or
    where the driver is too old for it.
    """
    info = declared.info
    if asked is None:
        return _for_this_machine(info, facts)
    check_device(asked)
    if asked == PROCESSOR:
        return Choice(device=PROCESSOR, why="as asked for")
    if asked not in info.builds:
        raise UsageError(_no_build(info, asked))
    if platform.system() != "Linux":
        msg = f"{info.name} for {asked}: NVIDIA's wheels are for Linux alone, and this is {platform.system()}"
        raise UsageError(msg)
    if problem := unfit(info.builds[asked], facts):
        msg = f"{info.name} for {asked}: {problem}. Nothing was fetched"
        raise UsageError(msg)
    told = f"as asked for; {gpu_in_words(facts)}" if "gpu" in facts else "as asked for; NVML reports no GPU here"
    return Choice(device=asked, why=told)


def _for_this_machine(info: FrameworkInfo, facts: Facts) -> Choice:
    """Return the choice where the user has made none."""
    if "gpu" not in facts:
        return Choice(device=PROCESSOR, why="NVML reports no NVIDIA GPU here")
    gpu = gpu_in_words(facts)
    if NVIDIA not in info.builds:
        return Choice(device=PROCESSOR, why=f"NVML reports {gpu}, and {info.title} has no environment for it")
    if problem := unfit(info.builds[NVIDIA], facts):
        return Choice(device=PROCESSOR, why=f"NVML reports {gpu}, but {problem}")
    return Choice(device=NVIDIA, why=f"NVML reports {gpu}; --device {PROCESSOR} makes the processor's")


def _no_build(info: FrameworkInfo, device: str) -> str:
    """Return why there is no environment of a framework for a device, and what there is."""
    support = info.options.get("device")
    if support is not None and device in support.values:
        return (
            f"{info.title} needs no environment of its own for {device}: bakeoff env create {info.name}, and then "
            f"{info.name}:device={device} (not run by us)"
        )
    why = support.why if support is not None and support.why else "its folder has no such device"
    valid = ", ".join([PROCESSOR, *info.builds])
    return f"{info.title} has no environment for {device}: {why}. Valid: {valid}"


def gpu_in_words(facts: Facts) -> str:
    """Return a GPU with its driver: "NVIDIA L4, driver 580.95.05 runs CUDA 13.0"."""
    runs = f" runs CUDA {facts['gpu_driver_cuda']}" if facts.get("gpu_driver_cuda") else ""
    return f"{facts['gpu']}, driver {facts.get('gpu_driver', 'unknown')}{runs}"


def too_old(needed: str, facts: Facts) -> str:
    """Return why the driver cannot run wheels for this CUDA, and what to do; "" where it can, or is not known.

    CUDA of one major version runs on every driver of that major version or a newer one.
    """
    runs = facts.get("gpu_driver_cuda")
    if not isinstance(runs, str) or not needed or _major(runs) >= _major(needed):
        return ""
    oldest = OLDEST_DRIVER.get(str(_major(needed)), "")
    newer = f"a driver of {oldest} or newer" if oldest else "a newer driver"
    return (
        f"driver {facts.get('gpu_driver', 'unknown')} runs CUDA {runs}, these wheels need CUDA {needed}: install "
        f"{newer}, or wheels for the older CUDA by --name NAME --requirements FILE"
    )


def too_small(build: DeviceBuild, facts: Facts) -> str:
    """Return that the GPU is older than what the wheels have kernels for; "" where it is not, or is not known."""
    capability = facts.get("gpu_compute_capability")
    if not isinstance(capability, str) or _numbers(capability) >= _numbers(build.least_capability):
        return ""
    return (
        f"its compute capability is {capability}, and these wheels have kernels from {build.least_capability} on: "
        "install older wheels by --name NAME --requirements FILE"
    )


def unfit(build: DeviceBuild, facts: Facts) -> str:
    """Return why this machine's driver or GPU cannot run an environment's wheels, and what to do; "" where it can."""
    return too_old(build.cuda, facts) or too_small(build, facts)


def same_major(cuda: str, other: str) -> bool:
    """Return whether two versions of CUDA have the same major number; an unknown one is nobody's."""
    return bool(cuda and other) and _major(cuda) == _major(other)


def _major(version: str) -> int:
    """Return the major number of a version of CUDA."""
    return _numbers(version)[0]


def _numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers, by which versions are compared."""
    return tuple(int(part) for part in version.split("."))
