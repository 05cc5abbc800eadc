"""What a stream of steps leaves, against the same steps each waited for: how near honest contenders are.

    python benchmarks/streams.py FOLDER [--workloads ...] [--contenders torch jax tensorflow mlx jittor] [--threads 2]
        [--batch-size N] [--output benchmarks/results/streams]

Each contender races one round by itself, without a certificate, at reduced size; records are kept in FOLDER, and the
table has all that are there. `off` is how far the last timed block left the parameters from where as many steps leave
them that are each waited for, in units of what the last of these changes; 0 where all bits are the same. `again` is the
same of two runs of steps that are waited for, asked where the block is off. `repeated` is how far the first two steps
from the saved state, run again behind all others, leave the parameters from where they had left them in the warm-up, in
units of what they had changed there. `grown` is that of streams of two steps, three and so on, up to the first that is
off by more than is allowed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.race import conductor
from bakeoff.race.stages import rounds
from bakeoff.race.stages.stage import RaceState
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.request import Request
from bakeoff.store.files import read_comparison
from bakeoff.store.results import read_records
from bakeoff.workloads.load import names

if TYPE_CHECKING:
    from collections.abc import Iterator


def race(asked: argparse.Namespace, workload: str, contender: str) -> None:
    """Race one contender for one round, certified or not."""
    threads = 1 if contender == "mlx" else asked.threads  # it has no other number
    request = Request(
        workload=workload,
        contenders=(contender,),
        size="reduced",
        batch_size=asked.batch_size,
        threads=threads,
        max_rounds=1,
        self_test=False,
        results=str(asked.folder),
    )
    try:
        conductor.run(request, stages=(rounds.wanted,))
    except BakeoffError as error:
        sys.stderr.write(f"{workload} {contender}: {error}\n")


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each timed trial that is there, and that has put a state back."""
    for path in sorted(folder.glob("*/comparison.json")):
        comparison = read_comparison(path.parent)
        for record in read_records(path.parent).records.values():
            if record.tie is None or not record.tie.block_steps:
                continue
            yield {
                "workload": comparison.workload.name,
                "batch": comparison.batch_size,
                "contender": record.trial.contender.label,
                "threads": record.trial.contender.options["threads"],
                "steps": record.tie.block_steps,
                "off": told(record.tie.block_off),
                "again": told(record.tie.fenced_off),
                "repeated": told(record.tie.repeated_off),
                "grown": ", ".join(map(told, record.tie.grown)),
            }


def told(off: float | None) -> str:
    """Return a difference as the table has it; empty where it was not asked."""
    return "" if off is None else f"{off:.1e}" if off else "0"


def main() -> None:
    """Race what is asked for, and write the table of all that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workloads", nargs="*", default=names())
    parser.add_argument("--contenders", nargs="+", default=["torch", "jax", "tensorflow", "mlx", "jittor"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    RaceState.racing = lambda self: list(self.comparison.contenders)  # type: ignore[method-assign]
    for workload in asked.workloads:
        for contender in asked.contenders:
            race(asked, workload, contender)
    write(list(rows(asked.folder)), __doc__ or "", asked.output)


if __name__ == "__main__":
    main()
