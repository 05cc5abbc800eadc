"""Simulated comparisons on a shared machine, decided by bakeoff's own code: no clock, no framework.

A slot is the time in which one fresh process does 30 steady steps. All noise is on the logarithm of a step's time:

- weather, which belongs to the time: drift (a random walk and a trend), bursts of foreign load that come and go
  (a two-state Markov chain), correlated step noise (AR(1)), and 1 % of steps 20 % slower;
- a process effect, which belongs to the process: memory layout, a kernel picked by autotuning.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bakeoff.stats.boundaries import LOOKS
from bakeoff.stats.differences import ping_pong_difference
from bakeoff.stats.pairs import Pair
from bakeoff.stats.progress import Standing, still_active
from bakeoff.stats.sequential import decide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bakeoff.spec.comparison import Aim
    from bakeoff.spec.verdict import Verdict

Floats = NDArray[np.float64]

STEPS = 30
TURNS = 3  # blocks of each contender in a round
MARGIN = 0.05
SPIKE_SHARE, SPIKE = 0.01, 0.2
BURST_MEAN, BURST_SD, BURST_MIN = 0.4, 0.2, 0.05  # of the slow-down in a burst, as a logarithm


class Regime(NamedTuple):
    """How noisy a machine is; standard deviations on the logarithm."""

    process_sd: float
    step_sd: float
    step_correlation: float
    walk_sd: float
    """Of the drift from slot to slot."""
    trend_sd: float
    """Of the trend over 40 slots."""
    burst_share: float
    burst_slots: float
    """Mean length of a burst."""


REGIMES = {
    "quiet": Regime(0.005, 0.02, 0.3, 0.0005, 0.003, 0.0, 0.5),
    "vm1": Regime(0.01, 0.05, 0.6, 0.004, 0.03, 0.05, 0.7),
    "vm2": Regime(0.02, 0.05, 0.6, 0.004, 0.03, 0.05, 0.7),
    "vm5": Regime(0.05, 0.08, 0.6, 0.008, 0.05, 0.05, 0.7),
    "vm2b15": Regime(0.02, 0.05, 0.6, 0.008, 0.05, 0.15, 1.5),
}


class Noise(NamedTuple):
    """Simulated comparisons without any effect, as logarithms."""

    weather: Floats
    """(trials, slots, STEPS)."""
    process: Floats
    """(trials, slots)."""


def make_noise(parameters: Regime, trials: int, slots: int, seed: int) -> Noise:
    """Simulate `trials` independent machines for `slots` slots."""
    generator = np.random.default_rng(seed)
    walk = np.cumsum(generator.normal(0.0, parameters.walk_sd, (trials, slots)), axis=1)
    trend = generator.normal(0.0, parameters.trend_sd, (trials, 1)) * np.arange(slots) / 40.0
    length = slots * STEPS
    weather = np.repeat(walk + trend, STEPS, axis=1)
    weather += _correlated(parameters, trials, length, generator)
    weather += (generator.random((trials, length)) < SPIKE_SHARE) * SPIKE
    if parameters.burst_share:
        weather += _bursts(parameters, trials, length, generator)
    process = generator.normal(0.0, parameters.process_sd, (trials, slots))
    return Noise(weather=weather.reshape(trials, slots, STEPS), process=process)


def _correlated(parameters: Regime, trials: int, length: int, generator: np.random.Generator) -> Floats:
    """Give stationary AR(1) noise, (trials, length)."""
    correlation = parameters.step_correlation
    noise = generator.normal(0.0, parameters.step_sd, (trials, length))
    noise[:, 1:] *= np.sqrt(1.0 - correlation**2)
    for step in range(1, length):
        noise[:, step] += correlation * noise[:, step - 1]
    return noise


def _bursts(parameters: Regime, trials: int, length: int, generator: np.random.Generator) -> Floats:
    """Give the slow-down by foreign load, zero where there is none, (trials, length)."""
    end = 1.0 / (parameters.burst_slots * STEPS)
    start = end * parameters.burst_share / (1.0 - parameters.burst_share)
    slow = np.zeros((trials, length))
    in_burst = generator.random(trials) < parameters.burst_share
    size = np.maximum(BURST_MIN, generator.normal(BURST_MEAN, BURST_SD, trials))
    for step in range(length):
        chance = generator.random(trials)
        stays = np.where(in_burst, chance >= end, chance < start)
        begun = stays & ~in_burst
        size[begun] = np.maximum(BURST_MIN, generator.normal(BURST_MEAN, BURST_SD, int(begun.sum())))
        in_burst = stays
        slow[:, step] = in_burst * size
    return slow


def ping_pong_blocks(noise: Noise, contenders: int, seed: int) -> Floats:
    """Give block times of ping-pong rounds, (trials, rounds, contenders, TURNS), without any effect.

    A round takes as many slots as there are contenders. Every turn runs one block of each; the order is random, then
    reversed, then random again. The first step of a block is its lead-in; its time is the mean of the others.
    """
    trials, slots, steps = noise.weather.shape
    rounds = slots // contenders
    used = noise.weather[:, : rounds * contenders]
    blocks = np.exp(used.reshape(trials, rounds, TURNS, contenders, steps // TURNS)[..., 1:]).mean(-1)
    generator = np.random.default_rng(seed)
    position = np.argsort(generator.random((trials, rounds, TURNS, contenders)), axis=3)
    position[:, :, 1] = contenders - 1 - position[:, :, 0]
    times = np.take_along_axis(blocks, position, axis=3)
    process = np.exp(noise.process[:, : rounds * contenders].reshape(trials, rounds, 1, contenders))
    return np.moveaxis(times * process, 2, 3)


def ping_pong_differences(blocks: Floats, first: int, second: int) -> Floats:
    """Give the log-ratios of two contenders in every round of every trial, (trials, rounds), by bakeoff's own code."""
    turns = range(TURNS)
    return np.array(
        [
            [
                ping_pong_difference(
                    dict(zip(turns, times[first], strict=True)), dict(zip(turns, times[second], strict=True))
                )
                for times in trial
            ]
            for trial in blocks.tolist()
        ]
    )


