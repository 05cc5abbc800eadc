"""The workloads' models against the ready-made ones, step by step in one process.

    python benchmarks/zoo_steps.py [--workloads NAME ...] [--frameworks NAME ...] [--scenarios train infer]
                                   [--depth 12] [--seconds 60] [--output STEM]

`zoo.py` races the two as bakeoff races, in fresh processes; where a step takes a second, that is many minutes for few
rounds. Here both live in one process and take single steps by turns, in mirrored order, each waited for: drift and load
meet both within a second, so that the ratio is sharp also on an unsteady machine, and what differs between processes
is not seen. The ratio is ready-made / ours, the 95 % interval of the centre of its logarithm over turns (signed-rank).
1.00 is the goal, below 0.97 is a defect, or needs a reason.

Of images PyTorch has a third one: torchvision's model without the operators that write into their operand
(`inplace=True` of its ReLU layers). ready-made / that one tells what they are worth: a workload's functions never
change what they are given, because its text is the same for all frameworks. Of sequences, what users write by hand
with their own loop is the third (twins_torch.py, twins_tensorflow.py, twins_jax.py): by hand / ours is its ratio.
BERT and GPT-2 have two layers of their full width, or as many as --depth says.
Recurrent layers by themselves (lstm, lstm-both, gru, gru-both) are torch.nn's, keras.layers' and flax's in such a loop
alone.

A framework may name its environment, as torch@/path/to/python: BERT and GPT-2 need transformers in PyTorch's, KerasHub
in TensorFlow's and JAX's (tried: transformers 5.23.0, keras-hub 0.32.0 without tensorflow-text).
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inside import batch_of, drawn, engine_of, model_in, model_of, options_of, ready_made_of, run_inside
from zoo_pairs import LANGUAGE, LAYERS, SEQUENCES, SIZES, of_workload, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

WARM_UP_TURNS = 3
"""Steps of each before the first that counts: compiling, and an allocator that finds its size."""

FEWEST_TURNS = 10
"""Where a step takes seconds: an interval by ranks of 95 % needs six, and its ends should not be the extremes."""

MOST_TURNS = 200
"""Where a step is short: the interval is a percent wide by then."""


def times(framework: str, workload: str, scenario: str, seconds: float, depth: int | None) -> dict[str, Any]:
    """Take a pair's steps by turns until the time is over; give each one's seconds, turn by turn."""
    from bakeoff.spec.errors import UnsupportedError

    try:
        if workload in SIZES:
            calls = _of_images(framework, workload, scenario)
        else:
            calls = _of_sequences(framework, workload, scenario, depth)
    except UnsupportedError as error:
        return {"refused": str(error)}
    return by_turns(calls, seconds)


def by_turns(calls: dict[str, Callable[[], None]], seconds: float) -> dict[str, list[float]]:
    """Make calls by turns, in mirrored order, until the time is over; give each one's seconds, turn by turn."""
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


def _of_images(framework: str, workload: str, scenario: Any) -> dict[str, Callable[[], None]]:
    """Give the steps of a workload on images."""
    side, count = SIZES[workload]
    engine, options, model = engine_of(framework), options_of(framework), model_of(workload, side)
    steps = {
        "ours": engine.build(model, scenario, options),
        "ready-made": ready_made_of(framework).build(workload, model, scenario, options),
    }
    calls = {name: call_of(step, batch_of(step, model, count)) for name, step in steps.items()}
    if framework == "torch":
        step = ready_made_of("torch").build(workload, model, scenario, options)
        calls["no inplace"] = _without_inplace(call_of(step, batch_of(step, model, count)))
    return calls


def _of_sequences(framework: str, workload: str, scenario: Any, depth: int | None) -> dict[str, Callable[[], None]]:
    """Give the steps of a workload on sequences, and what is written by hand where it is."""
    with tempfile.TemporaryDirectory() as folder:
        path, count, _ = of_workload(workload, Path(folder), depth=depth)
        model = model_in(path)
    engine, options, batch = engine_of(framework), options_of(framework), drawn(model, count)
    steps = {"ours": engine.build(model, scenario, options)}
    if workload not in LAYERS:
        steps["ready-made"] = ready_made_of(framework).build(workload, model, scenario, options)
    calls = {name: call_of(step, step.prepare(batch)) for name, step in steps.items()}
    if Path(__file__).with_name(f"twins_{framework}.py").exists():
        twins = importlib.import_module(f"twins_{framework}").TWINS
        calls |= {"by hand": twins[workload](model, scenario, batch)} if workload in twins else {}
    return calls


