"""Each framework alone on the machine, and in ping-pong with the others: the same step time within 2 %?

    python benchmarks/ping_pong.py [--frameworks NAME ...] [--rounds 5] [--budget 240] [--threads N]
                                  [--device cpu] [--output STEM]

Fresh processes each time, alone and in ping-pong by turns, in the order that alternates: alone, ping-pong, ping-pong,
alone ... Both are bakeoff's own rounds. The ratio is that of the step time in ping-pong over the one alone, twice:

- quickest quarter: the lower quartile over the blocks of all rounds; its 95 % interval is by bootstrap over rounds. A
  lead-in that is too short slows every block of ping-pong, the quickest as well; what other guests of the machine do
  slows some blocks, and those are not among the quickest. So this one is the test.
- medians: by process medians over rounds, the interval by t. On a machine with bursts this one tells of the bursts.

"yes" is said where all of the interval is within 2 %, "no" where all of it is outside. Not run on a GPU by us.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import devices
import numpy as np
from results import write

from bakeoff.judge.counters import flagged_share
from bakeoff.judge.rounds import kept_blocks, round_times
from bakeoff.measure.contention import FOREIGN_LIMIT
from bakeoff.measure.noise import probe
from bakeoff.race.loop import Runner
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import silent
from bakeoff.race.stages.rounds import by_itself, together
from bakeoff.race.stages.stage import State
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.request import Request
from bakeoff.stats.differences import process_median
from bakeoff.stats.intervals import MIN_VALUES, fixed_interval

if TYPE_CHECKING:
    from bakeoff.spec.record import Record

AGREED = 0.02
RESAMPLES = 2000
"""Enough for the second digit of a 95 % interval's ends (Efron and Tibshirani 1993, chapter 13)."""
WAYS = ("alone", "ping-pong")


def measure(asked: argparse.Namespace, folder: Path) -> dict[str, list[Record]]:
    """Run all rounds that begin within the budget, and at least three; give the records of each way, by round."""
    began = time.monotonic()
    request = Request(
        workload="mlp-mnist",
        contenders=tuple(asked.frameworks),
        threads=asked.threads,
        device=asked.device,
        batch_size=32,
        data="synthetic",
        results=str(folder),
    )
    records: dict[str, list[Record]] = {way: [] for way in WAYS}
    with prepared(request) as (comparison, inputs):
        state = State(comparison, folder, inputs)
        runner = Runner(folder, ProcessWorker, silent, limit_s=comparison.procedure.trial_limit_s)
        for number in range(asked.rounds):
            if number >= MIN_VALUES and time.monotonic() - began > asked.budget:
                break
            for place, way in enumerate(WAYS if number % 2 == 0 else WAYS[::-1]):
                round_number, plans = 2 * number + place + 1, comparison.contenders
                ready = [by_itself(state, plan, round_number, len(plans)) for plan in plans]
                wanted = ready if way == "alone" else [together(state, plans, round_number)]
                records[way] += [record for one in wanted for record in runner.run(one)]
                # What the first round has fixed holds for all: the same steps of training in both ways.
                state.records |= {record.trial.name: record for record in records[way]}
    return records


def row(framework: str, records: dict[str, list[Record]]) -> dict[str, Any]:
    """Compare one framework's two ways."""
    mine = {way: [r for r in records[way] if r.trial.contender.framework == framework] for way in WAYS}
    # A round is a pair of numbers, one of each way; one in which a trial failed is left out, and `rounds` tells.
    times = {
        way: {(number - 1) // 2: time for number, time in round_times(mine[way], kept_blocks(mine[way])).items()}
        for way in WAYS
    }
    both = sorted(times["alone"].keys() & times["ping-pong"].keys())
    blocks = {way: [list(times[way][number].turns.values()) for number in both] for way in WAYS}
    step_s = {way: [process_median(turns) for turns in blocks[way]] for way in WAYS}
    logs = [math.log(b / a) for a, b in zip(step_s["alone"], step_s["ping-pong"], strict=True)]
    interval = fixed_interval(logs, 0.95)
    assert interval is not None
    medians = tuple(math.exp(end) for end in (interval.estimate, interval.low, interval.high))
    ratio, low, high = quickest(blocks["alone"], blocks["ping-pong"])
    return {
        "framework": framework,
        **{f"{way} (ms)": round(1e3 * _quarter(blocks[way]), 4) for way in WAYS},
        "quickest quarter: ping-pong / alone": _bracketed(ratio, low, high),
        "within 2 %": _told(low, high),
        "medians: ping-pong / alone": _bracketed(*medians),
        "spread of runs alone": f"{statistics.stdev(map(math.log, step_s['alone'])):.1%}",
        "rounds": len(logs),
        "foreign load": f"{flagged_share(records['alone'] + records['ping-pong'])[0] or 0.0:.0%}",
    }


def quickest(alone: list[list[float]], ping_pong: list[list[float]]) -> tuple[float, float, float]:
    """Give the ratio of the lower quartiles over all blocks, and its interval by bootstrap over rounds."""
    draws = np.random.default_rng(0).integers(len(alone), size=(RESAMPLES, len(alone)))
    ratios = [_quarter([ping_pong[i] for i in draw]) / _quarter([alone[i] for i in draw]) for draw in draws]
    low, high = np.quantile(ratios, (0.025, 0.975))
    return _quarter(ping_pong) / _quarter(alone), float(low), float(high)


def _quarter(rounds: list[list[float]]) -> float:
    """Give the lower quartile over the blocks of some rounds."""
    return float(np.quantile(np.concatenate(rounds), 0.25))


def _bracketed(ratio: float, low: float, high: float) -> str:
    """Write a ratio with its interval."""
    return f"{ratio:.4f} [{low:.4f}, {high:.4f}]"


def _told(low: float, high: float) -> str:
    """Say whether two ways agree, by all of the interval."""
    if low >= 1.0 - AGREED and high <= 1.0 + AGREED:
        return "yes"
    return "no" if high < 1.0 - AGREED or low > 1.0 + AGREED else "cannot be told"


def main() -> None:
    """Measure, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frameworks", nargs="+", default=["torch", "jax", "tensorflow"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=240.0)
    parser.add_argument("--threads", type=int, help="of each framework; all processors, if not said")
    parser.add_argument("--output", type=Path)
    devices.add_argument(parser)
    options = parser.parse_args()
    devices.check(parser, options.frameworks, options.device)
    before = probe()
    with tempfile.TemporaryDirectory() as folder:
        records = measure(options, Path(folder).resolve())
    rows = [row(framework, records) for framework in options.frameworks]
    foreign = flagged_share(records["alone"] + records["ping-pong"])[0]
    is_calm = before.calm if foreign is None else foreign < FOREIGN_LIMIT
    state = {None: "not known to be calm", True: "calm", False: "NOT CALM, so that this tells little: run it again"}
    write(rows, f"{__doc__}\nThe machine was {state[is_calm]}.", options.output)


if __name__ == "__main__":
    main()
