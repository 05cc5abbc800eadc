"""bakeoff's step time against a bare hand-written loop in each framework, in ping-pong rounds of fresh processes.

    python benchmarks/bare_loops.py [--rounds 7] [--workload mlp-mnist ...] [--device cpu]
                                    [--output benchmarks/results/NAME]

The bare loop is started as a user starts it, with none of bakeoff's environment variables; bakeoff's side is its own
worker, as in a race. Goal: within 1 % for steps over 1 ms, and never slower by more. On a GPU (not run by us)
both sides share it: the bare loop then gets the variables by which JAX and TensorFlow leave the other side some memory.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
from pathlib import Path

import devices
from results import write

from bakeoff.race.prepare import prepared
from bakeoff.race.specs import Specs, Trial
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec import protocol
from bakeoff.spec.request import Request
from bakeoff.stats.differences import ping_pong_difference
from bakeoff.stats.intervals import fixed_interval
from bakeoff.store.files import write_trial

BARE = Path(__file__).parent / "bare"
BATCH = {"mlp-mnist": 32, "mlp-1024": 128, "cnn-cifar10": 32}
LIMIT_S = 600.0
WARM_STEPS = 200
WARM_S = 1.0
TURNS = 12
LEAD_NS, TIMED_NS = 100e6, 150e6
SHARED = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
"""By default JAX takes three quarters of a GPU's memory before its first step, TensorFlow nearly all (their documents
on GPU memory)."""


class BareLoop:
    """A bare loop in a process of its own."""

    def __init__(self, interpreter: str, script: Path, workload: str, device: str) -> None:
        """Start it, with the environment as it is, but for the memory of a GPU."""
        self._process = subprocess.Popen(
            [interpreter, str(script), workload, str(BATCH[workload]), "--device", device],
            env=os.environ | (SHARED if device != "cpu" else {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        while self._process.stdout.readline() != "ready\n":
            assert self._process.poll() is None, f"{script} ended"

    def run(self, steps: int) -> int:
        """Run steps; give nanoseconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


class Worker:
    """bakeoff's own worker behind the same two verbs."""

    def __init__(self, folder: Path, trial: Trial) -> None:
        """Start and build it."""
        write_trial(folder / trial.spec.name, trial.spec)
        self._worker = ProcessWorker(folder / trial.spec.name, trial.spec, trial.interpreter)
        self._worker.ready(LIMIT_S)
        self._worker.ask(protocol.Build(), LIMIT_S)

    def run(self, steps: int) -> int:
        """Run steps; give nanoseconds."""
        answer = self._worker.ask(protocol.RunBlock(lead=0, steps=steps, turn=0), LIMIT_S)
        assert isinstance(answer, protocol.Ran)
        return answer.elapsed_ns

    def end(self) -> None:
        """End it."""
        self._worker.end()


def step_ns(side: BareLoop | Worker) -> float:
    """Warm a side and estimate its step time."""
    steps, spent_ns = 0, 0
    while steps < WARM_STEPS and spent_ns < WARM_S * 1e9:
        spent_ns += side.run(5)
        steps += 5
    return spent_ns / steps


def one_round(sides: dict[str, BareLoop | Worker]) -> tuple[float, dict[str, float]]:
    """Alternate in blocks; give log(bakeoff / bare) and each side's median step in nanoseconds."""
    estimate = {name: step_ns(side) for name, side in sides.items()}
    times: dict[str, dict[int, float]] = {name: {} for name in sides}
    for turn in range(0, TURNS, 2):
        order = random.sample(list(sides), 2)
        for offset, names in enumerate((order, order[::-1])):
            for name in names:
                sides[name].run(max(3, round(LEAD_NS / estimate[name])))
                steps = max(3, round(TIMED_NS / estimate[name]))
                times[name][turn + offset] = sides[name].run(steps) / steps
    difference = ping_pong_difference(times["bakeoff"], times["bare"])
    assert difference is not None
    return difference, {name: sorted(values.values())[TURNS // 2] for name, values in times.items()}


def measure(framework: str, workload: str, rounds: int, device: str) -> dict[str, object]:
    """Race bakeoff's worker against the bare loop; give a row of the table."""
    request = Request(
        workload=workload, contenders=(framework,), batch_size=BATCH[workload], data="synthetic", device=device
    )
    differences, bakeoff_ms, bare_ms = [], [], []
    with prepared(request) as (comparison, inputs):
        plan = comparison.contenders[0]
        specs = Specs(comparison, inputs, inputs)
        for number in range(1, rounds + 1):
            sides: dict[str, BareLoop | Worker] = {
                "bare": BareLoop(plan.interpreter, BARE / f"{framework}_loop.py", workload, device),
                "bakeoff": Worker(inputs, specs.trial(plan, "time", number, resident=True)),
            }
            try:
                difference, medians = one_round(sides)
            finally:
                for side in sides.values():
                    side.end()
            differences.append(difference)
            bakeoff_ms.append(medians["bakeoff"] / 1e6)
            bare_ms.append(medians["bare"] / 1e6)
    interval = fixed_interval(differences, 0.95)
    assert interval is not None
    ratio = [2.718281828459045**value for value in (interval.estimate, interval.low, interval.high)]
    return {
        "workload": f"{workload}, batch {BATCH[workload]}",
        "framework": framework,
        "device": device,
        "bakeoff (ms)": round(sorted(bakeoff_ms)[rounds // 2], 3),
        "bare loop (ms)": round(sorted(bare_ms)[rounds // 2], 3),
        "ratio": round(ratio[0], 4),
        "low": round(ratio[1], 4),
        "high": round(ratio[2], 4),
        "rounds": rounds,
    }


def main() -> None:
    """Measure what is asked for, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workload", nargs="+", default=list(BATCH), choices=list(BATCH))
    parser.add_argument("--framework", nargs="+", default=sorted(path.stem[:-5] for path in BARE.glob("*_loop.py")))
    parser.add_argument("--output", type=Path)
    devices.add_argument(parser)
    arguments = parser.parse_args()
    devices.check(parser, arguments.framework, arguments.device)
    rows = []
    for workload in arguments.workload:
        for framework in arguments.framework:
            rows.append(measure(framework, workload, arguments.rounds, arguments.device))
            print(rows[-1], flush=True)
    write(rows, __doc__ or "", arguments.output)


if __name__ == "__main__":
    main()
