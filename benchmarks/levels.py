"""Hold `bakeoff.stats.levels` to machines of one speed and of two, and to records.

    OMP_NUM_THREADS=1 python benchmarks/levels.py [--trials N] [--records FOLDER ...] [--output STEM]

"Found" is the share of comparisons in which the machine is said to have changed its speed, of two, three and five
contenders after 5, 8 and 20 rounds of 8 turns. Logarithms of block times have a part of the process and one of the
block; "slow processes" are rounds of each contender alone that take 1.4 times as long. In machines of two speeds all
contenders take longer by the factor for the share of the time that is named, for a round's length on average.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from results import write

from bakeoff.judge.comparison import judge_comparison
from bakeoff.report.units import rounded
from bakeoff.stats.levels import Levels, machine_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 37
TURNS = 8
CONTENDERS, ROUNDS = (2, 3, 5), (5, 8, 20)


class Machine(NamedTuple):
    """How block times vary: standard deviations on the logarithm, shares of rounds or of the time, and a factor."""

    process_sd: float
    block_sd: float
    slow_processes: float = 0.0
    slow_share: float = 0.0
    factor: float = 1.0


MACHINES = {
    "one speed, calm": Machine(0.02, 0.05),
    "one speed, noisy": Machine(0.05, 0.15),
    "one speed, wild": Machine(0.1, 0.3),
    "one speed, a tenth of processes slow": Machine(0.02, 0.05, slow_processes=0.1),
    "one speed, a quarter of processes slow": Machine(0.02, 0.05, slow_processes=0.25),
    "two speeds, 1.4 times for a tenth": Machine(0.02, 0.05, slow_share=0.1, factor=1.4),
    "two speeds, 1.4 times for a fifth": Machine(0.02, 0.05, slow_share=0.2, factor=1.4),
    "two speeds, 1.4 times for two fifths": Machine(0.02, 0.05, slow_share=0.4, factor=1.4),
    "two speeds, 1.2 times for a fifth": Machine(0.02, 0.05, slow_share=0.2, factor=1.2),
}


def blocks(machine: Machine, contenders: int, rounds: int, draw: np.random.Generator) -> NDArray[np.float64]:
    """Return the logarithms of block times of a comparison, (contenders, rounds, turns)."""
    logs = draw.normal(0.0, machine.block_sd, (contenders, rounds, TURNS))
    logs += draw.normal(0.0, machine.process_sd, (contenders, rounds, 1))
    logs += np.log(1.4) * (draw.random((contenders, rounds, 1)) < machine.slow_processes)
    ends = 1.0 / TURNS
    begins = ends * machine.slow_share / (1.0 - machine.slow_share)
    is_slow, slow = draw.random() < machine.slow_share, []
    for chance in draw.random(rounds * TURNS):
        is_slow = chance >= ends if is_slow else chance < begins
        slow.append(is_slow)
    found: NDArray[np.float64] = logs + np.log(machine.factor) * np.reshape(slow, (1, rounds, TURNS))
    return found


def levels(logs: NDArray[np.float64]) -> Levels | None:
    """Return what is found of one comparison."""
    times = np.exp(logs)
    names = map(str, range(len(logs)))
    return machine_levels(
        {name: {place: float(s) for place, s in np.ndenumerate(mine)} for name, mine in zip(names, times, strict=True)}
    )


def simulated(trials: int) -> list[dict[str, Any]]:
    """Return how often a change is found, by machine."""
    rows = []
    for place, (name, machine) in enumerate(MACHINES.items()):
        row: dict[str, Any] = {"machine": name}
        for contenders in CONTENDERS:
            for rounds in ROUNDS:
                draw = np.random.default_rng((SEED, place, contenders, rounds))
                told = [levels(blocks(machine, contenders, rounds, draw)) for _ in range(trials)]
                row[f"found, {contenders} at {rounds}"] = (
                    f"{np.mean([one is not None and one.is_found for one in told]):.1%}"
                )
        rows.append(row)
    return rows


def recorded(folders: list[Path]) -> str:
    """Return in words what the records of real comparisons show."""
    said = []
    for folder in folders:
        outcome = judge_comparison(folder)
        found = outcome.levels
        if found is None:
            said.append(f"{folder.name}: no two contenders took turns.")
            continue
        times = f", {rounded(found.low)} to {rounded(found.high)} times as long" if found.changed else ""
        ratios = "".join(
            f"; {one.first} over {one.second} {rounded(one.then, 3)} there and {rounded(one.otherwise, 3)} else"
            for one in found.ratios
        )
        is_found = "found" if found.is_found else "not found"
        foreign = "unknown" if outcome.foreign_share is None else f"{outcome.foreign_share:.2%}"
        said.append(
            f"{folder.name} ({outcome.comparison.created_at[:10]}, {outcome.rounds} rounds, "
            f"other processes {foreign}): {len(found.changed)} of {found.turns} turns{times}, {is_found}{ratios}."
        )
    return "\n".join(f"- {one}" for one in said)


def main() -> None:
    """Simulate, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description="Hold bakeoff.stats.levels to simulated rounds and to records.")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--records", type=Path, nargs="*", default=[])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    about = f"{__doc__}\n{options.trials:,} comparisons each, seed {SEED}."
    if options.records:
        about += f" In records:\n\n{recorded(options.records)}"
    print(about)
    write(simulated(options.trials), about, options.output)


if __name__ == "__main__":
    main()
