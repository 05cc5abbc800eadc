"""A GPU in words: what it is, how it is set, and what goes on on it; and what to set before a race."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.machine_advice import Advice
from bakeoff.report.units import UNKNOWN, percent
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.measure.system_settings import Facts

BUSY_PERCENT = 5
"""Of the time in which some kernel ran on a GPU that ought to rest: a desktop's takes less."""

COMPUTE_MODE, IN_USE = "GPU compute mode", "GPU in use"
"""Subjects of what keeps contenders from a GPU side by side, or disturbs them; all other advice is about less noise."""

LEFT = 0.98
"""Share of its usual limit from which on a GPU's power counts as unlimited: drivers round."""


def gpu_line(facts: Facts, now: Facts) -> str:
    """Return what `measure.gpu_facts` knows of a GPU, in one line; what NVML does not tell is left out.

    "NVIDIA L4, GPU-7f3a91c2-..., 24.2 GB (23.4 free), capability 8.9, driver 580.95.05 runs CUDA 13.0, PCIe 4.0 x16,
    persistence on, compute mode default, ECC on, power limit 72 of 72 W, clock 210 of 2,040 MHz, 52 degrees Celsius,
    0 other processes".
    """
    parts = [str(facts["gpu"]), facts.get("gpu_uuid"), gpu_memory(facts, now)]
    parts += [f"capability {facts['gpu_compute_capability']}"]
    parts += [f"driver {facts['gpu_driver']} runs CUDA {facts['gpu_driver_cuda']}"]
    settings = (
        ("PCIe", facts.get("gpu_pcie")),
        ("persistence", facts.get("gpu_persistence")),
        ("compute mode", facts.get("gpu_compute_mode")),
        ("MIG", facts.get("gpu_mig")),
        ("ECC", facts.get("gpu_ecc")),
    )
    parts += [f"{name} {value}" for name, value in settings if value is not None]
    parts += [_of("power limit", facts.get("gpu_power_limit_w"), facts.get("gpu_power_default_w"), "W")]
    parts += [_of("clock", now.get("gpu_clock_mhz"), facts.get("gpu_clock_max_mhz"), "MHz")]
    if now.get("gpu_temperature_c") is not None:
        parts.append(f"{now['gpu_temperature_c']} degrees Celsius")
    parts.append(_others(now))
    return ", ".join(str(part) for part in parts if part)


def busy(now: Facts) -> str:
    """Return what goes on on a GPU before a race begins, in words; empty where it rests, or that is not known."""
    processes, used = now.get("gpu_processes"), now.get("gpu_utilization_percent")
    said = [count(processes, "process")] if isinstance(processes, int) and processes else []
    if isinstance(used, int) and used > BUSY_PERCENT:
        said.append(f"kernels in {percent(used / 100)} of the time")
    return " and ".join(said)


def advise_gpu(facts: Facts, now: Facts) -> list[Advice]:
    """Return what to set on a GPU before a race; empty where all is well. The commands are nvidia-smi's, as root."""
    smi, found = f"sudo nvidia-smi -i {facts.get('gpu_index') or 0}", []
    if facts.get("gpu_persistence") == "off":
        why = "without persistence the driver lets the GPU go when no process is on it, and setting it up takes seconds"
        found.append(Advice(about="GPU persistence", why=why, do=f"{smi} -pm 1"))
    highest, wanted = facts.get("gpu_clock_max_mhz"), facts.get("gpu_clock_applications_mhz")
    if isinstance(highest, int) and (wanted is None or wanted == highest):
        why = (
            f"its clock moves with heat and power up to {highest:,} MHz: fixed at what it keeps under load, intervals "
            "get narrower, and no contender gains by coming first (-rgc undoes it)"
        )
        found.append(Advice(about="GPU clock", why=why, do=f"{smi} -lgc {_base_mhz(highest)}"))
    limit, usual = facts.get("gpu_power_limit_w"), facts.get("gpu_power_default_w")
    if isinstance(limit, float) and isinstance(usual, float) and limit < LEFT * usual:
        why = f"its power is limited to {limit:,.0f} of {usual:,.0f} W, so that it is slower than others of its name"
        found.append(Advice(about="GPU power", why=why, do=f"{smi} -pl {usual:.0f}"))
    if facts.get("gpu_compute_mode") not in (None, "default"):
        mode = facts["gpu_compute_mode"]
        admits = "no process" if mode == "prohibited" else "one process at a time: rounds run one after another"
        why = f"compute mode {mode} admits {admits}"
        found.append(Advice(about=COMPUTE_MODE, why=why, do=f"{smi} -c 0"))
    if said := busy(now):
        why = f"before anything was started there were {said} on it"
        found.append(Advice(about=IN_USE, why=why, do="nvidia-smi, and end what it names; or another one: --gpu"))
    return found


def _base_mhz(highest_mhz: int) -> int:
    """Return a clock that a GPU keeps: three quarters of its highest, in steps of 15 MHz, as NVIDIA's clocks have."""
    return int(0.75 * highest_mhz) // 15 * 15


def gpu_memory(facts: Facts, now: Facts) -> str:
    """Return its memory, and how much of it is free."""
    total, free = facts.get("gpu_memory_bytes"), now.get("gpu_free_bytes")
    if not isinstance(total, int):
        return "memory unknown"
    return f"{total / 1e9:,.1f} GB" + (f" ({free / 1e9:,.1f} free)" if isinstance(free, int) else "")


def _of(name: str, value: object, most: object, unit: str) -> str:
    """Return a value of its most: "power limit 60 of 72 W"; empty where neither is known."""
    known = [f"{one:,.0f}" if isinstance(one, int | float) else UNKNOWN for one in (value, most)]
    return "" if value is None and most is None else f"{name} {known[0]} of {known[1]} {unit}"


def _others(now: Facts) -> str:
    """Return how many processes compute on it."""
    number = now.get("gpu_processes")
    return "" if not isinstance(number, int) else count(number, "other process")
