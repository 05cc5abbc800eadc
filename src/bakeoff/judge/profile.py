"""One contender's traces over their rounds: how far they tell where its time goes, and what is to be known of them."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.judge.explanation import ContenderProfile, MeanOverRounds
from bakeoff.stats.intervals import fixed_interval
from bakeoff.store.results import of_contender, of_purpose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.explained import Share, Traced
    from bakeoff.spec.record import Record

NOT_RUN = (
    "no trial of it was traced: the time budget was spent (--budget gives more), or the comparison was not explained"
)

LAYERLESS = ("optimiser", "communication", "device copy", "input wait")
"""Kinds of operations that belong to no layer of a model, and are no gap of a profile."""

NOWHERE = ("host dispatch", "idle", "other")
"""Kinds that no operation is behind, or none that is known."""


COPIES = "device copy"

NO_COMPUTING = ("host dispatch", "idle", "input wait", COPIES)
"""Kinds of time in which no operation of the model's work runs on the device."""

CONFIDENCE = 0.95


def why_untraced(plan: ContenderPlan) -> str:
    """Return why a contender's steps are not traced; empty where they can be."""
    if plan.contender.options.get("tier") == "native":
        return "a ready-made model has no layers of the workload's, whose names a trace is read by"
    return ""


def traced_rounds(records: Iterable[Record], label: str) -> dict[int, Traced]:
    """Return what a contender's traced trials have seen, by round; those that saw nothing are left out."""
    return {
        record.trial.round_number: record.traced
        for record in of_purpose(of_contender(records, label), "explain")
        if record.outcome == "done" and record.traced is not None and record.traced.shares
    }


def profiles_of(outcome: Outcome, records: Sequence[Record]) -> list[ContenderProfile]:
    """Return what the traces of each ranked contender tell."""
    ranked = [one for one in outcome.contenders if one.status == "ranked"]
    found = [profile_of(one, records, Path(outcome.path)) for one in ranked]
    return [one for one in found if one is not None]


def profile_of(one: ContenderOutcome, records: Sequence[Record], folder: Path) -> ContenderProfile | None:
    """Return what a contender's traces tell; None for a contender that has no step time."""
    if one.median_step_s is None:
        return None
    mine = of_purpose(of_contender(records, one.label), "explain")
    seen = traced_rounds(records, one.label)
    if not seen:
        return ContenderProfile(
            label=one.label, level="none", reason=_why_none(one, mine), rounds=0, step_s=one.median_step_s
        )
    traced = list(seen.values())
    files = {record.trial.round_number: folder / record.trial.name for record in mine}
    return ContenderProfile(
        label=one.label,
        level=traced[-1].level,
        reason=traced[-1].reason,
        rounds=len(seen),
        step_s=one.median_step_s,
        profiled_ratio=_profiled_ratio(traced),
        inferred_share=_mean(sum(share.inferred for share in one.shares) for one in traced),
        mixed_share=_mean(sum(share.mixed for share in one.shares) for one in traced),
        unattributed_share=_mean(_unattributed(one) for one in traced),
        compute=_part(traced, lambda share: share.share if share.kind not in NO_COMPUTING else 0.0),
        copies=_part(traced, lambda share: share.share if share.kind == COPIES else 0.0),
        launches=_part(traced, lambda share: share.launches),
        events_per_step=_mean(one.events_per_step for one in traced),
        stages=next((one.stages for one in traced if one.stages), []),
        notes=list(dict.fromkeys(note for one in traced for note in one.notes)),
        facts=dict(traced[-1].facts),
        # Raw traces are large, and may have been removed since.
        files=[
            str(path) for number, one in seen.items() for name in one.files if (path := files[number] / name).exists()
        ],
    )


def _why_none(one: ContenderOutcome, mine: Sequence[Record]) -> str:
    """Return why there is no profile of a contender."""
    for record in reversed(mine):
        if record.outcome != "done":
            return f"its traced trial did not come to its end: {record.outcome}: {record.reason}"
        if record.traced is not None:
            return record.traced.reason
    return why_untraced(one.plan) or NOT_RUN


def _part(traced: Sequence[Traced], of: Callable[[Share], float]) -> MeanOverRounds:
    """Return what is in each step, summed over its shares, with an interval over rounds by Student's t.

    Five rounds are too few for signed ranks at this confidence.
    """
    values = [math.fsum(map(of, one.shares)) for one in traced]
    return MeanOverRounds(mean=_mean(values), interval=fixed_interval(values, CONFIDENCE))


def _profiled_ratio(traced: Sequence[Traced]) -> float | None:
    """Return a step under the profiler against the plain one of the same pair: the median over pairs of blocks."""
    ratios = [
        statistics.median(profiled) / statistics.median(plain)
        for one in traced
        for plain, profiled in zip(one.plain_ns, one.profiled_ns, strict=False)
        if plain and profiled and statistics.median(plain)
    ]
    return statistics.median(ratios) if ratios else None


def _unattributed(one: Traced) -> float:
    """Return the share of a step that no known operation is behind, nor, where a profile has layers, any of them."""
    return sum(share.share for share in one.shares if _is_unattributed(share, is_layered=one.level == "layers"))


def _is_unattributed(share: Share, *, is_layered: bool) -> bool:
    """Return whether a part of a step is explained by nothing."""
    placed = bool(share.layer or share.function) or share.kind in LAYERLESS or not is_layered
    return share.kind in NOWHERE or not placed


def _mean(values: Iterable[float]) -> float:
    """Return the mean over rounds."""
    return statistics.fmean(values)
