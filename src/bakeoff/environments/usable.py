"""Whether a contender can run on a device, by what its interpreter answered and what NVML reports; else what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bakeoff.environments.builds import NVIDIA, same_major, too_old, too_small, unfit
from bakeoff.environments.interpreters import create_command
from bakeoff.environments.options import holds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.environments.builds import Facts
    from bakeoff.spec.framework import FrameworkInfo
    from bakeoff.spec.probe import ProbeAnswer

INSTALLS = {"C compiler": "gcc", "Python headers": "python3-dev"}
"""By what is missing, Debian's and Ubuntu's package of it."""

_ARCHITECTURE = re.compile(r"(?P<kind>sm|compute)_(?P<number>\d+)(?P<only>[af]?)")


def why_not(
    info: FrameworkInfo, answer: ProbeAnswer, options: Mapping[str, str], facts: Facts, environment: str | None = None
) -> str:
    """Return why a contender with these options cannot run, and what to type; "" where nothing speaks against it.

    `environment` is what stands behind "@". `facts` are the machine's, with those of the GPU that would be used.
    """
    device = options.get("device", "cpu")
    if answer.error:
        return f"{info.title} cannot be used: {answer.error}"
    if device == NVIDIA and facts.get("gpu_compute_mode") == "prohibited":
        return f"the GPU's compute mode admits no process: sudo nvidia-smi -i {facts.get('gpu_index') or 0} -c 0"
    if device not in answer.devices:
        return _without_device(info, answer, device, facts, environment)
    if device == NVIDIA and (problem := no_kernels(info, answer, facts)):
        return problem
    return missing_tools(info, answer, options)


def is_shared(facts: Facts) -> bool:
    """Return whether several processes may be on the GPU: to be asked, some frameworks make a context on it."""
    return facts.get("gpu_compute_mode") in (None, "default")


def _without_device(
    info: FrameworkInfo, answer: ProbeAnswer, device: str, facts: Facts, environment: str | None
) -> str:
    """Return why a framework does not have a device here."""
    said = answer.reasons.get(device) or f"{info.title} finds no device {device}"
    if device != NVIDIA:
        return said
    if "gpu" not in facts:
        return f"{said}. NVML reports no NVIDIA GPU here: bakeoff doctor --device {device}"
    if not answer.cuda and device in info.builds:
        if problem := unfit(info.builds[device], facts):
            return f"{said}; an environment for {device} would not run either: {problem}"
        return f"{said}. Make the environment for the GPU: {create_command(_made_from(info, environment), device)}"
    if problem := too_old(answer.cuda, facts):
        return f"{said}: {problem}"
    return said


def _made_from(info: FrameworkInfo, environment: str | None) -> str:
    """Return what `bakeoff env create` calls a framework: with its version, where that is what the user named."""
    is_version = environment is not None and re.fullmatch(r"\d[\w.+!-]*", environment)
    return f"{info.name}@{environment}" if is_version else info.name


def missing_tools(info: FrameworkInfo, answer: ProbeAnswer, options: Mapping[str, str]) -> str:
    """Return which tools these options need that are not there, and how they are installed; "" where none is."""
    for need in info.needs:
        lacking = [tool for tool in need.tools if tool not in answer.tools]
        if lacking and holds(need.when, options):
            packages = " ".join(INSTALLS[tool] for tool in lacking)
            chosen = ", ".join(f"{name}={options[name]}" for name in need.when)
            return f"{chosen} lacks {' and '.join(lacking)} ({need.reason}): sudo apt install {packages}"
    return ""


def no_kernels(info: FrameworkInfo, answer: ProbeAnswer, facts: Facts) -> str:
    """Return that a framework has no kernels for the GPU, nor anything to compile them from; "" otherwise."""
    capability = str(facts.get("gpu_compute_capability") or "")
    build = info.builds.get(NVIDIA)
    if not answer.kernels and build is not None and same_major(answer.cuda, build.cuda):
        # What does not say its kernels, but is of the CUDA of our own pins, has theirs.
        problem = too_small(build, facts)
        return f"{info.title} for CUDA {answer.cuda} on {facts.get('gpu')}: {problem}" if problem else ""
    if not capability or not answer.kernels or kernels_for(capability, answer.kernels):
        return ""
    return (
        f"{info.title} here has no kernels for compute capability {capability}, which {facts.get('gpu')} is of: it has "
        f"{', '.join(answer.kernels)}. Take an older or newer version: bakeoff env create {info.name}@VERSION"
        f" --device {NVIDIA}"
    )


def kernels_for(capability: str, kernels: list[str]) -> str:
    """Return by which of its kernels a framework runs on a GPU: "sm_86", or "compute_90" that is compiled first; or "".

    A binary for x.y runs on x.z with z >= y, and what is to be compiled on everything newer; with "a" either is for
    that GPU alone, with "f" for its family (CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility").
    """
    number = _number(capability)
    binary, compiled = "", ""
    for match in filter(None, map(_ARCHITECTURE.fullmatch, kernels)):
        own = (int(match["number"]) // 10, int(match["number"]) % 10)
        if own > number or (match["only"] == "a" and own != number):
            continue
        if own[0] == number[0] and match["kind"] == "sm":
            binary = match[0]
        elif match["kind"] == "compute" and (match["only"] != "f" or own[0] == number[0]):
            compiled = match[0]
    return binary or compiled


def compiled_at_first(answer: ProbeAnswer, facts: Facts) -> str:
    """Return what the driver compiles at the first start, which takes minutes; "" where there are binaries."""
    capability = str(facts.get("gpu_compute_capability") or "")
    found = kernels_for(capability, answer.kernels) if capability else ""
    return found if found.startswith("compute") else ""


def _number(capability: str) -> tuple[int, int]:
    """Return a capability's major and minor number: "12.0" is (12, 0)."""
    major, minor = capability.split(".")
    return int(major), int(minor)
