"""The workloads' models against the ready-made ones, pair by pair: are ours slower where both compute the same?

    python benchmarks/zoo.py [--workloads NAME ...] [--frameworks NAME ...] [--scenarios train infer]
                             [--rounds 5] [--budget 540] [--batch-size N] [--side N] [--threads N]
                             [--device cpu] [--output STEM]

Each pair is a framework's matched and native tier, two fresh processes in every round that take turns: bakeoff's
own rounds. The ratio is ready-made / ours: the mean over rounds of its logarithm within turns, with the 95 % interval
by t. 1.00 is the goal; below 0.97 is a defect, or needs a reason. "same" tells whether both have the same number of
parameters; where they do not, or the ready-made model is run in a way of its own (Keras' train_on_batch), the pair
compares two things. Images and batches are small enough for a processor, of BERT and GPT-2 there are two layers; all
models have their full width. A framework may name its environment, as torch@/path/to/python: BERT and GPT-2 need
transformers or KerasHub there, and are sharper in zoo_steps.py, whose models begin at values of one size.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write
from zoo_pairs import LANGUAGE, SEQUENCES, SIZES, of_workload, verdict

from bakeoff.judge.counters import flagged_share
from bakeoff.judge.rounds import kept_blocks, round_times
from bakeoff.measure.contention import FOREIGN_LIMIT
from bakeoff.race.loop import Runner
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import silent
from bakeoff.race.stages.certify import evidence
from bakeoff.race.stages.rounds import together
from bakeoff.race.stages.stage import RaceState
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.request import Request
from bakeoff.stats.differences import ping_pong_difference
from bakeoff.stats.intervals import MIN_VALUES, fixed_interval

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Comparison
    from bakeoff.spec.record import Record

Pair = dict[str, list["Record"]]


def measure(asked: argparse.Namespace, case: tuple[str, str, str], folder: Path, ends_s: float) -> dict[str, Any]:
    """Run one pair's rounds, at least three, until the time is over; give its row."""
    workload, framework, scenario = case
    path, batch, samples = of_workload(workload, folder, asked.side, asked.batch_size)
    request = Request(
        workload=path,
        contenders=(framework,),
        tiers=("matched", "native"),
        scenario=scenario,
        batch_size=batch,
        device=asked.device,
        threads=asked.threads,
        data="synthetic",
        results=str(folder / "results"),
    )
    row = {"workload": workload, "framework": framework, "scenario": scenario, "samples": samples}
    with prepared(request) as (comparison, inputs):
        state = RaceState(comparison, folder / "results", inputs)
        runner = Runner(state.folder, ProcessWorker, silent, limit_s=comparison.procedure.trial_limit_s)
        certified = {
            plan.contender.label: runner.run(evidence(state, plan, "certify"))[0] for plan in comparison.contenders
        }
        refused = [record.reason for record in certified.values() if record.outcome != "done"]
        if refused:
            return row | {"ratio": "", "same": "", "told": refused[0]}
        records: list[Record] = []
        for number in range(1, asked.rounds + 1):
            if number > MIN_VALUES and time.monotonic() > ends_s:
                break
            records += runner.run(together(state, comparison.contenders, number))
    return row | _told(comparison, certified, records)


def _told(comparison: Comparison, certified: dict[str, Record], records: list[Record]) -> dict[str, Any]:
    """Compare the two tiers of one framework."""
    ours, ready_made = (plan.contender.label for plan in comparison.contenders)
    mine = {label: [r for r in records if r.trial.contender.label == label] for label in (ours, ready_made)}
    failed = [record.reason for record in records if record.outcome != "done"]
    if failed:
        return {"ratio": "", "same": _same(certified[ours], certified[ready_made]), "told": failed[0]}
    kept = kept_blocks(records)
    times = {label: round_times(mine[label], kept) for label in mine}
    logs = [ping_pong_difference(times[ready_made][number].turns, times[ours][number].turns) for number in times[ours]]
    interval = fixed_interval([log for log in logs if log is not None], 0.95)
    assert interval is not None
    ratio, low, high = (math.exp(value) for value in (interval.estimate, interval.low, interval.high))
    foreign = flagged_share(records)[0] or 0.0
    return {
        "ratio": f"{ratio:.3f} [{low:.3f}, {high:.3f}]",
        "same": _same(certified[ours], certified[ready_made]),
        "told": verdict(low, high) + ("" if foreign < FOREIGN_LIMIT else f"; NOT CALM, foreign load {foreign:.0%}"),
    }


def _same(ours: Record, ready_made: Record) -> str:
    """Say whether both have as many parameters, and what the ready-made one is."""
    assert ours.evidence is not None
    assert ready_made.evidence is not None
    mine, other = (
        sum(math.prod(shape) for shape in record.evidence.parameter_shapes.values())
        for record in (ours, ready_made)
        if record.evidence
    )
    counts = f"{mine:,} parameters" if mine == other else f"{mine:,} parameters against {other:,}"
    return f"{counts}; {ready_made.evidence.ready_made}"


def main() -> None:
    """Measure every pair, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", default=["resnet50"], choices=[*SIZES, *SEQUENCES, *LANGUAGE])
    parser.add_argument("--frameworks", nargs="+", default=["torch", "tensorflow", "jax"])
    parser.add_argument("--scenarios", nargs="+", default=["train", "infer"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=540.0, help="seconds for all pairs together")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--side", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    began = time.monotonic()
    cases = list(product(asked.workloads, asked.frameworks, asked.scenarios))
    rows = []
    for done, case in enumerate(cases):
        share = (began + asked.budget - time.monotonic()) / (len(cases) - done)
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(asked, case, Path(folder).resolve(), time.monotonic() + share))
        print(rows[-1], flush=True)
    write(rows, __doc__ or "", asked.output)


if __name__ == "__main__":
    main()
