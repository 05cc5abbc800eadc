"""What two comparisons have in common: the work, the machine, and who is who in both: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.options import DEFAULT, FRAMEWORK, WORKER_OPTIONS
from bakeoff.spec.per_sample import clipping_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.spec.comparison import Comparison, ContenderPlan

Value = str | int | float | None

HARDWARE = ("processor", "cores", "usable_cores", "memory_bytes", "architecture", "hypervisor", "gpu", "gpus")
"""Facts by which two machines are the same one; the others are its settings, which may change on it."""

ALWAYS = ("mode", "precision", "device", "threads")
"""Options that every comparison has, whatever its age, and that decide a step's time."""

AS_BEFORE = frozenset({DEFAULT, FRAMEWORK, *(option.values[0] for option in WORKER_OPTIONS.values()), "resident"})
"""Values that leave things as they are where an option is not named: comparisons older than the option lack it."""


def work_of(comparison: Comparison) -> tuple[Value, ...]:
    """Return what is computed; comparisons that differ in it measure different things."""
    clipping = clipping_words(comparison.per_sample)
    return (comparison.workload.name, comparison.scenario, comparison.size, comparison.batch_size, clipping)


def hardware_of(comparison: Comparison) -> tuple[Value, ...]:
    """Return what the machine is."""
    return tuple(comparison.machine.get(fact) for fact in HARDWARE)


def contender_key(plan: ContenderPlan) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a framework with its options, whatever version or environment ran it.

    Beside ALWAYS those count that were asked for, unless they leave things as they are. Comparisons older than the note
    of what was asked for have it in the label.
    """
    contender = plan.contender
    counted = {
        name: value
        for name, value in contender.options.items()
        if name in ALWAYS or ((name in plan.asked or f"{name}=" in contender.label) and value not in AS_BEFORE)
    }
    return contender.framework, tuple(sorted(counted.items()))


def matched(
    before: Sequence[ContenderOutcome], after: Sequence[ContenderOutcome]
) -> list[tuple[ContenderOutcome, ContenderOutcome]]:
    """Return which contender of one comparison is which of the other: by label and options, else by options alone."""
    left = list(after)
    found: dict[int, ContenderOutcome] = {}
    for by_label in (True, False):
        for place, one in enumerate(before):
            if place in found:
                continue
            for other in left:
                is_same = contender_key(one.plan) == contender_key(other.plan)
                if is_same and (not by_label or one.label == other.label):
                    found[place] = other
                    left.remove(other)
                    break
    return [(before[place], other) for place, other in sorted(found.items())]


def changed_facts(before: dict[str, Value], after: dict[str, Value]) -> dict[str, tuple[Value, Value]]:
    """Return the facts that differ, each with both values; None is not known, or not there."""
    names = dict.fromkeys([*before, *after])
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}
