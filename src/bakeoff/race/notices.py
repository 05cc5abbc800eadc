"""What is to be known of a comparison before it is run: options that change nothing, what is compiled many times."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bakeoff.environments.declared import framework
from bakeoff.measure.machine import available_memory_bytes
from bakeoff.race.model_calls import NEEDS, kinds_of
from bakeoff.spec.group import BATCH_STATISTICS, LOCAL, SYNC
from bakeoff.spec.optimizer import frozen_of
from bakeoff.spec.per_sample import OPTION
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.trial import FIXED
from bakeoff.workloads import plan
from bakeoff.workloads.calls import calls_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.trial import Inputs
    from bakeoff.spec.workload import Size
    from bakeoff.workloads.load import LoadedWorkload

LONG_LOOP = 100
"""Calls of one layer by a loop in Python from which on a reader is warned: a compiler takes each by itself."""

MUCH_BYTES = 2 * 10**9
"""Of memory, from which on a reader is told: a laptop has 8 to 16 GB for everything."""

MOST_SHAPES = 16
"""Of batches that are padded to their longest, as `data.prepare` writes them for a race."""


def notices(loaded: LoadedWorkload, size: Size, scenario: Scenario, plans: Sequence[ContenderPlan]) -> list[str]:
    """Return what these options and this model mean for each other, in sentences."""
    frozen = frozenset(frozen_of(loaded.workload.optimizer, plan.parameters(loaded.build, size)))
    calls = calls_of(loaded.build, size, trains=SCENARIOS[scenario].trains, frozen=frozen)
    name, called = loaded.workload.name, kinds_of(calls, scenario)
    found = []
    for option, (kinds, lacks) in NEEDS.items():
        if kinds & called:
            continue
        asked = dict.fromkeys(_asked(plan, option) for plan in plans)
        found += [f"{option}={value} changes nothing: {name} has {lacks}." for value in asked if value]
    found += [*_idle(scenario, plans), *_of_other_samples(plans)]
    found += [
        f"{name} calls one {kind} {count:,} times in a loop of Python, and what compiles takes each call by itself, "
        "which may take minutes; nn.scan compiles one step of the loop."
        for kind, count in calls.unrolled.items()
        if count >= LONG_LOOP
    ]
    return [*found, *_of_loops(calls.loop_bytes, scenario, plans)]


def _of_loops(loop_bytes: int, scenario: Scenario, plans: Sequence[ContenderPlan]) -> list[str]:
    """Return who keeps what the steps of loops add to gradients, where that is much."""
    if loop_bytes < MUCH_BYTES or not SCENARIOS[scenario].trains:
        return []
    found = []
    free_bytes = available_memory_bytes()
    free = f"; {free_bytes / 1e9:,.0f} GB are free now" if free_bytes is not None else ""
    for one in plans:
        kept = framework(one.contender.framework).info.loop_gradients
        if kept is None or (kept.variable and kept.variable in os.environ):
            continue
        told = (
            f"{one.contender.label} {'keeps' if kept.kept == 'all' else 'may keep'} what each step of a loop adds to "
        )
        told += (
            f"the gradients of its weights until the last step: some {loop_bytes / 1e9:,.0f} GB of memory in all{free}."
        )
        told += f" With {kept.variable}={kept.value} in the environment it keeps little." if kept.variable else ""
        found.append(told)
    return found


def _idle(scenario: Scenario, plans: Sequence[ContenderPlan]) -> list[str]:
    """Return the options that mean something in another scenario, or on several devices, alone."""
    idle = {} if SCENARIOS[scenario].per_sample else {OPTION: f"the scenario is {scenario}"}
    if all(plan.devices == 1 for plan in plans):
        idle |= dict.fromkeys((SYNC, BATCH_STATISTICS), "every contender has one device")
    asked = {option: dict.fromkeys(_asked(plan, option) for plan in plans) for option in idle}
    return [f"{option}={value} changes nothing: {idle[option]}." for option in idle for value in asked[option] if value]


def _of_other_samples(plans: Sequence[ContenderPlan]) -> list[str]:
    """Return that some contenders take batch statistics of other samples than others do; nothing where all agree."""
    several = [plan.contender for plan in plans if plan.devices > 1]
    joined = [one.label for one in several if one.options.get(BATCH_STATISTICS, LOCAL) != LOCAL]
    if not 0 < len(joined) < len(several):
        return []
    said = (
        f"{BATCH_STATISTICS} is global in {', '.join(joined)}, and local in the others on several devices: with "
        "BatchNorm, or a loss that is a mean over a count, these compute other steps, each held to its own reference."
    )
    return [said]


def _asked(plan: ContenderPlan, option: str) -> str:
    """Return the value that a user chose for an option; empty where nobody did."""
    by_tier = {one.option for one in plan.best}
    value = plan.asked.get(option, "default")
    return "" if value == "default" or option in by_tier else value


def foreseen_shapes(comparison: Comparison) -> list[str]:
    """Return that batches of several shapes are compiled one by one, before the first round begins."""
    data = comparison.data
    drawn = len({repr(one) for one in data.shapes()})
    if data.padding == FIXED or drawn == 1:
        return []
    said = (
        f"padding {data.padding} makes {_shapes(data, drawn)} of batches, and what compiles does so for each of them: "
        "certificates and warm-ups take as many times what they take with one."
    )
    return [said]


def _shapes(data: Inputs, drawn: int) -> str:
    """Return how many shapes batches have; before they are drawn, at most."""
    if drawn:
        return f"{drawn} shapes"
    _, _, buckets = data.padding.partition(":")
    return f"up to {min(int(buckets), MOST_SHAPES) if buckets else MOST_SHAPES} shapes"
