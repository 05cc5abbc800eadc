"""What deciding gets right and costs, by the first procedure and the present one, in simulation.

    OMP_NUM_THREADS=1 python benchmarks/deciding.py [--trials N] [--output STEM]

Noise is that of benchmarks/deciding_noise.py: a round's log time of each contender; the regimes on which the present
procedure was chosen, others, and rounds that are not independent. Comparisons are run by benchmarks/deciding_replay.py.
"False" is any winner among equals, as a share of comparisons. The truth that an interval has to cover is the ratio of
which the pseudo-median of a round's log-ratio is the logarithm, found from 200,000 rounds. Seconds are rounds times the
contenders that run in them times (3.1 s + 0.28 s for each of 8 turns), measured on three frameworks.
"""

from __future__ import annotations

import argparse
import math
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from deciding_noise import DEPENDENT, FIRST, OTHER, Floats, noise
from deciding_replay import EQUAL, FASTER, RHO, SLOWER, First, Present, Raced, race
from results import write

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Goal

SEED = 51
MANY, MANY_TRIALS = 5, 4000
TURNS = 8
ALONE_S, TURN_S = 3.1, 0.28
"""A contender's share of a round of three, of 9.3 s beside its turns and 0.85 s a turn."""
TRUTH_ROUNDS = 200_000
RATIOS = (1.02, 1.05, 1.1, 1.5, 2.2)
RACED = (
    "calm",
    "noisy virtual machine",
    "even",
    "Student's t, 3 degrees",
    "1 round in 5 doubles one",
    "one has modes 6 % apart",
    "one has bursts in 20 % of rounds",
)
RULES = {"first": First(), "present": Present()}


