"""Verdicts and certificates: what bakeoff concludes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

VerdictKind = Literal["faster", "slower", "equal", "undecided"]


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate with its confidence interval."""

    estimate: float
    low: float
    high: float


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one pair: `ratio` is the step time of `first` divided by that of `second`.

    `verdict` is about `first`: "slower" means that `first` takes longer than `second`.
    """

    first: str
    second: str
    verdict: VerdictKind
    ratio: float | None
    low: float | None
    high: float | None
    """The interval of the size, of this pair alone; of comparisons by the first procedure, that of the boundaries."""
    level: float | None = None
    """The coverage of the interval: 0.95; None where boundaries that hold over all looks and pairs gave it."""
    rounds: int
    """Number of rounds in which both ran."""
    fewest: int = 3
    """Fewer rounds give no verdict."""
    decided_rounds: int | None = None
    """Rounds after which the pair was decided; None: it is not, or by the first procedure."""
    decided_low: float | None = None
    decided_high: float | None = None
    """The interval by the boundaries at the last look before that, which the verdict rests on; None likewise."""
    under_margin: bool = False
    """The pair is decided, but its interval reaches into the margin of equality: chance may have had a part in it, and
    the size is then told too large."""
    more_rounds: int | None = None
    """About how many more rounds would decide an undecided pair, or make a wide one's size known; None where none of
    the coming looks can."""
    chance: float | None = None
    """The probability that so many rounds decide it, if they go on as they did; None where it is not known."""
    stopped: Literal["", "futility", "budget", "rounds"] = ""
    """Why a pair that is undecided or wide gets no more rounds."""
    wide: bool = False
    """The pair is decided, but its interval is wider than was asked for."""
    ratio_of_means: float | None = None
    ratio_unflagged: float | None = None
    """The ratio without the turns in which other processes disturbed a block; None where they disturbed none or all."""
    blocks: int = 0
    """Number of timed blocks of both, in these rounds."""
    flagged_blocks: int = 0
    """How many of these blocks other processes disturbed."""
    flagged_rounds: int = 0
    """Number of rounds with such a block."""


_MIRRORED: dict[VerdictKind, VerdictKind] = {"faster": "slower", "slower": "faster"}


def mirrored(verdict: Verdict) -> Verdict:
    """Return the same result with `first` and `second` exchanged."""
    return msgspec.structs.replace(
        verdict,
        first=verdict.second,
        second=verdict.first,
        verdict=_MIRRORED.get(verdict.verdict, verdict.verdict),
        ratio=_inverse(verdict.ratio),
        low=_inverse(verdict.high),
        high=_inverse(verdict.low),
        decided_low=_inverse(verdict.decided_high),
        decided_high=_inverse(verdict.decided_low),
        ratio_of_means=_inverse(verdict.ratio_of_means),
        ratio_unflagged=_inverse(verdict.ratio_unflagged),
    )


def between(verdicts: Iterable[Verdict], first: str, second: str) -> Verdict | None:
    """Return the verdict on a pair as that of `first` over `second`; None where there is none."""
    for verdict in verdicts:
        if (verdict.first, verdict.second) == (first, second):
            return verdict
        if (verdict.first, verdict.second) == (second, first):
            return mirrored(verdict)
    return None


def _inverse(value: float | None) -> float | None:
    """Return 1 / value; None for None."""
    return None if value is None else 1.0 / value


Stage = Literal["", "program", "timed"]
"""Which of its settings a contender was checked in.

program  its own code in float64: whether it is the same program
timed    the settings that are timed: what their precision loses
""         neither by itself: records of an earlier version, and ready-made models
"""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check of a certificate, with the largest error and the error that is allowed."""

    name: Literal[
        "parameters",
        "outputs",
        "ran",
        "loss",
        "gradients",
        "optimizer",
        "update",
        "frozen",
        "trajectory",
        "metric",
        "state",
        "norms",
        "noise",
        "informative",
        "inputs",
    ]
    stage: Stage = ""
    passed: bool
    detail: str
    error: float | None = None
    allowed: float | None = None


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a contender computes the same as the reference in float64, with every check behind it."""

    contender: str
    reference: str
    passed: bool
    checks: tuple[Check, ...]
    reason: str = ""
    """Why it did not pass, in one sentence; empty when it passed."""
    ready_made: str = ""
    """The ready-made model that ran in place of the workload's; it is not compared with the reference."""
    alone: str = ""
    """Why its program was not run in float64, so that the timed settings are held alone; empty where it was."""
    losses: int | None = None
    """How many losses of the timed settings are held; None: all. Later ones may follow what the first steps magnify
    beyond use."""
