"""What every report says of what was measured, on what, by what, and of a machine whose settings may decide it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bakeoff.measure.gpu_packages import is_library
from bakeoff.report.units import listed, percent
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.judge.search import LargestBatch
    from bakeoff.measure.system_settings import Facts
    from bakeoff.spec.comparison import Comparison


def source_name(comparison: Comparison) -> str:
    """Return the name of the data source without its version: "digits"."""
    return comparison.data.source.partition(" (")[0]


def machine_line(outcome: Outcome) -> str:
    """Return the machine, and how calm it was."""
    share = outcome.foreign_share
    load = "" if share is None else f" (other processes {percent(share)})"
    busy = f"busy in {outcome.flagged_rounds} of {count(outcome.rounds, 'round')}" if outcome.flagged_rounds else "busy"
    states = [{True: "calm", False: busy, None: "noise unknown"}[outcome.calm]]
    if outcome.other_speeds:
        changed = f"its speed changed in {len(outcome.other_speeds.rounds)} of {count(outcome.rounds, 'round')}"
        states = [changed] if outcome.calm else [changed, *states]
    return ", ".join([machine_name(outcome), *states]) + load


def machines_line(outcomes: Sequence[Outcome]) -> str:
    """Return what several comparisons ran on, and in how many of them it was not calm; empty where none was made."""
    if not outcomes:
        return ""
    busy = sum(outcome.calm is False for outcome in outcomes)
    calm = "calm" if all(outcome.calm for outcome in outcomes) else "noise unknown"
    state = f"busy in {busy} of {count(len(outcomes), 'comparison')}" if busy else calm
    names = Counter(map(machine_name, outcomes))
    (name, *others) = names
    if others:  # jobs of a cluster, or a study that went on elsewhere
        name = listed(f"{one} ({count(number, 'comparison')})" for one, number in names.items())
    return f"{name}, {state}"


def machine_name(outcome: Outcome) -> str:
    """Return what the steps ran on: "AMD EPYC, 2 cores"."""
    return machine_text(outcome.comparison.machine)


def machine_text(machine: dict[str, str | int | float | None]) -> str:
    """Return what steps ran on, by the facts of the machine."""
    cores = machine.get("usable_cores") or machine.get("cores")
    parts = [_gpu(machine), str(machine.get("processor") or "unknown processor")]
    parts += [count(int(cores), "core")] if cores else []
    return ", ".join(part for part in parts if part)


def _gpu(machine: dict[str, str | int | float | None]) -> str:
    """Return the GPU with driver and CUDA, on which its speed hangs, too; empty where there is none."""
    if not machine.get("gpu"):
        return ""
    known = {"driver": machine.get("gpu_driver"), "CUDA": machine.get("gpu_driver_cuda")}
    said = [f"{name} {version}" for name, version in known.items() if version]
    limit, usual = machine.get("gpu_power_limit_w"), machine.get("gpu_power_default_w")
    if isinstance(limit, int | float) and isinstance(usual, int | float) and limit != usual:
        said.append(f"limited to {limit:,.0f} of {usual:,.0f} W")
    if machine.get("gpu_index") is not None and machine.get("gpus", 1) != 1:
        said.insert(0, f"GPU {machine['gpu_index']} of {machine['gpus']}")
    return f"{machine['gpu']} ({', '.join(said)})" if said else str(machine["gpu"])


def measured_line(contenders: Iterable[ContenderOutcome | LargestBatch], bakeoff: str, created_at: str) -> str:
    """Return when the figures were measured, and by which versions."""
    versions = packages(contenders)
    measured = f"Measured on {created_at.partition('T')[0]} with bakeoff {bakeoff}"
    return f"{measured}; {versions}" if versions else measured


def packages(contenders: Iterable[ContenderOutcome | LargestBatch]) -> str:
    """Return every package: "jax 0.9.2 (jax@0.9.2) and 0.10.2 (jax@0.10.2), flax 0.12.8"; empty where none is known.

    Dozens of libraries for a GPU stand in the environment's table alone.
    """
    found: dict[str, dict[str, dict[str, None]]] = {}
    for contender in contenders:
        for name, version in contender.versions.items():
            if is_library(name):
                continue
            found.setdefault(name, {}).setdefault(version, {})[contender.label] = None
    return ", ".join(f"{name} {_versions(labels)}" for name, labels in found.items())


def _versions(labels: dict[str, dict[str, None]]) -> str:
    """Return the one version, or each with the contenders that have it."""
    if len(labels) == 1:
        return next(iter(labels))
    return listed(f"{version} ({', '.join(mine)})" for version, mine in labels.items())


def earlier(readings: Iterable[tuple[str, str, str]], outcome: Outcome) -> str:
    """Return whose readings were made in another comparison, and when; each has a label, a time and a comparison."""
    before = [
        f"{label}'s on {made_at[:10]} at {made_at[11:16]} UTC"
        for label, made_at, comparison in readings
        if comparison not in ("", outcome.comparison.id)
    ]
    return listed(before)


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