def truths(regime: str, contenders: int) -> Floats:
    """Give the true logarithm of every pair's ratio among equals."""
    if regime in DEPENDENT:
        return np.zeros(contenders * (contenders - 1) // 2)
    logs = noise(regime, 1, contenders, SEED + 1, TRUTH_ROUNDS)[0]
    found = []
    for one, other in combinations(range(contenders), 2):
        ratios = logs[one] - logs[other]
        half = len(ratios) // 2
        found.append(float(np.median((ratios[:half] + ratios[half : 2 * half]) / 2.0)))
    return np.array(found)


def seconds(raced: Raced) -> float:
    """Give the mean seconds of the rounds of a comparison."""
    return float(raced.processes.sum(1).mean()) * (ALONE_S + TURN_S * TURNS)


def covered(raced: Raced, truth: Floats) -> Floats:
    """Give for each pair of each comparison whether its interval covers the truth; NaN where there is none."""
    slack = 1e-12  # an interval that is cut at 1 covers 1
    inside = (raced.low <= truth + slack) & (truth - slack <= raced.high)
    found: Floats = np.where(np.isnan(raced.low), np.nan, inside)
    return found


def percent(share: float | np.floating[Any]) -> str:
    """Format a share."""
    return "" if math.isnan(float(share)) else f"{100 * float(share):.1f}"


def equals(regime: str, kind: str, trials: int) -> dict[str, Any]:
    """Give a row on two, three and five equal contenders."""
    row: dict[str, Any] = {"noise": kind, "regime": regime}
    for contenders in (2, 3, MANY):
        count = min(trials, MANY_TRIALS) if contenders == MANY else trials
        logs, truth = noise(regime, count, contenders, SEED), truths(regime, contenders)
        for name, rules in RULES.items():
            raced = race(logs, rules)
            row[f"false, {contenders}, {name}"] = percent((np.abs(raced.verdicts) == 1).any(1).mean())
            if name == "present":
                row[f"covered, {contenders}"] = percent(np.nanmean(covered(raced, truth)))
            if contenders == 3:
                row[f"all equal, 3, {name}"] = percent((raced.verdicts == EQUAL).all(1).mean())
    return row


def unequal(regime: str, ratio: float, trials: int) -> list[dict[str, Any]]:
    """Give rows on three contenders of which the second takes `ratio` times as long as the first, the third thrice."""
    logs = noise(regime, trials, 3, SEED + 7)
    logs += np.log([1.0, ratio, 3.0])[None, :, None]
    truth = truths(regime, 3)[0] - math.log(ratio)
    rows = []
    ways: list[tuple[str, Goal]] = [("first", "direction"), ("present", "direction"), ("present", "size")]
    for name, goal in ways:
        raced = race(logs, RULES[name], goal)
        verdicts, half = raced.verdicts[:, 0], (raced.high - raced.low)[:, 0] / 2.0
        cover, decided = covered(raced, truth)[:, 0], np.abs(verdicts) == 1
        under = decided & (raced.high[:, 0] > -RHO)  # the second is slower, so the logarithm is below 0
        rows.append(
            {
                "regime": regime,
                "ratio": ratio,
                "rules": f"{name}, {goal}",
                "right": percent((verdicts == FASTER).mean()),
                "wrong": percent((verdicts == SLOWER).mean()),
                "equal": percent((verdicts == EQUAL).mean()),
                "rounds": f"{raced.rounds[:, 0].mean():.1f}",
                "seconds": f"{seconds(raced):.0f}",
                "half-width": f"{np.nanmedian(half):.3f}",
                "p90": f"{np.nanquantile(half, 0.9):.3f}",
                "covered": percent(np.nanmean(cover)),
                "covered if decided": percent(_mean(cover[decided])),
                "under the margin": percent(under.mean()),
                "covered if so": percent(_mean(cover[under])),
                "covered if decided and not so": percent(_mean(cover[decided & ~under])),
            }
        )
    return rows


FEWEST = 100
"""Fewer comparisons than this give no share."""


def _mean(values: Floats) -> float:
    """Give the mean; NaN of few."""
    return float(np.nanmean(values)) if len(values) >= FEWEST else math.nan


def more(trials: int) -> str:
    """Give in words what is asked once: false equality at the margin, and contenders that are lost."""
    told = []
    for regime in ("even", "calm", "noisy virtual machine"):
        for contenders in (2, 3):
            logs = noise(regime, trials, contenders, SEED + 9)
            logs += math.log(1.05) * np.arange(contenders)[None, :, None]
            share = ((race(logs, Present()).verdicts == EQUAL).any(1)).mean()
            told.append(
                f"{regime}, {contenders} contenders each 1.05 times the one before: {percent(share)} % told equal"
            )
    logs = noise("noisy virtual machine", trials, 4, SEED + 10)
    for name, rules in RULES.items():
        lost = np.full((trials, 4), 99)
        lost[:, 2], lost[:, 3] = 6, 8
        share = ((np.abs(race(logs, rules, "size", lost).verdicts) == 1).any(1)).mean()
        told.append(
            f"four equals on a noisy machine, one lost in round 6 and one in round 8, {name}: {percent(share)} %"
        )
    return "; ".join(told)


def main() -> None:
    """Simulate, print both tables and write them."""
    parser = argparse.ArgumentParser(description="Simulate deciding by the first procedure and the present one.")
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    kinds = {"chosen on": FIRST, "other": OTHER, "not independent": DEPENDENT}
    first = [equals(regime, kind, options.trials) for kind, regimes in kinds.items() for regime in regimes]
    about = f"{__doc__}\n{options.trials:,} comparisons each, of five contenders {MANY_TRIALS:,}; seed {SEED}.\n\n"
    said = f"{more(options.trials)}."
    stem = options.output
    write(first, f"{about}Shares in percent. {said}", stem and stem.with_name(f"{stem.name}-equals"))
    second = [row for regime in RACED for ratio in RATIOS for row in unequal(regime, ratio, options.trials)]
    write(second, f"{about}Three contenders: 1, the ratio, and 3. Shares in percent.", stem)


if __name__ == "__main__":
    main()
