"""Where `mser5` ends the warm-up of simulated processes, and how often it sees no steady state.

    python benchmarks/warmup.py [--trials N] [--write FILE.md]

The noise is that of the regime vm2 in benchmarks/simulation.py without bursts: correlated steps and rare spikes.
"""

from __future__ import annotations

import argparse
import datetime as dt
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from simulation import REGIMES, STEPS, make_noise

from bakeoff.stats.warmup import mser5

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Floats = NDArray[np.float64]

SEED = 3
LENGTHS = (30, 60, 90, 120, 180, 300)
# What is added to the logarithm of step i of n.
SHAPES: dict[str, Callable[[Floats, int], Floats]] = {
    "steady from the start": lambda i, n: i * 0.0 / n,
    "three slow first steps": lambda i, n: np.where(i < 3, 2.0, 0.0) + 0.0 * n,
    "decay with 20 steps' half-life": lambda i, n: 0.5 * 2.0 ** (-i / 20.0) + 0.0 * n,
    "10 % slower from the middle on": lambda i, n: np.where(i < n // 2, 0.0, 0.1),
}


def lines(trials: int) -> Iterator[str]:
    """Give the report, line by line."""
    yield "# Where MSER-5 ends the warm-up\n"
    yield (
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, {platform.platform()}, NumPy {np.__version__}, seed {SEED}, {trials} "
        f"simulated processes each; command: `python benchmarks/warmup.py --trials {trials}`.\n"
    )
    yield "Steps cut on average, and how often no steady state was seen. Under 100 steps that is never said.\n"
    yield "| series | " + " | ".join(f"{length} steps" for length in LENGTHS) + " |"
    yield "|---" * (len(LENGTHS) + 1) + "|"
    for name, shape in SHAPES.items():
        cells = []
        for length in LENGTHS:
            noise = make_noise(REGIMES["vm2"]._replace(burst_share=0.0), trials, length // STEPS, SEED)
            times = 1e6 * np.exp(noise.weather.reshape(trials, -1) + shape(np.arange(length, dtype=float), length))
            cuts = [mser5(series) for series in times.astype(int).tolist()]
            unsteady = np.mean([not cut.steady for cut in cuts])
            cells.append(f"{np.mean([cut.steps for cut in cuts]):.0f}, {unsteady:.1%}")
        yield f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print the report, and write it where asked."""
    parser = argparse.ArgumentParser(description="Try MSER-5 on simulated processes.")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    report = list(lines(arguments.trials))
    print("\n".join(report))
    if arguments.write:
        arguments.write.write_text("\n".join(report) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
