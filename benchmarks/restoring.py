"""Whether putting the state of training back changes what a step costs: it must not.

    python benchmarks/restoring.py [--frameworks NAME ...] [--rounds 7] [--output STEM]

Fresh processes each time, alone on the machine, by turns: in one way each block of mlp-mnist on digits begins with the
state after 4 steps, put back; in the other the process just trains on. Four blocks of so many steps that even the last
lies before step 700, from which on denormal numbers change what a step costs. The ratio is that of the process medians,
restored over training on, with its 95 % interval over rounds. "yes" is said where all of it is within 5 %.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.race.loop import Runner
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import silent
from bakeoff.race.stages.stage import RaceState, alone
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.protocol import RunBlock, Warm
from bakeoff.spec.request import Request
from bakeoff.spec.trial import SNAPSHOT_STEPS
from bakeoff.stats.differences import process_median
from bakeoff.stats.intervals import fixed_interval

if TYPE_CHECKING:
    from bakeoff.race.stages.stage import Session
    from bakeoff.spec.record import Record
    from bakeoff.spec.trial import Purpose

AGREED = 0.05
WARM, LEAD, STEPS, TURNS = 100, 30, 100, 4
"""Steps: 100 of warm-up, and four blocks of 30 untimed and 100 timed ones, which end at step 621."""
WAYS: dict[str, Purpose] = {"restored": "time", "training on": "energy"}
"""The purpose of the trials: one saves its state in the warm-up and puts it back, the other does not."""


def _blocks(session: Session) -> None:
    """Warm up and run the blocks."""
    session.warm_up(SNAPSHOT_STEPS)
    session.warm(Warm(steps=WARM - SNAPSHOT_STEPS))
    for turn in range(TURNS):
        session.ask(RunBlock(lead=LEAD, steps=STEPS, turn=turn))


def measure(frameworks: list[str], rounds: int, folder: Path) -> dict[tuple[str, str], list[float]]:
    """Return the step time of each process in seconds, by framework and way."""
    request = Request(workload="mlp-mnist", contenders=tuple(frameworks), data="digits", results=str(folder))
    found: dict[tuple[str, str], list[float]] = {(name, way): [] for name in frameworks for way in WAYS}
    with prepared(request) as (comparison, inputs):
        state = RaceState(comparison, folder, inputs)
        runner = Runner(folder, ProcessWorker, silent, limit_s=comparison.procedure.trial_limit_s)
        for number in range(rounds):
            for plan in comparison.contenders:
                for way in list(WAYS) if number % 2 == 0 else list(WAYS)[::-1]:
                    trial = state.specs.trial(plan, WAYS[way], number + 1)
                    (record,) = runner.run(alone(trial, _blocks))
                    if record.outcome != "done":
                        msg = f"{trial.spec.name}: {record.reason}"
                        raise SystemExit(msg)
                    found[plan.contender.label, way].append(process_median(_steps_s(record)))
    return found


def _steps_s(record: Record) -> list[float]:
    """Return the step time of each block, in seconds."""
    return [block.elapsed_ns * 1e-9 / len(block.steps_ns) for block in record.blocks]


def row(framework: str, found: dict[tuple[str, str], list[float]]) -> dict[str, Any]:
    """Return one framework's row."""
    restored, on = (found[framework, way] for way in WAYS)
    interval = fixed_interval([math.log(a / b) for a, b in zip(restored, on, strict=True)], 0.95)
    assert interval is not None
    ratio, low, high = (math.exp(end) for end in (interval.estimate, interval.low, interval.high))
    agrees = low >= 1.0 - AGREED and high <= 1.0 + AGREED
    return {
        "framework": framework,
        **{f"{way} (ms)": round(1e3 * process_median(found[framework, way]), 3) for way in WAYS},
        "restored / training on": f"{ratio:.3f} [{low:.3f}, {high:.3f}]",
        "within 5 %": "yes" if agrees else "no" if low > 1.0 + AGREED or high < 1.0 - AGREED else "cannot be told",
        "rounds": len(restored),
    }


def main() -> None:
    """Measure, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frameworks", nargs="+", default=["torch", "jax", "tensorflow", "mlx", "jittor"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(asked.frameworks, asked.rounds, Path(folder).resolve())
    write([*map(partial(row, found=found), asked.frameworks)], __doc__ or "", asked.output)


if __name__ == "__main__":
    main()
