"""What the aims of a comparison cost and give: a verdict, --how-much, --until-sure; in simulation.

    python benchmarks/aims.py [--trials 1000] [--output benchmarks/results/aims]

Noise is that of benchmarks/simulation.py, ping-pong, two contenders; the verdicts are those of the shipped
`bakeoff.stats`. "False" is a winner where both are equal. Until-sure is cut off after 100 rounds here. "Runs" are
process runs, of both together, on average; "half-width" is the median of the intervals' at the end.
"""

from __future__ import annotations

import argparse
import math
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from results import write
from simulation import MARGIN, REGIMES, make_noise, ping_pong_blocks, ping_pong_differences

from bakeoff.spec.comparison import Aim
from bakeoff.stats.boundaries import LOOKS
from bakeoff.stats.sequential import Pair, decide, is_open

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.verdict import Verdict

MOST = 100
RATIOS = (1.0, 1.1, 1.5)


def race(differences: Sequence[float], aim: Aim) -> Verdict:
    """Run one comparison as the conductor does; give its verdict."""
    limit = MOST if aim == "until-sure" else LOOKS[-1]
    # Until-sure settles a pair in the replay at the very round at which the conductor would stop.
    for done in (MOST,) if aim == "until-sure" else LOOKS:
        pair = Pair(first="a", second="b", differences=differences[:done])
        (verdict,) = decide([pair], margin=MARGIN, max_rounds=limit, aim=aim)
        if not is_open(verdict):
            break
    return verdict


def half_width(verdict: Verdict) -> float:
    """Give the half-width of a verdict's interval, as a logarithm."""
    return math.inf if verdict.low is None or verdict.high is None else math.log(verdict.high / verdict.low) / 2


def row(regime: str, aim: Aim, differences: list[list[float]]) -> dict[str, Any]:
    """Give a row of the table."""
    found = {ratio: [race([d + math.log(ratio) for d in one], aim) for one in differences] for ratio in RATIOS}

    def share(ratio: float, *kinds: str) -> str:
        return f"{sum(v.verdict in kinds for v in found[ratio]) / len(differences):.1%}"

    told: dict[str, Any] = {"regime": regime, "aim": aim, "false at 1.0": share(1.0, "faster", "slower")}
    told["equal at 1.0"] = share(1.0, "equal")
    for ratio in RATIOS[1:]:
        told[f"slower at {ratio}"] = share(ratio, "slower")
    for ratio in RATIOS:
        told[f"runs at {ratio}"] = round(2 * statistics.fmean(v.rounds for v in found[ratio]), 1)
    for ratio in RATIOS[1:]:
        told[f"half-width at {ratio}"] = f"{statistics.median(map(half_width, found[ratio])):.1%}"
    return told


def main() -> None:
    """Simulate, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = []
    for seed, (regime, parameters) in enumerate(REGIMES.items(), start=21):
        blocks = ping_pong_blocks(make_noise(parameters, options.trials, 2 * MOST, seed=seed), 2, seed=seed + 100)
        differences = ping_pong_differences(blocks, 0, 1).tolist()
        rows += [row(regime, aim, differences) for aim in get_args(Aim)]
    write(rows, f"{__doc__}\n{options.trials} comparisons each.", options.output)


if __name__ == "__main__":
    main()
