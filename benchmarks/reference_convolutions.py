"""What convolutions cost in the certificate's float64: PyTorch's as the reference, JAX's as a program.

    python benchmarks/reference_convolutions.py [--works vgg16:infer:16:torch ...] [--rounds 3] [--output STEM]

Each row is a fresh process of the framework's interpreter, on one core, in float64, with the malloc that the reference
has: a workload at full size with so many samples, its outputs in evaluation ("infer"), or its gradients ("train"), once
as what is timed computes them ("plain") and once as the certificate does ("eased": frameworks/torch/parts.py, and
frameworks/jax/convolution.py), by turns; "first layers" are the two convolutions that VGG-16 begins with, and a
classifier of their means. `peak` is the most memory that the process held during the passes, with model and batch; the
time is the processor's, of the shortest of three passes, of which the first one compiles; both are medians over rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from inside import drawn, model_in, options_of, run_inside

FIRST = "first layers"
WORKS = (
    f"{FIRST}:infer:8:torch",
    f"{FIRST}:train:8:torch",
    "resnet50-cifar10:train:32:torch",
    "resnet50-cifar10:train:32:jax",
    "resnet50:train:2:torch",
    "resnet50:train:2:jax",
)
PASSES = 3

_FILE = '''"""The two convolutions that VGG-16 begins with, and a classifier of their means."""

from bakeoff.workloads.vgg16 import WORKLOAD


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv2d(3, 64, 3, padding=1), nn.Conv2d(64, 64, 3, padding=1)
            self.head = nn.Linear(64, size.classes)

        def forward(self, x):
            return self.head(nn.global_avg_pool2d(nn.relu(self.second(nn.relu(self.first(x))))))

    return Model()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
'''


def _path_of(workload: str) -> str:
    """Return a workload as it is found: by its name, or in the file that is written for it."""
    if workload != FIRST:
        return workload
    path = Path(tempfile.mkdtemp()) / "first_layers.py"
    path.write_text(_FILE)
    return str(path)


def inside(work: str, *, is_eased: bool) -> dict[str, Any]:
    """Compute the passes; return what they took."""
    import bakeoff.frameworks
    from bakeoff.measure.memory import ResidentPeak
    from bakeoff.trial.framework import import_engine

    workload, scenario, count, framework = work.split(":")
    engine = import_engine(Path(bakeoff.frameworks.__file__).parent / framework).Engine()
    options, model = options_of(framework) | {"precision": "float64"}, model_in(_path_of(workload))
    engine.configure(options)
    step = engine.build(model, scenario, options)
    batch = step.prepare(drawn(model, int(count)))
    peak, took = ResidentPeak(), []
    with engine.easing("reference") if is_eased else nullcontext():
        for _ in range(PASSES):
            began = time.process_time()
            step.outputs(batch) if scenario == "infer" else step.gradients(batch)
            took.append(time.process_time() - began)
    return {"peak_bytes": peak.read_bytes() or 0, "pass_s": min(took), "versions": engine.versions()}


def rows_of(work: str, rounds: int) -> list[dict[str, Any]]:
    """Return a row for each way."""
    from bakeoff.measure.memory import for_large_arrays

    workload, scenario, count, framework = work.split(":")
    found: dict[str, list[dict[str, Any]]] = {"plain": [], "eased": []}
    for _ in range(rounds):
        for way, mine in found.items():
            arguments = ("--inside", work, *(["--eased"] if way == "eased" else []))
            mine.append(run_inside(framework, __file__, *arguments, **for_large_arrays({})))
    rows = []
    for way, mine in found.items():
        rows.append(
            {
                "workload": workload,
                "scenario": scenario,
                "batch": count,
                "framework": framework,
                "convolutions": way,
                "peak (GB)": f"{statistics.median(one['peak_bytes'] for one in mine) / 1e9:.2f}",
                "a pass (s)": f"{statistics.median(one['pass_s'] for one in mine):.3g}",
                "versions": " ".join(f"{name} {version}" for name, version in mine[0]["versions"].items()),
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--works", nargs="+", default=list(WORKS), help="workload:scenario:batch:framework")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--eased", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        asked.into.write_text(json.dumps(inside(asked.inside, is_eased=asked.eased)))
        return
    from results import write

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    write([row for work in asked.works for row in rows_of(work, asked.rounds)], __doc__ or "", asked.output)


if __name__ == "__main__":
    main()
