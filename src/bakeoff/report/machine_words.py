"""What every report says of the clocks, and of a machine whose settings may decide a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.measure.system_settings import Facts

FOLLOWING = ("ondemand", "conservative", "schedutil", "powersave")
"""Governors under which the processor's clock follows the load, or stays low."""

_BATCH = {
    "resident": "the batch is on the device already",
    "per-step": "one batch is copied from NumPy's memory to the device",
    "pipeline": (
        "one batch is taken from the framework's own loader, which shuffles and prefetches, and put on the device"
    ),
}
"""How a step gets its batch, for each value of the option `input`."""


def timed_region(inputs: Mapping[str, str]) -> str:
    """Return what one timed step is, as `measure.clock` times it; `inputs` is each contender's option `input`."""
    labels: dict[str, list[str]] = {}
    for label, mode in inputs.items():
        labels.setdefault(mode, []).append(label)
    ways = [_BATCH[mode] + (f" ({', '.join(labels[mode])})" if len(labels) > 1 else "") for mode in labels]
    return (
        f"One timed step: {', or '.join(ways or [_BATCH['resident']])}; forward pass and, in training, loss, backward "
        "pass and optimiser; the loss stays on the device, and gradients are never fetched. The streamed clock waits "
        "once for each block of steps (the step time), the fenced clock waits for every step."
    )


def remarks(facts: Facts) -> list[str]:
    """Return a sentence for each of a machine's settings that may decide a comparison, with the reason."""
    sentences = []
    if facts.get("address_layout") == "fixed":
        sentences.append(
            "Addresses are not randomised here: all processes of a contender have the same layout in memory, so that "
            "one lucky or unlucky layout may decide, and rounds cannot show it (setarch -R, or "
            "kernel.randomize_va_space=0)."
        )
    nodes = facts.get("numa_nodes")
    if isinstance(nodes, int) and nodes > 1 and facts.get("numa_balancing") == "on":
        sentences.append(
            f"The kernel moves memory between this machine's {nodes} NUMA nodes while steps run, which costs page "
            "faults and changes step times within a process (kernel.numa_balancing=1; numactl --cpunodebind=0 "
            "--membind=0 keeps to one node)."
        )
    return sentences


def advice(facts: Facts) -> list[str]:
    """Return a sentence for each of a machine's settings that costs rounds without favouring a contender."""
    if facts.get("governor") not in FOLLOWING:
        return []
    cause = f"the processor's clock follows the load (governor {facts['governor']})"
    return [f"{cause}: a fixed one (performance) gives narrower intervals"]
