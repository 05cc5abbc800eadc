"""Whether a contender has become slower than the first one that was named, for scripts such as `git bisect run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from bakeoff.spec.verdict import between

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

Regressed = Literal["slower", "not slower", "inconclusive"]


class Regression(msgspec.Struct, frozen=True, kw_only=True):
    """One contender against the first."""

    contender: str
    baseline: str
    """Label of the first contender; empty where it was not ranked."""
    answer: Regressed
    reason: str
    """Why it is unknown; empty where it is known."""
    ratio: float | None = None
    """Its step time over the baseline's, with the interval of the verdict."""
    low: float | None = None
    high: float | None = None
    level: float | None = None
    """The interval's; None for the one that decides, which has none of its own."""


def regressions(outcome: Outcome, share: float) -> list[Regression]:
    """Return every contender compared with the first: slower where all of the ratio's interval is above 1 + share.

    Where one that was named could not race, nothing is known: it may have been the first.
    """
    missing = outcome.comparison.excluded
    if missing:
        return [
            Regression(contender=name, baseline="", answer="inconclusive", reason=reason)
            for name, reason in missing.items()
        ]
    baseline, *others = outcome.contenders
    return [_regression(outcome, baseline, other, share) for other in others]


def worst(found: list[Regression]) -> Regressed:
    """Return the answer for all: the worst of theirs; where there is none to compare, none is known."""
    answers = {one.answer for one in found} or {"inconclusive"}
    order: tuple[Regressed, ...] = ("slower", "inconclusive", "not slower")
    return next(answer for answer in order if answer in answers)


def _regression(outcome: Outcome, baseline: ContenderOutcome, other: ContenderOutcome, share: float) -> Regression:
    """Return one contender compared with the first."""
    absent = next((one for one in (baseline, other) if one.status != "ranked"), None)
    verdict = between(outcome.verdicts, other.label, baseline.label)
    ratio = verdict.ratio if verdict else None
    low, high, level = (verdict.low, verdict.high, verdict.level) if verdict else (None, None, None)
    answer: Regressed = "inconclusive"
    reason = ""
    if absent is not None:
        reason = f"{absent.label}: {absent.reason or absent.status}"
    elif low is None or high is None or (verdict is not None and verdict.rounds < verdict.fewest):
        reason = "too few rounds"
    elif verdict is not None and verdict.level is not None and verdict.verdict == "undecided":
        reason = "no direction is decided; more rounds or a calmer machine would"
    elif low > 1.0 + share:
        answer = "slower"
    elif high <= 1.0 + share:
        answer = "not slower"
    else:
        reason = "the interval reaches over the limit; more rounds or a calmer machine would narrow it"
    return Regression(
        contender=other.label,
        baseline=baseline.label,
        answer=answer,
        reason=reason,
        ratio=ratio,
        low=low,
        high=high,
        level=level,
    )
