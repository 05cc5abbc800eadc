"""Several devices beside one: efficiency and communication overhead, from the same paired rounds as every verdict."""

from __future__ import annotations

import math
import statistics
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.group import DEVICES
from bakeoff.spec.verdict import Interval, Verdict, between
from bakeoff.stats.intervals import fixed_interval
from bakeoff.store.results import finished, of_contender, of_purpose

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.record import Record


CONFIDENCE = 0.95


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """A contender on several devices beside itself on one."""

    label: str
    single: str
    """The label of the same contender on one device."""
    devices: int
    threads: str
    """Of each device."""
    samples_per_s: float | None
    """Of all devices together."""
    verdict: Verdict
    """Of the step times, on one device over on several: its ratio is what all of this follows from."""
    efficiency: Interval | None
    """Samples a second of all devices, over so many times those of one; None before there is an interval."""
    efficiency_estimate: float | None
    """The same where there are too few rounds for an interval."""
    overhead: Interval | None
    """Communication overhead, 1 - (steps a second on all) / (steps a second on one), where each device has as many
    samples as one; None where the batch is shared out, and before there is an interval."""
    straggling: float | None
    """By how much of a block's time the replicas' own times differ: the median over blocks; None in one process."""
    collectives: float | None = None
    """Share of a step in which collectives ran, by the traces of an explanation: the mean over rounds, of the first
    replica, or of all in one process. None where nothing was traced, and where the profiler names no collective."""
    collectives_interval: Interval | None = None
    """Of 95 %; None with too few rounds."""


def siblings(plans: Sequence[ContenderPlan]) -> dict[str, str]:
    """Return, by the label of each contender on several devices, that of the same one on a single device."""
    ones = [plan for plan in plans if plan.devices == 1]
    found = {}
    for plan in plans:
        same = [one for one in ones if plan.devices > 1 and _without_devices(one) == _without_devices(plan)]
        if same:
            found[plan.contender.label] = same[0].contender.label
    return found


def _without_devices(plan: ContenderPlan) -> tuple[str, str, Mapping[str, str]]:
    """Return what two contenders have in common that differ in their number of devices alone."""
    options = {name: value for name, value in plan.contender.options.items() if name != DEVICES}
    return plan.contender.framework, plan.interpreter, options


def are_comparable(one: ContenderPlan, other: ContenderPlan) -> bool:
    """Return whether two contenders are on as many devices, or are one contender on a single device and on several."""
    fewest = min(one.devices, other.devices)
    return one.devices == other.devices or (fewest == 1 and _without_devices(one) == _without_devices(other))


def never_formed(plans: Sequence[ContenderPlan]) -> set[tuple[str, str]]:
    """Return the pairs of labels on different numbers of devices that are not one contender on one and on several."""
    devices = {plan.contender.label: plan.devices for plan in plans}
    same = {frozenset(both) for both in siblings(plans).items()}
    return {
        pair for pair in combinations(devices, 2) if len({devices[one] for one in pair}) > 1 and {*pair} not in same
    }


def scalings(
    comparison: Comparison,
    contenders: Sequence[ContenderOutcome],
    verdicts: Sequence[Verdict],
    records: Collection[Record],
) -> list[Scaling]:
    """Return what is known of each contender on several devices that was raced beside itself on one."""
    timed = of_purpose(records, "time")
    singles = siblings(comparison.contenders)
    found = []
    for one in contenders:
        single = singles.get(one.label)
        pair = between(verdicts, single, one.label) if single else None
        if single is None or pair is None:
            continue
        share = 1.0 if comparison.scaling == "weak" else 1.0 / one.plan.devices
        interval = _times(pair, share)
        shares = _in_collectives(of_purpose(of_contender(records, one.label), "explain"))
        found.append(
            Scaling(
                label=one.label,
                single=single,
                devices=one.plan.devices,
                threads=one.plan.contender.options.get("threads", ""),
                samples_per_s=one.samples_per_s,
                verdict=pair,
                efficiency=interval,
                efficiency_estimate=None if pair.ratio is None else pair.ratio * share,
                overhead=_overhead(interval) if comparison.scaling == "weak" else None,
                straggling=_straggling(finished(of_contender(timed, one.label))),
                collectives=statistics.fmean(shares) if shares else None,
                collectives_interval=fixed_interval(shares, CONFIDENCE),
            )
        )
    return found


def is_scaling(verdict: Verdict, plans: Sequence[ContenderPlan]) -> bool:
    """Return whether a verdict is on one contender on different numbers of devices, and so on none of frameworks."""
    devices = {plan.contender.label: plan.devices for plan in plans}
    return devices[verdict.first] != devices[verdict.second]


def _times(pair: Verdict, share: float) -> Interval | None:
    """Return a pair's ratio with its interval, times a share; None where it has no interval yet."""
    if pair.ratio is None or pair.low is None or pair.high is None:
        return None
    return Interval(estimate=pair.ratio * share, low=pair.low * share, high=pair.high * share)


def _overhead(efficiency: Interval | None) -> Interval | None:
    """Return what of a step on several devices a step on one does not take, as a share."""
    if efficiency is None:
        return None
    return Interval(estimate=1.0 - efficiency.estimate, low=1.0 - efficiency.high, high=1.0 - efficiency.low)


def _straggling(done: Iterable[Record]) -> float | None:
    """Return the median over blocks of how far the replicas' times are apart, as a share of the block's."""
    shares = [
        (max(block.replicas_ns) - min(block.replicas_ns)) / max(1, block.elapsed_ns)
        for record in done
        for block in record.blocks
        if block.replicas_ns
    ]
    return statistics.median(shares) if shares else None


def _in_collectives(traced: Iterable[Record]) -> list[float]:
    """Return the share of collectives in the steps of each traced trial; none where no trial names any."""
    seen = [record.traced.shares for record in finished(traced) if record.traced and record.traced.shares]
    found = [math.fsum(share.share for share in shares if share.kind == "communication") for shares in seen]
    return found if any(found) else []
