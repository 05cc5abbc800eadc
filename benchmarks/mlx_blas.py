"""What the BLAS that MLX's package for Linux brings costs it: the same steps with another BLAS loaded in its place.

    python benchmarks/mlx_blas.py LIBRARY [--works mlp-1024:infer:32 ...] [--processes 3] [--output STEM]

LIBRARY is a shared library with cblas_sgemm, such as OpenBLAS's libopenblas.so.0, which LD_PRELOAD has the loader take
first. At full size with the batch that is named, on one core; fresh processes of MLX with its package's BLAS and with
the other one, by turns. A step is the processor's time, which other processes hardly change: in each process the median
of those that fill 2 seconds, at least 2, after one that is left out. "products from" is what bakeoff reads back as
`blas`; ratios are of neighbouring processes, with the range.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

from inside import drawn, engine_of, model_in, options_of, run_inside

PRELOAD = "LD_PRELOAD"
WORKS = ("mlp-mnist:train:32", "mlp-1024:infer:32", "mnist-cnn:train:32", "resnet50-cifar10:train:4", "vit-b16:infer:1")
LEAD_STEPS, FEWEST_STEPS, SPAN_S = 1, 2, 2.0


def inside(workload: str, scenario: str, count: int) -> dict[str, Any]:
    """Run the steps of a process; return the median and where products come from."""
    engine, model = engine_of("mlx"), model_in(workload)
    step = engine.build(model, scenario, options_of("mlx"))
    batch = step.prepare(drawn(model, count))
    took: list[float] = []
    while len(took) < LEAD_STEPS + FEWEST_STEPS or sum(took[LEAD_STEPS:]) < SPAN_S:
        began = time.process_time()
        step.run(batch)
        step.wait()
        took.append(time.process_time() - began)
    return {
        "step_s": statistics.median(took[LEAD_STEPS:]),
        "library": step.settings()["blas"],
        "versions": engine.versions(),
    }


def rows_of(work: str, library: str, processes: int) -> list[dict[str, Any]]:
    """Return a row for each BLAS."""
    found: dict[str, list[dict[str, Any]]] = {"": [], library: []}
    for _ in range(processes):
        for preloaded, mine in found.items():
            variables = {PRELOAD: preloaded} if preloaded else {}
            mine.append(run_inside("mlx", __file__, "--inside", work, **variables))
    first = [one["step_s"] for one in found[""]]
    rows = []
    for mine in found.values():
        steps = [one["step_s"] for one in mine]
        ratios = [one / other for one, other in zip(first, steps, strict=True)]
        rows.append(
            {
                "work": work,
                "versions": " ".join(f"{name} {version}" for name, version in mine[0]["versions"].items()),
                "products from": mine[0]["library"],
                "step (ms)": f"{statistics.median(steps) * 1e3:.3g}",
                "times as fast": f"{statistics.median(ratios):.3g} ({min(ratios):.3g} to {max(ratios):.3g})",
                "processes": processes,
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?", default="libopenblas.so.0")
    parser.add_argument("--works", nargs="+", default=list(WORKS), help="workload:scenario:batch")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        workload, scenario, count = asked.inside.split(":")
        asked.into.write_text(json.dumps(inside(workload, scenario, int(count))))
        return
    from results import write

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = [row for work in asked.works for row in rows_of(work, asked.library, asked.processes)]
    write(rows, __doc__ or "", asked.output)


if __name__ == "__main__":
    main()
