"""Which turns of a round are worth counting: how much the log-ratio of a pair varies from round to round by each rule.

    python benchmarks/turns.py RESULTS ... [--output benchmarks/results/turns]

Of every comparison with at least 4 rounds below these folders, each pair: the standard deviation over rounds of the
median log-ratio over turns, in percent, by three rules that choose no result: all planned turns; those that no other
process disturbed, with repeats in place of those it did (what bakeoff does); and of these the half with the smallest
sums of the contenders' log times, which is symmetric where contenders are exchangeable. `gain` is the second rule's
deviation over the third's.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from results import write

from bakeoff.judge.rounds import CountedBlocks, kept_blocks
from bakeoff.store.files import read_comparison
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from bakeoff.spec.record import Record

FEWEST_ROUNDS = 4
"""Of fewer a standard deviation says little."""

Turns = dict[int, dict[int, dict[str, float]]]
"""By round and planned turn, each contender's log time."""


def turns_of(timed: list[Record], kept: CountedBlocks) -> Turns:
    """Return the log times of the blocks that count."""
    found: Turns = defaultdict(lambda: defaultdict(dict))
    for record in timed:
        for turn, block in kept.blocks(record):
            step = np.log(block.elapsed_ns / len(block.steps_ns))
            found[record.trial.round_number][turn][record.trial.contender.label] = float(step)
    return found


def spread(turns: Turns, first: str, second: str, *, smallest_sums: bool = False) -> tuple[float, int] | None:
    """Return the standard deviation over rounds of a pair's log-ratio, and the number of rounds."""
    ratios = []
    for by_turn in turns.values():
        both = [one for one in by_turn.values() if first in one and second in one]
        if smallest_sums:
            both = sorted(both, key=lambda one: sum(one.values()))[: max(1, len(both) // 2)]
        if both:
            ratios.append(statistics.median(one[first] - one[second] for one in both))
    return (statistics.stdev(ratios), len(ratios)) if len(ratios) >= FEWEST_ROUNDS else None


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Return a comparison's rows, one for each pair."""
    labels = [plan.contender.label for plan in read_comparison(folder).contenders]
    timed = [one for one in read_records(folder).records.values() if one.trial.purpose == "time"]
    repeats = sum(block.repeats is not None for record in timed for block in record.blocks)
    planned, counted = turns_of(timed, CountedBlocks(cut=0, attempts={})), turns_of(timed, kept_blocks(timed))
    rows = []
    for first, second in combinations(labels, 2):
        every, calm = spread(planned, first, second), spread(counted, first, second)
        smallest = spread(counted, first, second, smallest_sums=True)
        if every is None or calm is None or smallest is None:
            continue
        rows.append(
            {
                "comparison": folder.parent.name,
                "pair": f"{first}/{second}",
                "rounds": calm[1],
                "blocks repeated": repeats,
                "all turns": f"{every[0]:.2%}",
                "undisturbed": f"{calm[0]:.2%}",
                "half, smallest sums": f"{smallest[0]:.2%}",
                "gain": round(calm[0] / smallest[0], 2),
            }
        )
    return rows


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    folders = sorted({path.parent for root in asked.results for path in root.rglob("comparison.json")})
    write([row for folder in folders for row in rows_of(folder)], __doc__ or "", asked.output)


if __name__ == "__main__":
    main()
