"""Whether rounds are independent, which every interval takes for granted, and whether step times move within a round.

The von Neumann ratio compares neighbouring rounds with all rounds: about 2 where they are independent, less where each
resembles the one before it. Source: J. von Neumann, "Distribution of the ratio of the mean square successive difference
to the variance", Annals of Mathematical Statistics 12, 1941.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit  # and not scipy.stats, which takes half a second to import

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Floats = NDArray[np.float64]

FEWEST_ROUNDS = 10
"""With fewer rounds hardly any dependence is found (benchmarks/dependence.py)."""

SHUFFLES = 1999
"""Orders of the same rounds that the one in which they were run is held against."""
SMALLEST_SPREAD = 1e-9
"""Of log times; a contender whose residuals vary less was not measured but computed."""
ALLOWED = 99
"""How many of these may have as small a ratio where that is said to be rare: (99 + 1) / (1999 + 1) is 5 %."""


class Resemblance(msgspec.Struct, frozen=True, kw_only=True):
    """How much neighbouring rounds resemble each other."""

    ratio: float
    """The von Neumann ratio of the contenders' residuals, pooled."""
    low: float
    """The same rounds in random orders give less in 5 % of them."""
    rounds: int
    """Common rounds of these contenders."""
    contenders: int

    @property
    def is_found(self) -> bool:
        """Whether neighbouring rounds resemble each other more than independent ones do."""
        return self.ratio < self.low


def resemblance(times: Mapping[str, Mapping[int, float]]) -> Resemblance | None:
    """Return how much the residuals of neighbouring rounds resemble each other; None below 10 common rounds.

    `times` holds each contender's step time by round. A residual is a contender's log time without its own mean and
    without what all contenders have in common in that round; each contender counts alike, however noisy it is.
    """
    long = {label: rounds for label, rounds in times.items() if len(rounds) >= FEWEST_ROUNDS}
    common = sorted(set.intersection(*(set(rounds) for rounds in long.values()))) if long else []
    if len(long) < 2 or len(common) < FEWEST_ROUNDS:  # noqa: PLR2004 (a residual needs another contender)
        return None
    logs = np.log([[rounds[number] for number in common] for rounds in long.values()])
    products = _products(logs)
    if products is None:
        return None
    ratio = float(_ratios(products, np.arange(len(common))[None])[0])
    return Resemblance(ratio=ratio, low=_low(products), rounds=len(common), contenders=len(long))


def _products(logs: Floats) -> Floats | None:
    """Return the sums of products of the residuals of any two rounds, over contenders; None where one does not vary."""
    residuals = logs - logs.mean(axis=0)
    residuals = residuals - residuals.mean(axis=1, keepdims=True)
    spread = np.sqrt((residuals**2).mean(axis=1, keepdims=True))
    if not (spread > SMALLEST_SPREAD).all():
        return None
    scaled = residuals / spread
    found: Floats = scaled.T @ scaled / scaled.size
    return found


def _ratios(products: Floats, orders: NDArray[np.int64]) -> Floats:
    """Return the von Neumann ratio of the rounds in each of several orders."""
    own = np.diag(products)
    ends = own[orders[:, 0]] + own[orders[:, -1]]
    neighbours = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    found: Floats = 2.0 * own.sum() - ends - 2.0 * neighbours
    return found


def _low(products: Floats) -> float:
    """Return the ratio below which 5 % of random orders of the same rounds lie.

    So 5 % of all comparisons give a false alarm, whatever the noise is, if all orders are equally probable. The orders
    are drawn from a fixed seed: the same records give the same finding.
    """
    generator = np.random.default_rng(0)
    orders = generator.permuted(np.tile(np.arange(len(products)), (SHUFFLES, 1)), axis=1)
    return float(np.sort(_ratios(products, orders))[ALLOWED])


# --- Within a round -----------------------------------------------------------------------------------------------


class TrendRule(msgspec.Struct, frozen=True, kw_only=True):
    """When step times are said to move over the turns of a round."""

    fewest_rounds: int = 3
    fewest_turns: int = 4
    confidence: float = 0.99
    """Of the interval of the change: one contender in a hundred is told a trend that it does not have."""
    smallest: float = 0.02
    """Changes below 2 % from the first turn to the last are not told: they move no verdict by a margin of 5 %."""


TREND = TrendRule()


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """How a contender's step time changes from the first turn of a round to the last, as shares: 0.4 is 40 % longer."""

    change: float
    low: float
    high: float
    """Its 99 % interval over rounds."""
    rounds: int

    @property
    def is_found(self) -> bool:
        """Whether the step time moves, by an amount that matters."""
        return (self.low > 0.0 or self.high < 0.0) and abs(self.change) >= TREND.smallest


def turn_trend(rounds: Sequence[Mapping[int, float]]) -> Trend | None:
    """Return the linear trend of a contender's step time over turns; None with too few rounds or turns.

    `rounds` holds the step time by turn for each round. Each round gives one slope of log time over turns, by least
    squares; a t interval over rounds says whether they have a common one. A burst moves a slope either way, so that
    load alone is no trend.
    """
    used = [one for one in rounds if len(one) >= TREND.fewest_turns]
    if len(used) < TREND.fewest_rounds:
        return None
    changes = np.array([_change(one) for one in used])
    half = (
        float(stdtrit(len(changes) - 1, 0.5 + TREND.confidence / 2.0)) * changes.std(ddof=1) / math.sqrt(len(changes))
    )
    mean = float(changes.mean())
    return Trend(
        change=math.expm1(mean), low=math.expm1(mean - half), high=math.expm1(mean + half), rounds=len(changes)
    )


def _change(turns: Mapping[int, float]) -> float:
    """Return by how much the logarithm of a time changes from the first turn to the last, by least squares."""
    places = np.array(sorted(turns), dtype=float)
    logs = np.log([turns[int(place)] for place in places])
    centred = places - places.mean()
    return float(centred @ logs / (centred @ centred) * (places[-1] - places[0]))
