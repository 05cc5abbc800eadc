"""PyTorch's operators in a step of ours and in one of torchvision's model: is it the same work, call by call?

    python benchmarks/zoo_operators.py [--workloads NAME ...] [--output STEM]

It runs itself with PyTorch's interpreter. Of each model's second step every operator that PyTorch dispatches is counted
with the shapes of its operands, forward, backward and optimiser. There is no clock in it: what it finds does not depend
on how busy the machine is. Views, which compute nothing, are left out. "only ours" and "only ready-made" are the
calls that the other one does not make.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from inside import batch_of, engine_of, model_of, options_of, ready_made_of, run_inside
from zoo_pairs import SIZES

Calls = Counter[tuple[str, str]]
"""How often each operator was called with operands of these shapes."""


def row(workload: str, scenario: str) -> dict[str, Any]:
    """Count the operators of both models."""
    side, count = SIZES[workload]
    engine, options, model = engine_of("torch"), options_of("torch"), model_of(workload, side)
    ours = _calls(engine.build(model, scenario, options), model, count)
    theirs = _calls(ready_made_of("torch").build(workload, model, scenario, options), model, count)
    return {
        "workload": workload,
        "scenario": scenario,
        "ours": ours.total(),
        "ready-made": theirs.total(),
        "only ours": _told(ours - theirs),
        "only ready-made": _told(theirs - ours),
    }


def _calls(step: Any, model: Any, count: int) -> Calls:
    """Count the operators of the second step, when the optimiser has its state."""
    from torch.utils._python_dispatch import TorchDispatchMode

    calls: Calls = Counter()

    class Counting(TorchDispatchMode):
        """Counts what passes, and passes it on."""

        def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not operator.is_view:
                calls[operator.overloadpacket.__name__, _shapes(args)] += 1
            return operator(*args, **(kwargs or {}))

    batch = batch_of(step, model, count)
    step.run(batch)
    with Counting():
        step.run(batch)
    return calls


def _shapes(args: Any) -> str:
    """Give the operands' shapes, those of a list as their number."""
    shapes = [str(tuple(one.shape)) for one in args if hasattr(one, "shape")]
    return ", ".join(shapes + [str(len(one)) for one in args if isinstance(one, list)])


def _told(calls: Calls) -> str:
    """Name operators with the number of their calls, the most frequent first."""
    names: Counter[str] = Counter()
    for (name, _), count in calls.items():
        names[name] += count
    return ", ".join(f"{count} {name}" for name, count in names.most_common()) or "none"


def main() -> None:
    """Count every pair, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--output", type=Path)
    parser.add_argument("--pair", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.pair:
        asked.into.write_text(json.dumps(row(*asked.pair)))
        return
    from results import write

    pairs = [(workload, scenario) for workload in asked.workloads for scenario in ("train", "infer")]
    write([run_inside("torch", __file__, "--pair", *pair) for pair in pairs], __doc__ or "", asked.output)


if __name__ == "__main__":
    sys.exit(main())
