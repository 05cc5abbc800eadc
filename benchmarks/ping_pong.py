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
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import devices
from results import write

from bakeoff.judge.counters import flagged_share
from bakeoff.judge.ping_pong import two_ways
from bakeoff.measure.contention import FOREIGN_LIMIT
from bakeoff.measure.noise import probe
from bakeoff.race.ping_pong import both_ways
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from bakeoff.judge.ping_pong import Way
    from bakeoff.spec.record import Record
    from bakeoff.spec.verdict import Interval

TOLD = {True: "yes", False: "no", None: "cannot be told"}


def measure(asked: argparse.Namespace, folder: Path) -> dict[Way, list[Record]]:
    """Run all rounds that begin within the budget, and at least three; give the records of each way, by round."""
    request = Request(
        workload="mlp-mnist",
        contenders=tuple(asked.frameworks),
        threads=asked.threads,
        device=asked.device,
        batch_size=32,
        data="synthetic",
        budget_s=asked.budget,
        results=str(folder),
    )
    return both_ways(request, folder, asked.rounds)


def row(framework: str, records: dict[Way, list[Record]]) -> dict[str, Any]:
    """Compare one framework's two ways."""
    found = two_ways(framework, records)
    if found.quickest is None or found.medians is None:
        return {"framework": framework, "rounds": found.rounds}
    return {
        "framework": framework,
        **{f"{way} (ms)": round(1e3 * step_s, 4) for way, step_s in found.step_s.items()},
        "quickest quarter: ping-pong / alone": _bracketed(found.quickest),
        "within 2 %": TOLD[found.agrees],
        "medians: ping-pong / alone": _bracketed(found.medians),
        "spread of runs alone": f"{found.spread:.1%}",
        "rounds": found.rounds,
        "foreign load": f"{flagged_share(records['alone'] + records['ping-pong'])[0] or 0.0:.0%}",
    }


def _bracketed(ratio: Interval) -> str:
    """Write a ratio with its interval."""
    return f"{ratio.estimate:.4f} [{ratio.low:.4f}, {ratio.high:.4f}]"


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
