"""What the state of malloc alone does to a step: the same frameworks with malloc in its states, block beside block.

    python benchmarks/hidden_state.py [--works mlp-mnist:32 ...] [--states settled fresh keep] [--frameworks jax ...]
        [--rounds 3] [--threads N] [--output benchmarks/results/hidden-state]

Training at full size, each work with its batch, in every framework that is here or that is named: its states in fresh
processes that alternate block by block, as contenders do in every round of a comparison; certificates are left out, as
the states of one framework compute the same. Faults are minor page faults, by the kernel's own count, for each step of
the blocks; processor time is the process's own and so hardly feels other load. "read back" is the state in which malloc
was found at the end of the processes. Ratios are over the first state, neighbouring blocks against each other: the
median over rounds, with the range.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.environments.interpreters import available
from bakeoff.measure.contention import is_flagged
from bakeoff.race.loop import Runner
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import silent
from bakeoff.race.stages.rounds import together
from bakeoff.race.stages.stage import RaceState
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.options import WORKER_OPTIONS
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.record import Block, Record


def step_ms(block: Block) -> float:
    """Give the time of a step."""
    return block.elapsed_ns / len(block.steps_ns) / 1e6


def processor_ms(block: Block) -> float:
    """Give the processor time of a step, lead-in included."""
    return block.signals.cpu_ns / (len(block.steps_ns) + block.lead_steps) / 1e6


def faults(block: Block) -> float:
    """Give the page faults of a step, lead-in included; not a number where the system does not tell."""
    count = block.signals.minor_faults
    return float("nan") if count is None else count / (len(block.steps_ns) + block.lead_steps)


def median(records: list[Record], read: Callable[[Block], float]) -> float:
    """Give the median over all blocks of all rounds."""
    return statistics.median(read(block) for record in records for block in record.blocks)


def ratio(mine: list[Record], first_state: list[Record], read: Callable[[Block], float]) -> str:
    """Give the ratio of neighbouring blocks: the median in each round, and of these the median and the range."""
    rounds = []
    for one, other in zip(mine, first_state, strict=True):
        pairs = zip(one.blocks, other.blocks, strict=True)
        rounds.append(statistics.median(read(first) / read(second) for first, second in pairs))
    return f"{statistics.median(rounds):.2f} ({min(rounds):.2f} to {max(rounds):.2f})"


def row(work: str, label: str, mine: list[Record], first: list[Record]) -> dict[str, Any]:
    """Give one contender's figures."""
    blocks = [block for record in mine for block in record.blocks]
    return {
        "work": work,
        "contender": label,
        "read back": ", ".join(sorted({str(record.settings.get("malloc")) for record in mine})),
        "step (ms)": f"{median(mine, step_ms):.3g}",
        "processor time a step (ms)": f"{median(mine, processor_ms):.3g}",
        "faults a step": f"{median(mine, faults):.3g}",
        "step over the first": ratio(mine, first, step_ms),
        "processor time over the first": ratio(mine, first, processor_ms),
        "rounds": len(mine),
        "blocks beside foreign load": f"{sum(is_flagged(block.signals) for block in blocks)} of {len(blocks)}",
    }


def race(work: str, labels: list[str], rounds: int, threads: int | None) -> dict[str, list[Record]]:
    """Run the rounds of a workload with its batch; give the records of each contender."""
    workload, _, batch = work.partition(":")
    records: dict[str, list[Record]] = {label: [] for label in labels}
    with tempfile.TemporaryDirectory() as results:
        request = Request(
            workload=workload,
            batch_size=int(batch) if batch else None,
            data="synthetic",
            contenders=tuple(labels),
            threads=threads,
            results=results,
        )
        with prepared(request) as (comparison, inputs):
            state = RaceState(comparison, Path(results), inputs)
            runner = Runner(state.folder, ProcessWorker, silent, limit_s=comparison.procedure.trial_limit_s)
            for number in range(1, rounds + 1):
                for record in runner.run(together(state, comparison.contenders, number)):
                    records[record.trial.contender.label].append(record)
    return records


def main() -> None:
    """Race, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--works", nargs="+", default=["mlp-mnist:32"])
    parser.add_argument("--states", nargs="+", default=WORKER_OPTIONS["malloc"].values)
    parser.add_argument("--frameworks", nargs="+", default=tuple(available()[0]))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = []
    for work in arguments.works:
        for name in arguments.frameworks:
            labels = [f"{name}:malloc={state}" for state in arguments.states]
            records = race(work, labels, arguments.rounds, arguments.threads)
            rows += [row(work, label, records[label], records[labels[0]]) for label in labels]
            for one in rows[-len(labels) :]:
                print(one, flush=True)
    write(rows, __doc__ or "", arguments.output)


if __name__ == "__main__":
    main()
