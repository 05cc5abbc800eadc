"""What is said of a GPU: what it is, how it is set, and what goes on on it; a fact that is not known is not said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.units import size

if TYPE_CHECKING:
    from bakeoff.measure.system_settings import Facts

_UNITS = {"_bytes": "", "_mhz": " MHz", "_w": " W", "_c": " degrees C", "_percent": " %"}
"""Ends of facts' names, with what is said behind the value."""


def identity(facts: Facts) -> str:
    """Return what a GPU is: "NVIDIA L4, GPU-7f3a..., 24.0 GB, capability 8.9, driver 580.95.05 runs CUDA 13.0"."""
    driver, cuda = facts.get("gpu_driver"), facts.get("gpu_driver_cuda")
    memory = facts.get("gpu_memory_bytes")
    said = [
        str(facts["gpu"]),
        str(facts.get("gpu_uuid") or ""),
        size(memory) if isinstance(memory, int) else "",
        f"capability {facts['gpu_compute_capability']}" if facts.get("gpu_compute_capability") else "",
        f"driver {driver}" + (f" runs CUDA {cuda}" if cuda else "") if driver else "",
    ]
    return ", ".join(filter(None, said))


def settings(facts: Facts) -> str:
    """Return all other facts of a GPU, in the words of their names: "ecc on, power limit 72 W"."""
    told = {"gpu", "gpus", "gpu_uuid", "gpu_index", "gpu_memory_bytes", "gpu_compute_capability"}
    told |= {"gpu_driver", "gpu_driver_cuda"}
    known = {name: value for name, value in facts.items() if name.startswith("gpu") and name not in told}
    return ", ".join(_fact(name, value) for name, value in known.items() if value is not None)


def _fact(name: str, value: object) -> str:
    """Return one fact with its unit."""
    bare = name.removeprefix("gpu_")
    for end, unit in _UNITS.items():
        if bare.endswith(end):
            shown = size(value) if end == "_bytes" and isinstance(value, int) else _number(value)
            return f"{_words(bare.removesuffix(end))} {shown}{unit}"
    return f"{_words(bare)} {value}"


def _number(value: object) -> str:
    """Return a number without digits that say nothing."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _words(name: str) -> str:
    """Return a fact's name in words."""
    upper = {"ecc": "ECC", "pcie": "PCIe", "mig": "MIG"}
    return " ".join(upper.get(word, word) for word in name.split("_"))
