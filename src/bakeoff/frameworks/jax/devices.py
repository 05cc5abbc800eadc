"""Which backends JAX can start here, why it cannot start the others, and what an array lies on."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

PLATFORMS = {"cpu": "cpu", "cuda": "cuda,cpu"}
"""What the option `device` is for JAX; with "cuda" the processor stays usable for what is not in a step."""


_POOL_THREAD = "tf_XLAEigen"
"""What XLA calls the threads that share the work of one operation on a processor."""


def started(device: str) -> list[Any]:
    """Start the backend of a device, whatever the user's environment says of it; raise RuntimeError as JAX does."""
    jax.config.update("jax_platforms", PLATFORMS[device])
    return list(jax.devices(device))


@cache
def problem(device: str) -> str:
    """Return why the backend of a device does not start; "" where it does."""
    if device == "cpu":
        # A backend that has started keeps JAX from trying another one, so CUDA comes first.
        problem("cuda")
    try:
        started(device)
    except RuntimeError as error:
        return in_words(device, error)
    return ""


def in_words(device: str, error: RuntimeError) -> str:
    """Return why a backend did not start: in JAX's own words, unless there is nothing that could be started.

    What those words mean is left to them: of a GPU whose memory is full JAX says "no supported devices found".
    """
    plugin = _plugin()
    if device != "cpu" and not plugin:
        return f"JAX {jax.__version__} here is its build for processors: it lacks the package jax-cuda13-plugin"
    with_plugin = f" with {plugin}" if device != "cpu" else ""
    return f"JAX {jax.__version__}{with_plugin} cannot start the device {device}: {error}"


def built_for_cuda() -> str:
    """Return the CUDA of JAX's plug-in: "13.0"; "" without one."""
    plugin = _plugin()
    return f"{plugin.removeprefix('jax-cuda').removesuffix('-plugin')}.0" if plugin else ""


def holding(array: jax.Array) -> str:
    """Return the device that holds an array, by the name of the option `device`."""
    return named(min(array.devices(), key=lambda device: device.id).platform)


def named(platform: str) -> str:
    """Return what the option `device` calls a platform of JAX's."""
    return {"gpu": "cuda"}.get(platform, platform)


def threads(devices: int) -> int | None:
    """Count the threads of XLA's pool that each of so many devices has; None where the system lists none: not Linux."""
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    return names.count(_POOL_THREAD) // devices or None


def _plugin() -> str:
    """Return the name of JAX's package for CUDA that is installed, such as "jax-cuda13-plugin"; "" without one."""
    names = sorted(str(one.name).lower() for one in metadata.distributions() if one.name)
    return next((name for name in names if name.startswith("jax-cuda") and name.endswith("-plugin")), "")
