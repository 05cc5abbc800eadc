"""What to set on a machine before a comparison: each advice says why, and names a command or a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.measure.contention import FOREIGN_LIMIT
from bakeoff.report.units import listed, percent, size
from bakeoff.report.words import FOLLOWING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.measure.neighbours import Neighbour
    from bakeoff.measure.noise import Noise
    from bakeoff.measure.system_settings import Facts

LITTLE_BYTES = 2_000_000_000
"""Two contenders that are resident together take about 0.4 GB each before their model."""

SWAPPED_BYTES = 100_000_000
"""Of swap in use, from where on a page that is needed may well lie on the disk."""

CPU = "/sys/devices/system/cpu"


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """Something to set or to end."""

    about: str
    why: str
    do: str
    """A command, or what to choose."""


class ProcessLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a container or a batch system allows; None: no limit, or not known."""

    processors: float | None = None
    usable: int = 1
    """Processors that this process may run on, whatever their quota."""
    available_bytes: int | None = None
    one_of_each_core: str = ""
    """Processors of which no two share a core: "0-3"; empty where that is not known."""


def advise(facts: Facts, now: Facts, limits: ProcessLimits) -> list[Advice]:
    """Return what to change in the machine's settings and limits; empty where all is well."""
    return [*_clock(facts), *_placing(facts, limits), *_memory(facts, now, limits), *_container(limits)]


def _clock(facts: Facts) -> list[Advice]:
    """Return what to set so that the processor's clock stays as it is."""
    found = []
    if facts.get("governor") in FOLLOWING:
        why = f"the processor's clock follows the load (governor {facts['governor']}): intervals get wider"
        found.append(Advice(about="governor", why=why, do="sudo cpupower frequency-set -g performance"))
    if facts.get("turbo") == "on":
        off = f"echo 1 | sudo tee {CPU}/intel_pstate/no_turbo"
        if "intel" not in str(facts.get("processor")).lower():
            off = f"echo 0 | sudo tee {CPU}/cpufreq/boost"
        why = "turbo raises the clock while the processor is cool: step times drift, and who runs first gains"
        found.append(Advice(about="turbo", why=why, do=off))
    return found


def _placing(facts: Facts, limits: ProcessLimits) -> list[Advice]:
    """Return how to pin a comparison to processors, and memory to them."""
    found = []
    nodes = facts.get("numa_nodes")
    if isinstance(nodes, int) and nodes > 1:
        why = f"{nodes} NUMA nodes: memory of another node is slower, and where it lies changes from run to run"
        found.append(Advice(about="pinning", why=why, do="numactl --cpunodebind=0 --membind=0 bakeoff run ..."))
        if facts.get("numa_balancing") == "on":
            why = "the kernel moves memory between nodes while steps run"
            found.append(Advice(about="NUMA balancing", why=why, do="sudo sysctl kernel.numa_balancing=0"))
    elif facts.get("sibling_threads") == "on" and limits.one_of_each_core:
        why = "two processors share each core: a thread's step takes longer when its sibling is busy"
        found.append(Advice(about="pinning", why=why, do=f"taskset -c {limits.one_of_each_core} bakeoff run ..."))
    if facts.get("address_layout") == "fixed":
        why = "all processes have the same layout in memory, so that one lucky layout may decide"
        do = "sudo sysctl kernel.randomize_va_space=2, and start bakeoff without setarch -R"
        found.append(Advice(about="addresses", why=why, do=do))
    return found


def _memory(facts: Facts, now: Facts, limits: ProcessLimits) -> list[Advice]:
    """Return what to set so that memory costs each contender the same."""
    found = []
    if facts.get("huge_pages") == "always":
        why = "memory comes in pages of 2 MB unasked: peaks count them whole, and making them costs time in bursts"
        do = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        found.append(Advice(about="huge pages", why=why, do=do))
    swapped, free = now.get("swap_used_bytes"), limits.available_bytes
    if isinstance(swapped, int) and swapped > SWAPPED_BYTES:
        why = f"{size(swapped)} lie in swap: a page that a step needs may have to wait for a disk"
        fits = free is not None and free > swapped
        do = "sudo swapoff -a && sudo swapon -a" if fits else "end what takes the memory"
        found.append(Advice(about="swap", why=why, do=do))
    if free is not None and free < LITTLE_BYTES:
        why = f"{size(free)} of memory are available: contenders may not fit side by side, and run one after another"
        do = "end what takes the memory, or raise the container's limit (docker run --memory)"
        found.append(Advice(about="memory", why=why, do=do))
    return found


def _container(limits: ProcessLimits) -> list[Advice]:
    """Return what to choose in place of a quota of processor time."""
    quota = limits.processors
    if quota is None or quota >= limits.usable:
        return []
    why = (
        f"a quota allows {quota:g} of {limits.usable} processors' time: beyond it the kernel stops all threads for the "
        "rest of each period, in the middle of steps"
    )
    whole = max(1, int(quota))
    last = f"0-{whole - 1}" if whole > 1 else "0"
    do = f"give whole processors in place of a quota: docker run --cpuset-cpus {last}, without --cpus"
    return [Advice(about="processor quota", why=why, do=do)]


def advise_calm(noise: Noise, neighbours: Sequence[Neighbour]) -> list[Advice]:
    """Return what to do about other processes, and about other machines on the same processors."""
    found = []
    if noise.foreign_share is not None and noise.foreign_share > FOREIGN_LIMIT:
        names = [named(one) for one in neighbours]
        who = listed(names) if names else "processes that are not visible from here, as of another container"
        why = f"they take {percent(min(1.0, noise.foreign_share))} of this machine: {who}"
        do = "end them, or let rounds wait for a calm machine: bakeoff run ... --wait-for-calm 5m"
        found.append(Advice(about="other processes", why=why, do=do))
    if noise.steal_share is not None and noise.steal_share > FOREIGN_LIMIT:
        why = f"the hypervisor gives {percent(noise.steal_share)} of this machine's time to other machines"
        do = "use a host of its own, or give the race time: bakeoff run ... --until-sure"
        found.append(Advice(about="other machines", why=why, do=do))
    return found


def named(one: Neighbour) -> str:
    """Return who is busy: "make (3 processes) 120 % of a processor", "firefox (pid 12) 35 % of a processor"."""
    who = f"{one.name} (pid {one.pids[0]})" if len(one.pids) == 1 else f"{one.name} ({len(one.pids)} processes)"
    return f"{who} {percent(one.share)} of a processor"
