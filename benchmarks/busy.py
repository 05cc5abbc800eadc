"""A contender against itself beside a process that burns one core: no winner may be named.

    python benchmarks/busy.py [--frameworks torch ...] [--budget 150] [--output benchmarks/results/busy]

Each row is a whole comparison on mlp-mnist, batch 32, synthetic data, with the framework as both contenders, while
another process spins. Blocks that saw foreign load are counted; they are kept, as always.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.measure.noise import probe
from bakeoff.race.conductor import run
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

BURN = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"


@contextmanager
def burning() -> Iterator[None]:
    """Have another process burn one core."""
    with subprocess.Popen([sys.executable, "-c", BURN]) as process:
        try:
            yield
        finally:
            process.kill()


def race(framework: str, budget_s: float, results: Path) -> dict[str, Any]:
    """Race a framework against itself; give a row of the table."""
    before, began = probe(), time.monotonic()
    with burning():
        request = Request(
            workload="mlp-mnist",
            contenders=(framework, framework),
            batch_size=32,
            data="synthetic",
            budget_s=budget_s,
            results=str(results),
        )
        outcome = run(request)
    (pair,) = outcome.verdicts
    ends = (pair.ratio, pair.low, pair.high)
    ratio, low, high = ("" if end is None else f"{end:.3f}" for end in ends)
    share = before.foreign_share
    return {
        "framework": framework,
        "verdict": pair.verdict,
        "ratio": ratio,
        "interval": f"{low} to {high}",
        "rounds": pair.rounds,
        "ended": outcome.ended,
        "blocks beside foreign load": f"{pair.flagged_blocks} of {pair.blocks}",
        "foreign load (median)": f"{outcome.foreign_share or 0.0:.0%}",
        "before the burning": "unknown" if share is None else f"{share:.0%}",
        "seconds": round(time.monotonic() - began),
    }


def main() -> None:
    """Race what is asked for, print the table and write it; a winner is an error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frameworks", nargs="+", default=["torch"])
    parser.add_argument("--budget", type=float, default=150.0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [race(framework, options.budget, Path(folder)) for framework in options.frameworks]
    write(rows, __doc__ or "", options.output)
    if any(row["verdict"] in ("faster", "slower") for row in rows):
        sys.exit("a winner was named among equals")


if __name__ == "__main__":
    main()
