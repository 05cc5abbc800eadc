"""Verdicts and certificates: what bakeoff says in the end."""

from __future__ import annotations

from typing import Literal

import msgspec

VerdictKind = Literal["faster", "slower", "equal", "undecided"]


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate with the interval that the procedure guarantees."""

    estimate: float
    low: float
    high: float


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one pair: `ratio` is the step time of `first` over that of `second`.

    `verdict` speaks of `first`: "slower" means that `first` takes longer than `second`.
    """

    first: str
    second: str
    verdict: VerdictKind
    ratio: float | None
    low: float | None
    high: float | None
    rounds: int
    """Rounds in which both ran."""
    under_margin: bool = False
    """Decided, but the interval reaches into the margin of equality."""
    more_rounds: int | None = None
    """For an undecided pair: about how many more rounds would be needed."""
    stopped: Literal["", "futility", "budget", "rounds"] = ""
    """Why a pair was given up that is undecided or wide."""
    wide: bool = False
    """Decided, but its ratio is not known as narrowly as how-much asks for."""
    ratio_of_means: float | None = None
    ratio_unflagged: float | None = None
    """The ratio without the turns in which foreign load disturbed a block; None where none was disturbed, or all."""
    blocks: int = 0
    """Timed blocks of both, in these rounds."""
    flagged_blocks: int = 0
    """Of them, those that foreign load disturbed."""
    flagged_rounds: int = 0
    """Rounds with such a block."""


_MIRRORED: dict[VerdictKind, VerdictKind] = {"faster": "slower", "slower": "faster"}


def mirrored(verdict: Verdict) -> Verdict:
    """Exchange first and second."""
    return msgspec.structs.replace(
        verdict,
        first=verdict.second,
        second=verdict.first,
        verdict=_MIRRORED.get(verdict.verdict, verdict.verdict),
        ratio=_inverse(verdict.ratio),
        low=_inverse(verdict.high),
        high=_inverse(verdict.low),
        ratio_of_means=_inverse(verdict.ratio_of_means),
        ratio_unflagged=_inverse(verdict.ratio_unflagged),
    )


def _inverse(value: float | None) -> float | None:
    """Give 1 / value."""
    return None if value is None else 1.0 / value


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a certificate, with the largest error that was found and the error that is allowed."""

    name: Literal["parameters", "outputs", "loss", "gradients", "optimizer", "state", "informative", "inputs"]
    passed: bool
    detail: str
    error: float | None = None
    allowed: float | None = None


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence that a contender computes the same thing as the reference in float64."""

    contender: str
    reference: str
    passed: bool
    checks: tuple[Check, ...]
    reason: str = ""
    """Why there is no passing certificate, in one sentence; empty when it passed."""
    ready_made: str = ""
    """What was run in place of the workload's model; then it was held against nothing but itself."""
