"""How often ways to compare two programs name a false winner, and what a right answer costs.

    python benchmarks/designs.py [--trials N] [--seed S] [--write STEM]

Every design sees the same simulated noise (benchmarks/simulation.py). "False" is any of "faster" and "slower" where the
two are exactly equal. Where a single run gives a number, it is the median of its 30 steps. bakeoff's rows run the
shipped `bakeoff.stats`; the others are written here as their users do them.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from simulation import REGIMES, Noise, make_noise, ping_pong_blocks, ping_pong_differences, race

from bakeoff.stats.boundaries import LOOKS

Floats = NDArray[np.float64]
Verdicts = NDArray[np.int64]  # of the first: SLOWER, FASTER, EQUAL or UNDECIDED
SLOWER, FASTER, EQUAL, UNDECIDED = 1, -1, 2, 0
CODES = {"slower": SLOWER, "faster": FASTER, "equal": EQUAL, "undecided": UNDECIDED}

ROUNDS = LOOKS[-1]
SLOTS = 2 * ROUNDS
LEVEL = 0.05
THRESHOLD = np.log(1.05)
RATIOS = (1.0, 1.03, 1.10)


class Data(NamedTuple):
    """What the designs look at in one regime, before the effect is put in; all as logarithms of time."""

    steps: Floats
    """Of processes run one after the other, (trials, slots, steps)."""
    runs: Floats
    """The median of each, (trials, slots)."""
    in_order: Floats
    """Log-ratios of rounds in which both run one after the other in random order, (trials, rounds)."""
    ping_pong: Floats
    """Log-ratios of rounds in which both take turns, (trials, rounds)."""


class Answer(NamedTuple):
    """What a design says of every trial, and the process runs that it takes."""

    verdicts: Verdicts
    processes: Floats


Design = Callable[[Data, float], Answer]


def make_data(noise: Noise, seed: int) -> Data:
    """Let the designs' runs happen in this noise."""
    steps = noise.weather + noise.process[..., None]
    runs = np.median(steps, axis=2)
    swap = np.random.default_rng(seed).integers(0, 2, (len(runs), ROUNDS)) * 2 - 1
    blocks = ping_pong_blocks(noise, 2, seed + 1)
    return Data(steps, runs, (runs[:, 0::2] - runs[:, 1::2]) * swap, ping_pong_differences(blocks, 0, 1))


def lower_wins(data: Data, effect: float) -> Answer:
    """Run each once and name the lower."""
    return _fixed(np.sign(data.runs[:, 0] + effect - data.runs[:, 1]).astype(int), 2)


def threshold(runs: int) -> Design:
    """Run each `runs` times, first all of one; compare the means with a threshold of 5 %."""

    def design(data: Data, effect: float) -> Answer:
        first, second = data.runs[:, :runs], data.runs[:, runs : 2 * runs]
        difference = np.log(np.exp(first).mean(1) / np.exp(second).mean(1)) + effect
        return _fixed(np.where(np.abs(difference) > THRESHOLD, np.sign(difference), EQUAL).astype(int), 2 * runs)

    return design


def t_on_steps(runs: int) -> Design:
    """Run each `runs` times, first all of one; Welch's t-test on all steps as if they were independent."""

    def design(data: Data, effect: float) -> Answer:
        trials = len(data.steps)
        first = np.exp(data.steps[:, :runs] + effect).reshape(trials, -1)
        return _fixed(_welch(first, np.exp(data.steps[:, runs : 2 * runs]).reshape(trials, -1)), 2 * runs)

    return design


def t_on_processes(data: Data, effect: float) -> Answer:
    """Run each five times, first all of one; Welch's t-test on the medians of the processes."""
    return _fixed(_welch(np.exp(data.runs[:, :5] + effect), np.exp(data.runs[:, 5:10])), 10)


def peeking(data: Data, effect: float) -> Answer:
    """Look after every round from the third on at a paired t-interval of 95 %, and stop when it excludes zero."""
    differences = data.in_order + effect
    verdicts = np.zeros(len(differences), dtype=int)
    processes = np.full(len(differences), 2.0 * ROUNDS)
    for rounds in range(3, ROUNDS + 1):
        seen = differences[:, :rounds]
        half = stats.t.ppf(1 - LEVEL / 2, rounds - 1) * seen.std(1, ddof=1) / np.sqrt(rounds)
        found = (verdicts == UNDECIDED) & (np.abs(seen.mean(1)) > half)
        verdicts[found] = np.sign(seen.mean(1))[found]
        processes[found] = 2 * rounds
    return Answer(verdicts, processes)


def bakeoff_in_order(data: Data, effect: float) -> Answer:
    """Run bakeoff where workers cannot be resident together: one after the other in random order."""
    return _bakeoff(data.in_order + effect)


def bakeoff_ping_pong(data: Data, effect: float) -> Answer:
    """Run bakeoff as it mostly runs: resident workers that take turns."""
    return _bakeoff(data.ping_pong + effect)


