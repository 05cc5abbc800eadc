"""Make and check the boundaries of `bakeoff.stats.boundaries`.

    python benchmarks/boundaries.py [--samples N] [--write FILE.md]

For a family of m pairs each pair may be called different by chance in 5 % / m of all comparisons, over all looks
together. A fifth of that is spent by t-tests at 3, 4 and 5 rounds, all at one level; the rest by exact signed-rank
tests at 7, 10, 14 and 20 rounds, all at one level, the largest that keeps the whole. The levels come from simulated
standard normal differences; the signed-rank tests are exact for every symmetric distribution, and the second part of
the output shows what the shipped table spends where the noise is not normal.
"""

from __future__ import annotations

import argparse
import datetime as dt
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bakeoff.stats.boundaries import MAX_FAMILY, RANK_LOOKS, T_LOOKS, rank_index, t_multiplier
from bakeoff.stats.intervals import largest_index, two_sided_levels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Noise = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]

Floats = NDArray[np.float64]

ALPHA = 0.05
EARLY_SHARE = 0.2  # for large effects only; most of the level is kept for looks that stand heavy tails
CHUNK = 20_000  # rows at a time: bounds the memory
SEED = 5

NOISES: dict[str, Noise] = {
    "normal": lambda g, shape: g.normal(size=shape),
    "uniform": lambda g, shape: g.uniform(-1.0, 1.0, shape),
    "Laplace": lambda g, shape: g.laplace(size=shape),
    "Student t, 2 degrees": lambda g, shape: g.standard_t(2, shape),
    "normal, 10 % of rounds 20 times wider": lambda g, shape: (
        g.normal(size=shape) * np.where(g.random(shape) < 0.1, 20.0, 1.0)
    ),
}


def chunks(noise: Noise, samples: int, seed: int) -> Iterator[Floats]:
    """Give `samples` rows of 20 differences without any effect, a chunk at a time."""
    generator = np.random.default_rng(seed)
    for _ in range(samples // CHUNK):
        yield noise(generator, (CHUNK, RANK_LOOKS[-1]))


def t_statistic(rows: Floats) -> Floats:
    """Give the absolute one-sample t of each row."""
    result: Floats = np.abs(rows.mean(1)) / (rows.std(1, ddof=1) / np.sqrt(rows.shape[1]))
    return result


def rank_sum(rows: Floats) -> NDArray[np.int64]:
    """Give the smaller signed-rank sum of each row."""
    count = rows.shape[1]
    ranks = np.argsort(np.argsort(np.abs(rows), 1), 1) + 1
    positive = (ranks * (rows > 0)).sum(1)
    result: NDArray[np.int64] = np.minimum(positive, count * (count + 1) // 2 - positive)
    return result


def smallest_levels(samples: int) -> tuple[Floats, Floats]:
    """Give, for each simulated pair, its smallest p over the t-looks and over the signed-rank looks."""
    early, late = [], []
    for rows in chunks(NOISES["normal"], samples, SEED):
        early.append(np.min([2 * stats.t.sf(t_statistic(rows[:, :n]), n - 1) for n in T_LOOKS], axis=0))
        late.append(np.min([np.array(two_sided_levels(n))[rank_sum(rows[:, :n])] for n in RANK_LOOKS], axis=0))
    return np.concatenate(early), np.concatenate(late)


def calibrate(early: Floats, late: Floats, alpha: float) -> tuple[float, float]:
    """Give the level of every t-look and of every signed-rank look that spend `alpha` together."""
    early_level = float(np.quantile(early, alpha * EARLY_SHARE))
    spent = early <= early_level
    late_level = 0.0
    for level in np.unique(late[late <= alpha]):
        if float((spent | (late <= level)).mean()) > alpha:
            break
        late_level = float(level)
    return early_level, late_level


def row(early_level: float, late_level: float) -> list[str]:
    """Format one family's boundaries as the table has them."""
    multipliers = [f"{stats.t.ppf(1 - early_level / 2, n - 1):.2f}" for n in T_LOOKS]
    return multipliers + [_index(largest_index(n, late_level)) for n in RANK_LOOKS]


def shipped(family: int) -> list[str]:
    """Format the shipped boundaries of one family."""
    multipliers = [f"{t_multiplier(n, family):.2f}" for n in T_LOOKS]
    return multipliers + [_index(rank_index(n, family)) for n in RANK_LOOKS]


def spent(noise: Noise, family: int, samples: int) -> float:
    """Give the share of pairs without a difference that the shipped boundaries call different."""
    false = 0
    for rows in chunks(noise, samples, SEED + family):
        called = np.zeros(len(rows), dtype=bool)
        for n in T_LOOKS:
            called |= t_statistic(rows[:, :n]) >= t_multiplier(n, family)
        for n in RANK_LOOKS:
            index = rank_index(n, family)
            if index is not None:
                called |= rank_sum(rows[:, :n]) <= index
        false += int(called.sum())
    return false / (samples // CHUNK * CHUNK)


def _index(index: int | None) -> str:
    return "-" if index is None else str(index)


def lines(samples: int) -> Iterator[str]:
    """Give the report, line by line, as it is computed."""
    yield "# Boundaries: calibration and check\n"
    yield (
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, {platform.platform()}, NumPy {np.__version__}, seed {SEED}, "
        f"{samples:,} simulated pairs; command: `python benchmarks/boundaries.py --samples {samples}`.\n"
    )
    names = [f"c_{n}" for n in T_LOOKS] + [f"k_{n}" for n in RANK_LOOKS]
    yield "| m | from this run: " + " | ".join(names) + " | shipped |"
    yield "|---" * (len(names) + 2) + "|"
    early, late = smallest_levels(samples)
    for family in range(1, MAX_FAMILY + 1):
        made = row(*calibrate(early, late, ALPHA / family))
        yield f"| {family} | " + " | ".join(made) + " | " + " ".join(shipped(family)) + " |"
    yield "\n## What the shipped table spends without any difference\n"
    families = (1, 3, 6, 28, 36)
    yield "| noise | " + " | ".join(f"m = {m} (at most {ALPHA / m:.3%})" for m in families) + " |"
    yield "|---" * (len(families) + 1) + "|"
    for name, noise in NOISES.items():
        shares = [spent(noise, family, samples // 4) for family in families]
        yield f"| {name} | " + " | ".join(f"{share:.3%}" for share in shares) + " |"


def main() -> None:
    """Print the report, and write it where asked."""
    parser = argparse.ArgumentParser(description="Make and check the boundaries of bakeoff.stats.boundaries.")
    parser.add_argument("--samples", type=int, default=2_000_000)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    report = []
    for line in lines(arguments.samples):
        print(line, flush=True)
        report.append(line)
    if arguments.write:
        arguments.write.write_text("\n".join(report) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
