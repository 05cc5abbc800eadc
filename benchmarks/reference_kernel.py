"""Whether a short reference kernel beside each block tells how fast the machine was just then: rounds would vary less.

    python benchmarks/reference_kernel.py [--frameworks NAME ...] [--rounds 6] [--output STEM]

Rounds of mlp-mnist on digits in fresh, resident processes, 16 turns each; a fixed kernel, the same for all contenders,
runs on every core right before and right after each block, outside of its time. Each pair's log-ratio of a turn is
corrected by `beta` times the log-ratio of the kernel's times; a round counts with its median over turns. Shown are the
standard deviations over rounds, in percent: with beta 0 (what bakeoff does), 1 (the step is as slow as the kernel), and
a beta by least squares over the turns of the other rounds. `gain` is the first over the last. "bursts": beside another
process that burns one core in bursts.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a kernel of one thread on each core; before NumPy is imported

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from results import write

from bakeoff.race.loop import Runner
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import silent
from bakeoff.race.stages.rounds import turn_orders
from bakeoff.race.stages.stage import RaceState, WantedTrials
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.protocol import Ran, RunBlock
from bakeoff.spec.request import Request
from bakeoff.spec.trial import SNAPSHOT_STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bakeoff.race.stages.stage import Team

TURNS, STEPS, LEAD = 16, 80, 30
"""Blocks of about 75 ms and lead-ins of about 30 ms, as in a race of the three defaults."""
PRODUCTS = 60
"""Of 256 x 256 matrices, and a pass over 8 MB behind each: the kernel takes about 20 ms, a quarter of a block."""
BURSTS = (
    "import os, random, time\nparent = os.getppid()\nwhile os.getppid() == parent:\n"
    "    ends = time.monotonic() + random.uniform(0.05, 1.0)\n    while time.monotonic() < ends: pass\n"
    "    time.sleep(random.uniform(0.2, 2.0))"
)

Reading = dict[int, dict[int, dict[str, tuple[float, float]]]]
"""By round, turn and contender: log of the step's time, and of the kernel's mean time around it."""


class Kernel:
    """A fixed piece of work: products and sums, one thread a core."""

    def __init__(self) -> None:
        """Draw its numbers."""
        generator = np.random.default_rng(0)
        self._cores = len(os.sched_getaffinity(0))
        self._matrix = generator.random((self._cores, 256, 256), dtype=np.float32)
        self._stream = generator.random((self._cores, 1 << 21), dtype=np.float32)
        self._pool = ThreadPoolExecutor(self._cores)

    def _work(self, core: int) -> None:
        for number in range(PRODUCTS):
            self._matrix[core] @ self._matrix[core]
            if number % 10 == 0:
                self._stream[core].sum()

    def seconds(self) -> float:
        """Return how long it takes now."""
        began = time.perf_counter()
        list(self._pool.map(self._work, range(self._cores)))
        return time.perf_counter() - began


@contextmanager
def bursts(*, wanted: bool) -> Iterator[None]:
    """Have another process burn one core now and then, if this is wanted."""
    if not wanted:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", BURSTS]) as process:
        try:
            yield
        finally:
            process.kill()


def _round(kernel: Kernel, found: dict[int, dict[str, tuple[float, float]]], number: int, team: Team) -> None:
    """Run one round; keep what each block and the kernel around it took."""
    team.each(lambda session: session.warm_up(3 * SNAPSHOT_STEPS))
    for turn, order in enumerate(turn_orders(team.labels, 1, number, TURNS)):
        found[turn] = {}
        for label in order:
            before = kernel.seconds()
            answer = team.ask(label, "", RunBlock(lead=LEAD, steps=STEPS, turn=turn))
            after = kernel.seconds()
            assert isinstance(answer, Ran), label
            found[turn][label] = (np.log(answer.elapsed_ns / STEPS), np.log((before + after) / 2))


def measure(frameworks: list[str], rounds: int, folder: Path, *, beside: bool) -> Reading:
    """Return what every turn of every round read."""
    request = Request(workload="mlp-mnist", contenders=tuple(frameworks), data="digits", results=str(folder))
    kernel, found = Kernel(), Reading()
    with bursts(wanted=beside), prepared(request) as (comparison, inputs):
        state = RaceState(comparison, folder, inputs)
        runner = Runner(folder, ProcessWorker, silent, limit_s=comparison.procedure.trial_limit_s)
        for number in range(1, rounds + 1):
            trials = [state.specs.trial(plan, "time", number, resident=True) for plan in comparison.contenders]
            found[number] = {}
            runner.run(WantedTrials(tuple(trials), partial(_round, kernel, found[number], number)))
    return found


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the least-squares slope of the first against the second, about their means."""
    step, kernel = np.array(points).T
    kernel = kernel - kernel.mean()
    return float(kernel @ step / (kernel @ kernel))


def row(found: Reading, conditions: str, first: str, second: str) -> dict[str, Any]:
    """Return one pair's row."""
    turns = {
        number: [tuple(np.subtract(turn[first], turn[second])) for turn in by_turn.values()]
        for number, by_turn in found.items()
    }
    betas = {
        number: slope([point for other, points in turns.items() if other != number for point in points])
        for number in turns
    }

    def spread(beta: dict[int, float]) -> float:
        middles = [
            statistics.median(step - beta[number] * kernel for step, kernel in points)
            for number, points in turns.items()
        ]
        return statistics.stdev(middles)

    plain, full, fitted = spread(dict.fromkeys(turns, 0.0)), spread(dict.fromkeys(turns, 1.0)), spread(betas)
    every = [point for points in turns.values() for point in points]
    return {
        "conditions": conditions,
        "pair": f"{first}/{second}",
        "rounds": len(turns),
        "correlation over turns": round(float(np.corrcoef(np.array(every).T)[0, 1]), 2),
        "beta": round(statistics.median(betas.values()), 2),
        "beta 0": f"{plain:.2%}",
        "beta 1": f"{full:.2%}",
        "beta fitted": f"{fitted:.2%}",
        "gain": round(plain / fitted, 2),
    }


def main() -> None:
    """Measure, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frameworks", nargs="+", default=["torch", "jax", "tensorflow"])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    rows = []
    for conditions in ("alone", "bursts"):
        with tempfile.TemporaryDirectory() as folder:
            found = measure(asked.frameworks, asked.rounds, Path(folder).resolve(), beside=conditions == "bursts")
        rows += [row(found, conditions, *pair) for pair in combinations(asked.frameworks, 2)]
    write(rows, __doc__ or "", asked.output)


if __name__ == "__main__":
    main()
