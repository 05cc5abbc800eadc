"""Races of what other results leave out: Jittor, MLX, bfloat16, and two versions of one framework.

    python benchmarks/races.py [--only WORDS ...] [--rounds 7] [--budget 45] [--output benchmarks/results/races]

Each row is a whole comparison on synthetic data, on one thread each, with its certificates and without the timer's
self-test: the ratio is the step time of the first over that of the second; "step" and "first step" are those of the
first and of the second. "load" is the system's load average over a minute (getloadavg(3)) before and after: above the
number of cores, others waited for them. Blocks beside foreign load are counted; they are kept, as always. Two versions
of a framework want the environments that `bakeoff env create jax@0.9.2 jax@0.10.2` makes. Where there is no ratio, the
verdict says why.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results import write

from bakeoff.race.conductor import run
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

RACES = (
    ("mlp-mnist", "full", "jittor", "torch"),
    ("cnn-cifar10", "reduced", "jittor", "torch"),
    ("resnet50-cifar10", "reduced", "jittor", "jittor:batch_norm=own"),
    ("mlp-mnist", "full", "mlx", "torch"),
    ("mlp-mnist", "full", "mlx:mode=compiled", "mlx"),
    ("cnn-cifar10", "reduced", "mlx:mode=compiled", "mlx"),
    ("vit-b16", "reduced", "mlx:mode=compiled", "mlx"),
    ("cnn-cifar10", "reduced", "torch:precision=bfloat16", "torch"),
    ("cnn-cifar10", "reduced", "jax:precision=bfloat16", "jax"),
    ("cnn-cifar10", "reduced", "tensorflow:precision=bfloat16", "tensorflow"),
    ("resnet50-cifar10", "reduced", "torch:precision=bfloat16", "torch"),
    ("mlp-mnist", "full", "jax@0.9.2", "jax@0.10.2"),
)
"""Workload, size, first and second: small enough that each has its rounds in a minute on two cores."""


def load() -> str:
    """Return the system's load average over a minute."""
    return f"{os.getloadavg()[0]:.1f}"


def milliseconds(contender: ContenderOutcome, name: str) -> str:
    """Return one of a contender's times; empty where it was not measured."""
    seconds = getattr(contender, name)
    return "" if seconds is None else f"{seconds * 1000:.3g}"


def both(outcome: Outcome, name: str) -> str:
    """Return one time of both contenders."""
    return " and ".join(milliseconds(contender, name) or "none" for contender in outcome.contenders)


def versions(outcome: Outcome) -> str:
    """Return every version that a contender's framework has, each once."""
    names = dict.fromkeys(
        f"{name} {version}"
        for contender in outcome.contenders
        for name, version in contender.versions.items()
        if name not in ("numpy", "msgspec")
    )
    return ", ".join(names)


def found(outcome: Outcome) -> dict[str, Any]:
    """Return what a comparison amounts to; the reason where there is no pair."""
    why = "; ".join(one.reason for one in outcome.contenders if one.reason)
    told = {"step (ms)": both(outcome, "median_step_s"), "first step (ms)": both(outcome, "first_step_s")}
    if not outcome.verdicts or outcome.verdicts[0].ratio is None:
        return {"ratio": "", "verdict": why or outcome.ended, "rounds": outcome.rounds} | told
    (pair,) = outcome.verdicts
    ends = "" if pair.low is None else f" [{pair.low:.3f}, {pair.high:.3f}]"
    return {"ratio": f"{pair.ratio:.3f}{ends}", "verdict": pair.verdict, "rounds": pair.rounds} | told


def race(what: tuple[str, str, str, str], rounds: int, budget_s: float, results: str) -> dict[str, Any]:
    """Race a pair; return a row of the table."""
    workload, size, *contenders = what
    before = load()
    named = {"workload": workload, "size": size, "first": contenders[0], "second": contenders[1]}
    request = Request(
        workload=workload,
        contenders=tuple(contenders),
        size=size,
        data="synthetic",
        threads=1,
        max_rounds=rounds,
        budget_s=budget_s,
        self_test=False,
        results=results,
    )
    try:
        outcome = run(request)
    except BakeoffError as error:
        empty = {"rounds": 0, "step (ms)": "", "first step (ms)": "", "blocks beside load": "", "load": before}
        return named | {"ratio": "", "verdict": str(error)} | empty | {"versions": ""}
    flagged = sum(block.flagged for contender in outcome.contenders for block in contender.blocks)
    blocks = sum(len(contender.blocks) for contender in outcome.contenders)
    around = {"blocks beside load": f"{flagged} of {blocks}", "load": f"{before} to {load()}"}
    return named | found(outcome) | around | {"versions": versions(outcome)}


def main() -> None:
    """Race, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], help="races one of whose names holds one of these words")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--budget", type=float, default=45.0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    wanted = [what for what in RACES if any(word in " ".join(what) for word in options.only)]
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for what in wanted:
            rows.append(race(what, options.rounds, options.budget, folder))
            sys.stderr.write(f"{rows[-1]}\n")
    write(rows, __doc__ or "", options.output)


if __name__ == "__main__":
    main()
