"""How long one batch of inference takes from its call to its outputs, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.units import count, duration, unit_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.outcome import ContenderOutcome, Outcome


def latency_line(outcome: Outcome, ranked: Sequence[ContenderOutcome]) -> str:
    """Give each contender's fenced p50 and p90; empty in training, where nobody waits for a single step."""
    timed = [one for one in ranked if one.fenced_p50_s is not None]
    if outcome.comparison.scenario != "infer" or not timed:
        return ""
    unit = unit_for(one.fenced_p50_s for one in timed)
    told = [
        f"{one.label} p50 {duration(one.fenced_p50_s, unit)}, p90 {duration(one.fenced_p90_s, unit)} "
        f"(n {one.fenced_steps:,})"
        for one in timed
    ]
    size = count(outcome.comparison.batch_size, "sample")
    return f"Latency of a batch of {size}, from its call to its outputs: {'; '.join(told)}."
