"""Kinds of noise for benchmarks/deciding.py: log times of equally fast contenders, (trials, contenders, rounds).

Those of FIRST are the regimes in which the first procedure was found wanting, and on which the present one was chosen;
those of OTHER were written down after it was chosen, to hold it to noise that it had not seen. In DEPENDENT rounds are
not independent, which no boundary cures; they are here to be looked for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
Make = "Callable[[np.random.Generator, tuple[int, int, int]], Floats]"

ROUNDS = 20
CALM = (0.014, 0.023, 0.039)
"""Standard deviations of a round's log time of three frameworks in processes of their own, measured on a calm
machine."""
NOISY = (0.074, 0.052, 0.034)
"""The same on a shared virtual machine."""
EVEN = 0.02


def spreads(contenders: int, of: tuple[float, ...] = CALM) -> Floats:
    """Give each contender's standard deviation, shaped to multiply noise."""
    return np.array([of[index % len(of)] for index in range(contenders)])[None, :, None]


def normal(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Give normal noise on a calm machine."""
    return generator.normal(size=shape) * spreads(shape[1])


def scaled(*factors: float) -> Callable[[np.random.Generator, tuple[int, int, int]], Floats]:
    """Give normal noise whose first contenders are so many times as noisy as the rest."""

    def make(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
        values = generator.normal(0.0, EVEN, shape)
        for index, factor in enumerate(factors[: shape[1]]):
            values[:, index] *= factor
        return values

    return make


def bursts(share: float, hit: int = 1) -> Callable[[np.random.Generator, tuple[int, int, int]], Floats]:
    """Give calm noise in which the first `hit` contenders alone are slowed by about 30 % in a share of their rounds."""

    def make(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
        values = normal(generator, shape)
        for index in range(hit):
            size = np.maximum(0.05, generator.normal(0.3, 0.15, (shape[0], shape[2])))
            values[:, index] += (generator.random((shape[0], shape[2])) < share) * size
        return values

    return make


def modes(apart: float, modal: int = 1, share: float = 0.5) -> Callable[..., Floats]:
    """Give noise in which each process of the first `modal` contenders draws one of two modes."""

    def make(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
        values = generator.normal(0.0, 0.004, shape)
        for index in range(min(modal, shape[1])):
            upper = generator.random((shape[0], shape[2])) < share
            # Centred at their mean, which is also their middle where both modes are equally frequent.
            values[:, index] += apart * (upper - share)
        return values

    return make


def doubled(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Give calm noise in which one contender, drawn anew, takes twice as long in one round of five."""
    values = normal(generator, shape)
    hit, who = generator.random((shape[0], shape[2])) < 0.2, generator.integers(0, shape[1], (shape[0], shape[2]))
    for index in range(shape[1]):
        values[:, index] += math.log(2.0) * (hit & (who == index))
    return values


def changing(first: float, second: float, at: int) -> Callable[..., Floats]:
    """Give calm noise times one factor before a round and another from it on."""

    def make(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
        factor = np.where(np.arange(shape[2]) < at, first, second)
        return normal(generator, shape) * factor

    return make


def quantised(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Give calm noise rounded to whole percents."""
    return np.round(normal(generator, shape), 2)


def autocorrelated(correlation: float) -> Callable[..., Floats]:
    """Give calm noise in which each round resembles the one before it."""

    def make(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
        values = generator.normal(size=shape)
        for index in range(1, shape[2]):
            fresh = math.sqrt(1.0 - correlation**2) * values[..., index]
            values[..., index] = correlation * values[..., index - 1] + fresh
        return values * spreads(shape[1])

    return make


def drifting(sd: float) -> Callable[..., Floats]:
    """Give calm noise and a straight drift of each contender of its own, by so much over 20 rounds."""

    def make(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
        slope = generator.normal(0.0, sd, (*shape[:2], 1))
        return normal(generator, shape) + slope * np.arange(shape[2]) / (ROUNDS - 1)

    return make


def skewed(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Give one contender exponential delays about its own median, and calm noise to all."""
    values = normal(generator, shape)
    values[:, 0] += 0.03 * (generator.exponential(size=(shape[0], shape[2])) - math.log(2.0))
    return values


def rare(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Give calm noise that is 20 times wider in 2 % of all processes."""
    return normal(generator, shape) * np.where(generator.random(shape) < 0.02, 20.0, 1.0)


def machines(generator: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Give normal noise whose spread is drawn anew in every round for all contenders, by a factor of e at one sd."""
    return normal(generator, shape) * np.exp(generator.normal(size=(shape[0], 1, shape[2])))


FIRST: dict[str, Callable[..., Floats]] = {
    "calm": normal,
    "noisy virtual machine": lambda g, s: g.normal(size=s) * spreads(s[1], NOISY),
    "even": scaled(),
    "one twice as noisy": scaled(2.0),
    "one five times as noisy": scaled(5.0),
    "Student's t, 3 degrees": lambda g, s: g.standard_t(3, s) * spreads(s[1]),
    "uniform": lambda g, s: g.uniform(-1.7, 1.7, s) * spreads(s[1]),
    "1 round in 5 doubles one": doubled,
    "spread grows fourfold half way": changing(1.0, 4.0, 10),
    "quantised": quantised,
    "one has modes 6 % apart": modes(0.06),
    "one has modes 10 % apart": modes(0.10),
    "one has bursts in 10 % of rounds": bursts(0.1),
    "one has bursts in 20 % of rounds": bursts(0.2),
}
OTHER: dict[str, Callable[..., Floats]] = {
    "Laplace": lambda g, s: g.laplace(size=s) * spreads(s[1]),
    "two five times as noisy": scaled(5.0, 5.0),
    "one a fifth as noisy": scaled(0.2),
    "all have modes 6 % apart": modes(0.06, 9),
    "one has modes 6 % apart, 1 in 4": modes(0.06, 1, 0.25),
    "two have bursts in 20 % of rounds": bursts(0.2, 2),
    "one has exponential delays": skewed,
    "2 % of processes 20 times wider": rare,
    "spread drawn anew in every round": machines,
    "calm to five times as noisy after 5": changing(1.0, 5.0, 5),
    "noisy to calm after 5": changing(5.0, 1.0, 5),
}
DEPENDENT: dict[str, Callable[..., Floats]] = {
    "autocorrelated, 0.5": autocorrelated(0.5),
    "autocorrelated, 0.9": autocorrelated(0.9),
    "each drifts by 2 %": drifting(0.02),
    "each drifts by 5 %": drifting(0.05),
}


def noise(regime: str, trials: int, contenders: int, seed: int, rounds: int = ROUNDS) -> Floats:
    """Give the log times of one regime."""
    make = (FIRST | OTHER | DEPENDENT)[regime]
    return make(np.random.default_rng(seed), (trials, contenders, rounds))
