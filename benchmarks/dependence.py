"""Hold `bakeoff.stats.dependence` to rounds that are independent and to rounds that are not.

    OMP_NUM_THREADS=1 python benchmarks/dependence.py [--trials N] [--output STEM]

"Found" is the share of comparisons in which neighbouring rounds are said to resemble each other, of two, three and five
contenders after 10, 14 and 20 rounds. "Trend" is the share of contenders whose step time is said to move over the turns
of a round, after 5 rounds of 8 turns: calm turns with bursts of 30 % in one of ten, and the change that is put in.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from deciding_noise import DEPENDENT, FIRST, OTHER, Floats, noise
from results import write

from bakeoff.stats.dependence import resemblance, turn_trend

SEED = 31
ROUNDS = (10, 14, 20)
CONTENDERS = (2, 3, 5)
TURNS, TREND_ROUNDS = 8, 5


def found(logs: Floats) -> bool:
    """Give whether the rounds of one comparison are said to resemble each other."""
    times = {str(i): dict(enumerate(np.exp(row).tolist())) for i, row in enumerate(logs)}
    told = resemblance(times)
    return told is not None and told.is_found


def held(trials: int) -> list[dict[str, Any]]:
    """Give how often resemblance is found in each regime."""
    rows = []
    for place, regime in enumerate(FIRST | OTHER | DEPENDENT):
        row: dict[str, Any] = {"regime": regime, "rounds": "not independent" if regime in DEPENDENT else "independent"}
        for contenders in CONTENDERS:
            logs = noise(regime, trials, contenders, SEED + place)
            for rounds in ROUNDS:
                share = np.mean([found(one[:, :rounds]) for one in logs])
                row[f"found, {contenders} at {rounds}"] = f"{share:.1%}"
        rows.append(row)
    return rows


def trends(trials: int) -> str:
    """Give in words how often a trend is found, by the change that there is."""
    generator = np.random.default_rng(SEED)
    told = []
    for change in (0.0, 0.02, 0.05, 0.1, 0.4):
        logs = generator.normal(0.0, 0.03, (trials, TREND_ROUNDS, TURNS))
        logs += 0.26 * (generator.random(logs.shape) < 0.1) + np.log1p(change) * np.arange(TURNS) / (TURNS - 1)
        times = [[dict(enumerate(np.exp(turns).tolist())) for turns in rounds] for rounds in logs]
        share = np.mean([(trend := turn_trend(rounds)) is not None and trend.is_found for rounds in times])
        told.append(f"{change:.0%}: {share:.1%}")
    return "Trend found where it is " + ", ".join(told) + "."


def main() -> None:
    """Simulate, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description="Hold bakeoff.stats.dependence to simulated rounds.")
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    about = f"{__doc__}\n{options.trials:,} comparisons each, seed {SEED}. {trends(options.trials)}"
    print(about)
    write(held(options.trials), about, options.output)


if __name__ == "__main__":
    main()
