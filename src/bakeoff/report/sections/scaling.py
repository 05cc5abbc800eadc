"""Several devices: throughput, efficiency and communication overhead beside the same contender on one device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.standings import bounds, kind
from bakeoff.report.units import PERCENT, quantity, rounded, tenths
from bakeoff.spec.group import BOUND_TO
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.scaling import Scaling
    from bakeoff.spec.verdict import Interval

HEADS = ["on several devices", "devices", "threads of each", "samples/s", "efficiency, %", "95 % CI", "overhead, %"]
TRACED = "in collectives, %"
"""The head of one column more, where a profiler names collectives."""


MEANING = (
    "Efficiency: samples a second on all devices, over so many times those of the same contender on one device with as "
    "many threads, from the same rounds. Overhead: 1 - (steps a second on all) / (steps a second on one), where each "
    "device has as many samples as one. The collectives are inside the timed region; sharing out the batch is not: "
    "each replica's samples are on its device before."
)

IN_COLLECTIVES = (
    "In collectives: the share of a traced step in which one ran, by the framework's own profiler in the trials of "
    "an explanation. What runs at the same time has its part of an instant, and waiting for the other replicas "
    "within a collective is the collective's."
)
"""A profiler's steps are longer than those that are raced, so that it is no part of the overhead."""

SHARED = (
    "The devices are shares of one processor: replicas have its memory bandwidth, caches and clock in common, so that "
    "their efficiency says what this processor shares, and nothing about GPUs or a network."
)


def headline(outcome: Outcome) -> str:
    """Return how well each contender scales, in a sentence; "" where none was raced on several devices."""
    said = [_sentence(one, outcome.comparison.scaling) for one in outcome.scalings]
    return "; ".join(said) + "." if said else ""


def _sentence(one: Scaling, scaling: str) -> str:
    """Return how well one contender scales: "torch:devices=2 is 82 % efficient (95 % CI 79 to 85 %), weak scaling"."""
    if kind(one.verdict) == "no verdict" or one.efficiency is None:
        known = "" if one.efficiency_estimate is None else f"; so far {rounded(100 * one.efficiency_estimate)} %"
        return f"{one.label}: no interval of its efficiency yet{known}"
    share, interval = _parts(one.efficiency)
    each = "each device has the batch" if scaling == "weak" else "the batch is shared out"
    return (
        f"{one.label} has {share} % of {one.devices} times the throughput of one device (95 % CI {interval} %; {each})"
    )


def _parts(interval: Interval) -> tuple[str, str]:
    """Return a share in percent, and the ends of its interval."""
    digits = quantity(interval, PERCENT)
    return digits.estimate, f"{digits.low} to {digits.high}"


def table(outcome: Outcome) -> Table:
    """Return a line for each contender on several devices."""
    is_traced, lines = _is_traced(outcome), []
    for one in outcome.scalings:
        share, interval = _parts(one.efficiency) if one.efficiency else ("", "")
        if one.efficiency is None and one.efficiency_estimate is not None:
            share = rounded(100 * one.efficiency_estimate)
        overhead = _overhead(one, outcome.comparison.scaling)
        samples = "" if one.samples_per_s is None else rounded(one.samples_per_s)
        cells = [one.label, f"{one.devices}", one.threads, samples, share, interval, overhead]
        lines.append(Line([*cells, _collectives(one)] if is_traced else cells))
    return Table([*HEADS, TRACED] if is_traced else HEADS, lines)


def _overhead(one: Scaling, scaling: str) -> str:
    """Return an overhead; without its interval as 1 less the efficiency; "" where the batch is shared out."""
    if one.overhead is not None:
        return " ".join(_shown(one.overhead))
    if scaling != "weak" or one.efficiency_estimate is None:
        return ""
    return f"{round(100 * (1 - one.efficiency_estimate))}"  # it may be below 0


def _is_traced(outcome: Outcome) -> bool:
    """Return whether any contender's profiler has named collectives."""
    return any(one.collectives is not None for one in outcome.scalings)


def _collectives(one: Scaling) -> str:
    """Return the share of a step in collectives with its interval; "" where none is known."""
    if one.collectives is None:
        return ""
    if one.collectives_interval is None:
        return tenths(one.collectives)
    return " ".join(_shown(one.collectives_interval))


def _shown(interval: Interval) -> tuple[str, str]:
    """Return a share, and its interval in brackets; an overhead's may go below 0, where quantities have no digits."""
    estimate, low, high = map(tenths, (interval.estimate, interval.low, interval.high))
    return estimate, f"({low} to {high})"


def notes(outcome: Outcome) -> list[str]:
    """Return what the table's words mean, and what this machine can show."""
    if not outcome.scalings:
        return []
    said = [MEANING, *([IN_COLLECTIVES] if _is_traced(outcome) else [])]
    apart = [f"{one.label} {tenths(one.straggling)} %" for one in outcome.scalings if one.straggling is not None]
    if apart:
        said.append(f"Replicas' own times of a block differ, in the median over blocks, by: {', '.join(apart)}.")
    if links := outcome.comparison.machine.get("gpu_links"):
        said.append(f"Between the GPUs, by NVML: {links}.")
    bound = [f"{one.label} ({one.settings[BOUND_TO]})" for one in outcome.contenders if one.settings.get(BOUND_TO)]
    if bound:
        said.append(f"Each process is bound to processors, in the order of the replicas: {', '.join(bound)}.")
    return said


def cautions(outcome: Outcome) -> list[str]:
    """Return what a reader must know of devices that are shares of one processor."""
    on_cpu = [one for one in outcome.scalings if _options(outcome, one.label).get("device", "cpu") == "cpu"]
    if not on_cpu:
        return []
    most = max(one.devices for one in on_cpu)
    cores = outcome.comparison.machine.get("usable_cores")
    said = [SHARED]
    if isinstance(cores, int) and most > cores:
        said.append(
            f"{count(most, 'replica')} on {count(cores, 'core')}: they take turns, and the efficiency is theirs."
        )
    return said


def _options(outcome: Outcome, label: str) -> dict[str, str]:
    """Return a contender's options."""
    return next((one.plan.contender.options for one in outcome.contenders if one.label == label), {})


def _sections(outcome: Outcome) -> list[Section]:
    """Return the table, where a contender was raced on several devices."""
    if not outcome.scalings:
        return []
    return [Section(title="Several devices", notes=notes(outcome), tables=[table(outcome)])]


def _data(outcome: Outcome) -> dict[str, Any]:
    """Return the figures of each contender on several devices."""
    found = []
    for one in outcome.scalings:
        fields = msgspec.to_builtins(one)
        del fields["verdict"]
        for name in ("efficiency", "overhead"):
            known = getattr(one, name)
            fields |= {name: known.estimate if known else None, f"{name}_interval": bounds(known)}
        fields["collectives_interval"] = bounds(one.collectives_interval)
        estimate = fields.pop("efficiency_estimate")
        found.append(fields | {"efficiency": estimate, "verdict": kind(one.verdict)})
    return {"scaling": {"kind": outcome.comparison.scaling, "contenders": found}} if found else {"scaling": None}


SCALING = Subject(sections=_sections, cautions=cautions, data=_data)
