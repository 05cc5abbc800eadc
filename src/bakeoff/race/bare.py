"""Bakeoff's step time against a framework's bare loop, in ping-pong rounds of fresh processes.

The bare loop is started as a user starts it, with none of bakeoff's environment variables; bakeoff's side is its own
worker, as in a race.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.judge.bare import AgainstBare
from bakeoff.race.prepare import prepared
from bakeoff.race.specs import Specs, Trial
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec import protocol
from bakeoff.spec.record import NS
from bakeoff.spec.verdict import Interval
from bakeoff.stats.differences import ping_pong_difference
from bakeoff.stats.intervals import MIN_VALUES, fixed_interval
from bakeoff.store.files import write_trial

if TYPE_CHECKING:
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.request import Request

RUNNER = Path(bakeoff.__file__).parent / "frameworks" / "bare_loop.py"
LOOP = "bare.py"
"""The file in a framework's folder that holds its bare loop."""

BATCH = {"mlp-mnist": 32, "mlp-1024": 128, "cnn-cifar10": 32}
"""The workloads that bare loops are written for, each with the batch size."""

CHOOSING = ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES")
"""Variables that choose among GPUs: those of the worker hold for the bare loop, too, or they would run on two."""

LIMIT_S = 600.0
WARM_STEPS = 200
WARM_S = 1.0
TURNS = 12
LEAD_NS, TIMED_NS = 100e6, 150e6
"""A block is long beside what a switch between processes costs, and short beside the bursts of others."""


class BareLoop:
    """A bare loop in a process of its own."""

    def __init__(self, plan: ContenderPlan, workload: str, variables: dict[str, str]) -> None:
        """Start it, with the environment as it is; raise WorkerLostError where it ends before it is ready."""
        device = plan.contender.device
        self._process = subprocess.Popen(
            [plan.interpreter, str(RUNNER), plan.framework_path, workload, str(BATCH[workload]), device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | variables,
        )
        while self._line() != "ready\n":
            pass

    def run(self, steps: int) -> int:
        """Run steps; return nanoseconds."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        return int(self._line())

    def _line(self) -> str:
        """Return its next line; raise WorkerLostError at its end."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            msg = f"the bare loop ended with exit code {code}"
            raise WorkerLostError("failed", msg)
        return line

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


class Harness:
    """Bakeoff's own worker behind the same two verbs."""

    def __init__(self, folder: Path, trial: Trial, launch: Launcher) -> None:
        """Start and build it."""
        write_trial(folder / trial.spec.name, trial.spec)
        self._worker = launch(folder / trial.spec.name, trial.spec, trial.interpreter)
        self._worker.ready(LIMIT_S)
        self._worker.ask(protocol.Build(), LIMIT_S)

    def run(self, steps: int) -> int:
        """Run steps; return nanoseconds."""
        answer = self._worker.ask(protocol.RunBlock(lead=0, steps=steps, turn=0), LIMIT_S)
        assert isinstance(answer, protocol.Ran)
        return answer.elapsed_ns

    def end(self) -> None:
        """End it."""
        self._worker.end()


Sides = dict[str, BareLoop | Harness]


def has_bare_loop(framework_path: str) -> bool:
    """Return whether a framework's folder holds a bare loop."""
    return (Path(framework_path) / LOOP).exists()


def against_bare(request: Request, rounds: int, *, launch: Launcher = ProcessWorker) -> AgainstBare:
    """Race the request's one contender against its bare loop, in rounds that begin within the budget, at least three.

    Raises WorkerLostError where a side ends by itself.
    """
    began_s = time.monotonic()
    request = msgspec.structs.replace(request, batch_size=BATCH[request.workload], data="synthetic", size="full")
    differences: list[float] = []
    steps_s: dict[str, list[float]] = {"bakeoff": [], "bare": []}
    with prepared(request, asking=launch is ProcessWorker) as (comparison, inputs):
        plan, specs = comparison.contenders[0], Specs(comparison, inputs, inputs)
        for number in range(1, rounds + 1):
            spent_s = time.monotonic() - began_s
            if number > MIN_VALUES and request.budget_s is not None and spent_s > request.budget_s:
                break
            difference, medians = _fresh_round(plan, specs, inputs, number, launch)
            differences.append(difference)
            for name, median_s in medians.items():
                steps_s[name].append(median_s)
    found = fixed_interval(differences, 0.95)
    ends = [math.exp(value) for value in (found.estimate, found.low, found.high)] if found else []
    middle = {name: sorted(values)[len(values) // 2] for name, values in steps_s.items() if values}
    return AgainstBare(
        label=plan.contender.label,
        rounds=len(differences),
        bakeoff_s=middle.get("bakeoff"),
        bare_s=middle.get("bare"),
        ratio=Interval(estimate=ends[0], low=ends[1], high=ends[2]) if ends else None,
    )


def _fresh_round(
    plan: ContenderPlan, specs: Specs, inputs: Path, number: int, launch: Launcher
) -> tuple[float, dict[str, float]]:
    """Run one round of two fresh processes, which are ended in any case."""
    trial = specs.trial(plan, "time", number, resident=True)
    workload = trial.spec.workload_name
    chosen = {name: trial.spec.variables[name] for name in CHOOSING if name in trial.spec.variables}
    sides: Sides = {}
    try:
        sides["bare"] = BareLoop(plan, workload, chosen)
        sides["bakeoff"] = Harness(inputs, trial, launch)
        return _one_round(sides)
    finally:
        for side in sides.values():
            side.end()


def _step_ns(side: BareLoop | Harness) -> float:
    """Warm a side and return its step time."""
    steps, spent_ns = 0, 0
    while steps < WARM_STEPS and spent_ns < WARM_S * 1e9:
        spent_ns += side.run(5)
        steps += 5
    return max(1.0, spent_ns / steps)


def _one_round(sides: Sides) -> tuple[float, dict[str, float]]:
    """Alternate in blocks; return log(bakeoff / bare) and each side's median step in seconds."""
    estimate = {name: _step_ns(side) for name, side in sides.items()}
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
    return difference, {name: sorted(values.values())[TURNS // 2] * NS for name, values in times.items()}