def call_of(step: Any, batch: Any) -> Callable[[], None]:
    """Give one step that is waited for."""

    def call() -> None:
        step.run(batch)
        step.wait()

    return call


def _without_inplace(call: Callable[[], None]) -> Callable[[], None]:
    """Have ReLU, which layers call as a function too, leave its operand as it is, as long as this runs."""
    from torch.nn import functional

    relu = functional.relu

    def called() -> None:
        functional.relu = lambda x, inplace=False: relu(x)  # noqa: ARG005 - takes what is given, and leaves it out
        try:
            call()
        finally:
            functional.relu = relu

    return called


def told(case: tuple[str, str, str], taken: dict[str, Any], depth: int | None) -> dict[str, Any]:
    """Give a pair's row."""
    workload, framework, scenario = case
    with tempfile.TemporaryDirectory() as folder:
        _, _, samples = of_workload(workload, Path(folder), depth=depth)
    row = {"workload": workload, "framework": framework.partition("@")[0], "scenario": scenario, "samples": samples}
    if "refused" in taken:
        return row | {"ratio": "", "turns": 0, "told": taken["refused"], "by hand / ours": "", "told by hand": ""}
    ratio = ratio_of(taken["ready-made"], taken["ours"]) if "ready-made" in taken else None
    by_hand = ratio_of(taken["by hand"], taken["ours"]) if "by hand" in taken else None
    told = row | {
        "ratio": _written(ratio),
        "turns": len(taken["ours"]),
        "told": verdict(*ratio[1:]) if ratio else "",
        "by hand / ours": _written(by_hand),
        "told by hand": verdict(*by_hand[1:]) if by_hand else "",
    }
    if "no inplace" in taken:
        told["ready-made / without inplace"] = _written(ratio_of(taken["ready-made"], taken["no inplace"]))
    return told


def _written(ratio: tuple[float, float, float] | None) -> str:
    """Write a ratio with its interval."""
    return "{:.3f} [{:.3f}, {:.3f}]".format(*ratio) if ratio else ""


def ratio_of(first: list[float], second: list[float]) -> tuple[float, float, float]:
    """Give the centre of first / second over turns and its interval."""
    from bakeoff.stats.intervals import fixed_interval

    interval = fixed_interval([math.log(a / b) for a, b in zip(first, second, strict=True)], 0.95)
    assert interval is not None
    return math.exp(interval.estimate), math.exp(interval.low), math.exp(interval.high)


def add_arguments(parser: argparse.ArgumentParser, workloads: Iterable[str], frameworks: Sequence[str]) -> None:
    """Add what a benchmark takes whose pairs are of a workload, a framework and a scenario."""
    parser.add_argument("--workloads", nargs="+", default=list(SIZES), choices=list(workloads))
    parser.add_argument("--frameworks", nargs="+", default=list(frameworks))
    parser.add_argument("--scenarios", nargs="+", default=["train", "infer"])
    parser.add_argument("--seconds", type=float, default=60.0, help="for each pair, after its warm-up")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--pair", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)


def main() -> None:
    """Measure every pair, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, [*SIZES, *SEQUENCES, *LANGUAGE, *LAYERS], ["torch", "tensorflow", "jax"])
    parser.add_argument("--depth", type=int, help="layers of BERT and GPT-2, in place of two")
    asked = parser.parse_args()
    if asked.pair:
        asked.into.write_text(json.dumps(times(*asked.pair, asked.seconds, asked.depth)))
        return
    from results import write

    rows = []
    for workload, framework, scenario in product(asked.workloads, asked.frameworks, asked.scenarios):
        pair = (framework.partition("@")[0], workload, scenario)
        depth = ["--depth", str(asked.depth)] if asked.depth else []
        taken = run_inside(framework, __file__, "--seconds", str(asked.seconds), *depth, "--pair", *pair)
        rows.append(told((workload, framework, scenario), taken, asked.depth))
        print(rows[-1], flush=True)
    write(rows, __doc__ or "", asked.output)


if __name__ == "__main__":
    sys.exit(main())
