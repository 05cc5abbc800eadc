"""What it is worth to split the joined product of attention, which slices took apart before.

    python benchmarks/splitting.py [--workloads NAME ...] [--frameworks NAME ...] [--scenarios train infer]
                                   [--seconds 60] [--output STEM]

gpt2 (twelve layers of its full width, 2 x 128 tokens), vit-b16 (2 images) and text-transformer (32 texts, its own
batch) as they are shipped, with nn.split, and with three slices `mixed[:, :, 0]` in its place, whose gradients are
arrays of zeros around each, added up. Both live in one process, on one core, and take single steps by turns, in
mirrored order, each waited for; the ratio is slices / split, the 95 % interval of the centre of its logarithm over
turns (signed-rank).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

from inside import drawn, engine_of, model_in, options_of, run_inside
from zoo_steps import add_arguments, by_turns, call_of, ratio_of

WORKLOADS = {"gpt2": 2, "vit-b16": 2, "text-transformer": 32}
"""With their batch."""

_TOKENS = 128
"""Of gpt2's windows."""

_SPLIT = (
    (", (features, features, features), 2)", ", (batch, length, 3, heads, features // heads))"),
    ("mixed = nn.split(", "mixed = nn.reshape("),
    (
        "(nn.reshape(one, (batch, length, heads, features // heads)) for one in mixed)",
        "(mixed[:, :, at] for at in range(3))",
    ),
)
"""What is in a workload's file, and what was there before."""

_SHORTER = """
import msgspec

_CUT = {{"shape": ({tokens},)}}
_FULL = WORKLOAD.sizes["full"]
_FULL = msgspec.structs.replace(
    _FULL,
    inputs={{name: msgspec.structs.replace(one, **_CUT) for name, one in _FULL.inputs.items()}},
    targets={{name: msgspec.structs.replace(one, **_CUT) for name, one in _FULL.targets.items()}},
    macs=None,
)
WORKLOAD = msgspec.structs.replace(WORKLOAD, sizes={{"full": _FULL}})
"""


def files(workload: str, folder: Path) -> dict[str, Path]:
    """Write both forms of a workload; raise ValueError where its file has no longer what is exchanged here."""
    from bakeoff.workloads.load import load

    shipped = load(workload).path.read_text()
    before = shipped
    for now, then in _SPLIT:
        if now not in before:
            msg = f"{workload} has no {now!r}"
            raise ValueError(msg)
        before = before.replace(now, then)
    end = _SHORTER.format(tokens=_TOKENS) if workload == "gpt2" else ""
    found = {}
    for name, text in (("split", shipped), ("slices", before)):
        found[name] = folder / f"{name}.py"
        found[name].write_text(text + end)
    return found


def times(framework: str, workload: str, scenario: Any, seconds: float) -> dict[str, list[float]]:
    """Take steps of both by turns; give each one's seconds, turn by turn."""
    engine, options = engine_of(framework), options_of(framework)
    calls = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, path in files(workload, Path(folder)).items():
            model = model_in(str(path))
            step = engine.build(model, scenario, options)
            calls[name] = call_of(step, step.prepare(drawn(model, WORKLOADS[workload])))
    return by_turns(calls, seconds)


def main() -> None:
    """Measure every pair, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, WORKLOADS, ["torch", "tensorflow", "jax", "jittor", "mlx"])
    parser.set_defaults(workloads=list(WORKLOADS))
    asked = parser.parse_args()
    if asked.pair:
        asked.into.write_text(json.dumps(times(*asked.pair, asked.seconds)))
        return
    from results import write

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = []
    for workload, framework, scenario in product(asked.workloads, asked.frameworks, asked.scenarios):
        taken = run_inside(
            framework, __file__, "--seconds", str(asked.seconds), "--pair", framework, workload, scenario
        )
        ratio = ratio_of(taken["slices"], taken["split"])
        rows.append(
            {
                "workload": workload,
                "framework": framework,
                "scenario": scenario,
                "slices / split": "{:.3f} [{:.3f}, {:.3f}]".format(*ratio),
                "turns": len(taken["split"]),
            }
        )
        print(rows[-1], flush=True)
    write(rows, __doc__ or "", asked.output)


if __name__ == "__main__":
    sys.exit(main())
