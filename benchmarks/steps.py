"""How often `bakeoff history` finds a step where there is one, and where there is none.

    OMP_NUM_THREADS=1 python benchmarks/steps.py [--series N] [--output STEM]

Series are logarithms of ratios in units of their own spread between runs. `normal`: independent. `wild`: one run in ten
is off by a further spread of 8, upwards, as on a machine that was busy. `carried`: each run keeps half of what the one
before had, as a machine does that warms up over days; the test takes runs for independent, so that this is its limit.
`found`: some step; `placed`: one at most one run away from the real one.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from results import write

from bakeoff.stats.steps import LEVEL, steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 21
CASES = (
    *[(kind, length, 0, 0.0) for length in (12, 20, 40) for kind in ("normal", "wild", "carried")],
    *[("normal", length, after, size) for length in (12, 20) for after in (length // 2, 3) for size in (2.0, 4.0)],
    ("wild", 20, 10, 4.0),
    ("normal", 40, 20, 1.0),
)
"""Kind, runs in the series, runs after the step, and its size in spreads; 0 runs: none."""


def noise(kind: str, length: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Return a series without a step."""
    values = random.normal(size=length)
    if kind == "wild":
        values += 8.0 * (random.random(length) < 0.1)
    if kind == "carried":
        for place in range(1, length):
            values[place] = 0.5 * values[place - 1] + np.sqrt(0.75) * values[place]
    return values


def row(kind: str, length: int, after: int, size: float, series: int) -> dict[str, Any]:
    """Return the rates of one case."""
    random = np.random.default_rng(SEED)
    place = length - after
    found = placed = 0
    for _ in range(series):
        told = steps(noise(kind, length, random) + size * (np.arange(length) >= place))
        found += bool(told)
        placed += any(abs(step.place - place) <= 1 for step in told)
    error = np.sqrt(found / series * (1 - found / series) / series)
    return {
        "noise": kind,
        "runs": length,
        "after the step": after or "no step",
        "size, spreads": size or "",
        "found, %": f"{100 * found / series:.1f}",
        "standard error": f"{100 * error:.1f}",
        "placed, %": f"{100 * placed / series:.1f}" if after else "",
        "series": series,
    }


def main() -> None:
    """Simulate every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=1000)
    parser.add_argument("--output", type=Path, metavar="STEM")
    arguments = parser.parse_args()
    rows = [row(*case, arguments.series) for case in CASES]
    about = (__doc__ or "").partition("\n\n    OMP")[2].partition("\n\n")[2]
    write(rows, f"Steps in a history, at a level of {100 * LEVEL:.0f} %\n\n{about}", arguments.output)


if __name__ == "__main__":
    main()
