"""bakeoff's steps with per-sample gradients against those that users write by hand, step by step in fresh processes.

    python benchmarks/per_sample.py [--workloads mnist-cnn cnn-cifar10] [--pairs torch:vmap torch:hooks jax:vmap]
                                    [--batch-size 64] [--processes 7] [--seconds 20] [--opacus FOLDER]
                                    [--output STEM]

Each sample's gradient is clipped to a norm of 1, noise of 1.1 times that is added to the sum, and SGD makes a step, on
both sides (per_sample_by_hand.py: PyTorch's tutorial, Opacus' own classes, jit of vmap of grad in JAX). Both live in
one process and take single steps by turns, in mirrored order, each waited for. A process gives one ratio, by hand /
ours: the median over its turns. The table has the centre over fresh processes with its 95 % interval (signed-rank):
1.00 is the goal, below 0.97 is a defect.

Opacus is in PyTorch's environment. An interpreter without it takes it from the folder that --opacus names, as
`pip install --target FOLDER opacus scipy opt-einsum --no-deps` fills it; without both the pair is refused.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import over_processes
from inside import model_of, options_of, run_inside
from per_sample_by_hand import BY_HAND, MAX_NORM, NOISE
from zoo_steps import FEWEST_TURNS, MOST_TURNS, WARM_UP_TURNS, call_of

if TYPE_CHECKING:
    from collections.abc import Callable

SIDES = {"mnist-cnn": 28, "cnn-cifar10": 32}
"""Of the images of each workload, in pixels."""

SCENARIO = "per-sample-gradients"


def calls_of(framework: str, way: str, workload: str, count: int) -> dict[str, Callable[[], None]]:
    """Give a step of each side on the same batch of noise; raises UnsupportedError where ours is refused."""
    import msgspec
    import numpy as np

    import bakeoff.frameworks
    from bakeoff.spec.batch import labelled
    from bakeoff.spec.per_sample import PerSample
    from bakeoff.trial.framework import import_engine

    options = options_of(framework) | {"per_sample": way}
    engine = import_engine(Path(bakeoff.frameworks.__file__).parent / framework).Engine()
    engine.configure(options)
    asked = PerSample(max_norm=MAX_NORM, noise_multiplier=NOISE)
    model = msgspec.structs.replace(model_of(workload, SIDES[workload]), per_sample=asked)
    random = np.random.default_rng(0)
    images = random.standard_normal((count, *model.size.input_shape), np.float32)
    labels = random.integers(0, model.size.classes, count).astype(np.int32)
    step = engine.build(model, SCENARIO, options)
    ours = call_of(step, step.prepare(labelled(images, labels)))
    return {"ours": ours, "by hand": BY_HAND[framework, way](workload, images, labels)}


def times(framework: str, way: str, workload: str, count: int, seconds: float) -> dict[str, Any]:
    """Take steps by turns until the time is over; give each side's seconds, turn by turn."""
    from bakeoff.spec.errors import UnsupportedError

    try:
        calls = calls_of(framework, way, workload, count)
    except UnsupportedError as error:
        return {"refused": str(error)}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    ends = math.inf
    for turn in range(WARM_UP_TURNS + MOST_TURNS):
        if turn == WARM_UP_TURNS:
            ends = time.monotonic() + seconds
        if turn >= WARM_UP_TURNS + FEWEST_TURNS and time.monotonic() > ends:
            break
        for name in list(calls)[:: 1 if turn % 2 else -1]:
            began = time.perf_counter()
            calls[name]()
            taken[name].append(time.perf_counter() - began)
    return {name: values[WARM_UP_TURNS:] for name, values in taken.items()}


def main() -> None:
    """Measure every pair, print the table and write it."""
    pairs = [":".join(pair) for pair in BY_HAND]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", default=list(SIDES), choices=list(SIDES))
    parser.add_argument("--pairs", nargs="+", default=pairs, choices=pairs)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--processes", type=over_processes.count, default=over_processes.PROCESSES)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each pair in a process, after its warm-up")
    parser.add_argument("--opacus", type=Path, help="folder that Opacus was installed into")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.opacus:
        sys.path.append(str(asked.opacus))
    if asked.inside:
        asked.into.write_text(json.dumps(times(*asked.inside, asked.batch_size, asked.seconds)))
        return
    from results import write

    common = ["--batch-size", str(asked.batch_size), "--seconds", str(asked.seconds)]
    common += ["--opacus", str(asked.opacus.resolve())] if asked.opacus else []

    def measure(pair: str, workload: str) -> Any:
        framework, way = pair.split(":")
        return run_inside(framework, __file__, *common, "--inside", framework, way, workload)

    cases = [(pair, workload) for workload, pair in product(asked.workloads, asked.pairs)]
    found = over_processes.measured(cases, asked.processes, measure)
    rows = [over_processes.told(case, asked.batch_size, taken) for case, taken in found.items()]
    write(rows, __doc__ or "", asked.output)


if __name__ == "__main__":
    sys.exit(main())