def race(differences: Sequence[Sequence[float]], contenders: int = 2, aim: Aim = "size") -> tuple[list[Verdict], int]:
    """Run one comparison as the conductor does; return its verdicts and the number of processes it took.

    `differences` holds a row of per-round log-ratios for each pair, in the order of `itertools.combinations`.
    Contenders whose pairs are all settled or given up run no further round.
    """
    parts = list(stages(differences, contenders, aim))
    return parts[-1][2], sum(len(active) * rounds for active, rounds, _ in parts)


def stages(
    differences: Sequence[Sequence[float]], contenders: int = 2, aim: Aim = "size"
) -> Iterator[tuple[list[str], int, list[Verdict]]]:
    """Yield who runs, for how many rounds, and the verdicts after them: up to the first look, then round by round."""
    names = [chr(ord("a") + index) for index in range(contenders)]
    pairs = list(combinations(names, 2))
    histories: list[list[float | None]] = [[] for _ in pairs]
    active, done = names, 0
    for look in range(LOOKS[0], LOOKS[-1] + 1):
        for history, pair, row in zip(histories, pairs, differences, strict=True):
            history.extend(row[done:look] if {*pair} <= {*active} else [None] * (look - done))
        verdicts = decide(
            [Pair(first=a, second=b, differences=history) for (a, b), history in zip(pairs, histories, strict=True)],
            margin=MARGIN,
            max_rounds=LOOKS[-1],
            aim=aim,
        )
        yield active, look - done, verdicts
        done = look
        active = still_active([Standing(label=name) for name in names], verdicts)
        if not active:
            return