DESIGNS: dict[str, Design] = {
    "one run each, the lower wins": lower_wins,
    "one run each, threshold of 5 %": threshold(1),
    "one run each, t-test on steps": t_on_steps(1),
    "mean of three runs, threshold of 5 %": threshold(3),
    "five runs each, t-test on pooled steps": t_on_steps(5),
    "five runs each, Welch's t on process medians": t_on_processes,
    "paired rounds, a look at 95 % after each": peeking,
    "**bakeoff**, one process after the other": bakeoff_in_order,
    "**bakeoff**, ping-pong": bakeoff_ping_pong,
}


def _fixed(verdicts: Verdicts, processes: int) -> Answer:
    return Answer(verdicts, np.full(len(verdicts), float(processes)))


def _welch(first: Floats, second: Floats) -> Verdicts:
    """Name the slower where Welch's t-test is significant at 5 %."""
    result = stats.ttest_ind(first, second, axis=1, equal_var=False)
    return np.where(result.pvalue < LEVEL, np.sign(result.statistic), UNDECIDED).astype(int)


def _bakeoff(differences: Floats) -> Answer:
    races = [race([row]) for row in differences.tolist()]
    verdicts = np.array([CODES[verdicts[0].verdict] for verdicts, _ in races])
    return Answer(verdicts, np.array([processes for _, processes in races], dtype=float))


def measure(regime: str, trials: int, seed: int) -> list[dict[str, str | float]]:
    """Try every design in one regime; shares of trials, and mean process runs."""
    own_seed = seed + zlib.crc32(regime.encode())
    data = make_data(make_noise(REGIMES[regime], trials, SLOTS, own_seed), own_seed + 1)
    rows: list[dict[str, str | float]] = []
    for name, design in DESIGNS.items():
        row: dict[str, str | float] = {"regime": regime, "design": name.replace("*", "")}
        for ratio in RATIOS:
            answer = design(data, float(np.log(ratio)))
            for word, code in CODES.items():
                row[f"{word} at {ratio:.2f}"] = float((answer.verdicts == code).mean())
            row[f"processes at {ratio:.2f}"] = float(answer.processes.mean())
        rows.append(row)
    return rows


def markdown(rows: list[dict[str, str | float]], about: dict[str, str | int]) -> str:
    """Lay the results out, a table for each regime."""
    told = [f"{key}: {value}" for key, value in about.items()]
    parts = ["# What ways to compare two programs get wrong", "; ".join(told) + ".", _EXPLANATION]
    for regime, values in REGIMES.items():
        noise = f"process effect {values.process_sd:.1%}, steps {values.step_sd:.0%}, bursts {values.burst_share:.0%}"
        parts.append(f"## {regime} ({noise} of the time)")
        lines = ["| design | " + " | ".join(_COLUMNS) + " |", "|---" * (len(_COLUMNS) + 1) + "|"]
        lines += [_line(row) for row in rows if row["regime"] == regime]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


_EXPLANATION = """Noise is simulated (benchmarks/simulation.py); no framework ran. Headings give the true ratio.
*False at 1.00*: a winner is named where both are equal. At 1.03 both "slower" and "equal within 5 %" are true, and
"faster" is false. At 1.10 only "slower" is true: *wrong* is "faster" or "equal". The rest is undecided. *Runs*: process
runs, of both together, on average. The standard error of a share near 5 % is 0.34 points at 4,000 trials."""
_COLUMNS = (
    "false at 1.00",
    "equal at 1.00",
    "slower at 1.03",
    "equal at 1.03",
    "faster at 1.03",
    "slower at 1.10",
    "wrong at 1.10",
    "runs at 1.00",
    "runs at 1.10",
)


def _line(row: dict[str, str | float]) -> str:
    """Format one row of the table."""
    shares = (
        float(row["slower at 1.00"]) + float(row["faster at 1.00"]),
        *(float(row[key]) for key in ("equal at 1.00", "slower at 1.03", "equal at 1.03", "faster at 1.03")),
        float(row["slower at 1.10"]),
        float(row["faster at 1.10"]) + float(row["equal at 1.10"]),
    )
    runs = (float(row["processes at 1.00"]), float(row["processes at 1.10"]))
    cells = [f"{share:.1%}" for share in shares] + [f"{mean:.1f}" for mean in runs]
    return f"| {row['design']} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print the tables, and write them as Markdown and JSON where asked."""
    parser = argparse.ArgumentParser(description="Try ways to compare two programs on simulated noise.")
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="write STEM.md and STEM.json")
    arguments = parser.parse_args()
    about: dict[str, str | int] = {
        "date": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}",
        "machine": f"{platform.platform()}, {os.cpu_count()} processors",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "trials": arguments.trials,
        "seed": arguments.seed,
        "command": f"python benchmarks/designs.py --trials {arguments.trials} --seed {arguments.seed}",
    }
    rows = [row for regime in REGIMES for row in measure(regime, arguments.trials, arguments.seed)]
    text = markdown(rows, about)
    print(text)
    if arguments.write:
        arguments.write.with_suffix(".md").write_text(text, encoding="utf-8")
        arguments.write.with_suffix(".json").write_text(
            json.dumps({"about": about, "results": rows}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
