"""Which parts of a gap are told apart: of equals, and of two that differ by one part, in simulation.

    OMP_NUM_THREADS=1 python benchmarks/gap_rows.py [--pairs N] [--output STEM]

A contender has 18 parts (6 kinds of operations in each of 3 layers), which differ by 3 % between its 5 traced
processes; its raced rounds differ by 2 %, and "level" is by how much other processes change the machine besides, for
both of a pair alike. Both tables of a pair and what the race knows are held to 5 % together; rows below 0.5 % of
a step are not.
"False" is any row of equals that is told apart, as a share of pairs; "found" is a tenth of the step that only the
second has, told apart by its kind and by its layer. Shares in percent.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from results import write

from bakeoff.judge.gap import Side, gap_of
from bakeoff.spec.explained import OperationKind, Share, Traced

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Gap

SEED = 61
PARTS_NOISE, STEP_NOISE = 0.03, 0.02
KINDS: dict[OperationKind, float] = {
    "convolution": 0.4,
    "normalisation": 0.2,
    "element-wise": 0.1,
    "optimiser": 0.1,
    "idle": 0.1,
    "other": 0.1,
}
LAYERS = ("stem", "body", "head")
PLANTED: OperationKind = "data movement"
TRACED_ROUNDS = 5
STEP_S, SHARE = 0.01, 0.1


def contender(drawn: np.random.Generator, levels: np.ndarray, share: float) -> Side:
    """Give one of a pair, of whose step this share is the planted part."""
    weights = {(kind, layer): weight / len(LAYERS) for kind, weight in KINDS.items() for layer in LAYERS}
    if share:
        weights[PLANTED, "head"] = share / (1 - share)
    traced = {}
    for number in range(TRACED_ROUNDS):
        times = {part: weight * np.exp(drawn.normal(0, PARTS_NOISE)) for part, weight in weights.items()}
        whole = sum(times.values())
        shares = [Share(kind=kind, layer=layer, share=float(time / whole)) for (kind, layer), time in times.items()]
        traced[number] = Traced(level="layers", shares=shares)
    steps_s = STEP_S / (1 - share) * levels * np.exp(drawn.normal(0, STEP_NOISE, len(levels)))
    rounds_s = {number: float(step_s) for number, step_s in enumerate(steps_s)}
    return Side("second" if share else "first", float(np.median(steps_s)), rounds_s, traced)


def apart(gap: Gap) -> set[str]:
    """Give the rows that are told apart."""
    return {str(row.kind or row.layer) for row in (*gap.by_kind, *gap.by_layer) if row.told_apart}


def row(rounds: int, level: float, pairs: int) -> dict[str, object]:
    """Simulate pairs with so many raced rounds, on a machine that is so loud."""
    drawn = np.random.default_rng([SEED, rounds, round(100 * level)])
    false = found = 0
    for _ in range(pairs):
        levels = np.exp(drawn.normal(0, level, rounds))
        first, equal, second = (contender(drawn, levels, share) for share in (0.0, 0.0, SHARE))
        false += bool(apart(gap_of(first, equal)))
        found += apart(gap_of(first, second)) >= {PLANTED, "head"}
    return {
        "raced rounds": rounds,
        "level": f"{100 * level:.0f}",
        "false": f"{100 * false / pairs:.1f}",
        "found": f"{100 * found / pairs:.1f}",
    }


def main() -> None:
    """Simulate, print the table and write it."""
    parser = argparse.ArgumentParser(description="Simulate which parts of a gap are told apart.")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = [row(rounds, level, options.pairs) for rounds in (3, 5, 10, 20) for level in (0.0, 0.2)]
    write(rows, f"{__doc__}\n{options.pairs:,} pairs each; seed {SEED}.", options.output)


if __name__ == "__main__":
    main()
