"""Memory that training through a loop of many time steps takes: Tacotron 2's decoder, in every framework.

    python benchmarks/long_loops.py [--frames 50 100 200] [--frameworks ...] [--widths 1000] [--output STEM]

tacotron2 at full width with one sample of so many frames, in a fresh process for each row, on one core: two training
steps, waited for. `peak` is the most memory that the process held, less what it held before the first step; `a frame`
is what each frame adds to the shortest loop's; `second step` is a single reading and tells orders only. Each of
--widths is MLX once more with MLX_BFS_MAX_WIDTH set to it: how many arrays wide MLX walks through what is to be
computed before it goes deep, which decides whether gradients of one weight are added up as they come or all kept first.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from inside import drawn, engine_of, model_in, options_of, run_inside

FRAMEWORKS = ("torch", "jax", "tensorflow", "jittor", "mlx")
WIDTH = "MLX_BFS_MAX_WIDTH"

_FILE = '''"""tacotron2 as it is shipped, with {frames} frames."""

import msgspec

from bakeoff.workloads.tacotron2 import WORKLOAD as SHIPPED
from bakeoff.workloads.tacotron2 import build, loss

FULL = SHIPPED.sizes["full"]
CHARACTERS, FRAMES = FULL.inputs["characters"].shape[0], FULL.inputs["mels_in"].shape[0]


def cut(arrays):
    """Return arrays whose sequences of frames are shorter, and all of one length."""
    return {{name: _cut(name, spec) for name, spec in arrays.items()}}


def _cut(name, spec):
    if spec.shape[:1] == (FRAMES,):
        return msgspec.structs.replace(spec, shape=({frames}, *spec.shape[1:]))
    length = {{"mels_length": {frames}, "characters_length": CHARACTERS}}.get(name)
    return msgspec.structs.replace(spec, low=length, high=length + 1, law=None) if length else spec


SIZE = msgspec.structs.replace(FULL, inputs=cut(FULL.inputs), targets=cut(FULL.targets), batch_size=1, macs=None)
WORKLOAD = msgspec.structs.replace(SHIPPED, sizes={{"full": SIZE}})
'''


def held_mb() -> float:
    """Return the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def inside(framework: str, path: str) -> dict[str, Any]:
    """Train two steps; return the memory that they took, and the time of the second."""
    engine, model = engine_of(framework), model_in(path)
    step = engine.build(model, "train", options_of(framework))
    batch = step.prepare(drawn(model, 1))
    step.wait()
    before = held_mb()
    for _ in range(2):
        began = time.perf_counter()
        step.run(batch)
        step.wait()
        took = time.perf_counter() - began
    return {"peak_mb": held_mb() - before, "step_s": took, "versions": engine.versions()}


def rows_of(framework: str, frames: list[int], folder: Path, **variables: str) -> list[dict[str, Any]]:
    """Return a framework's rows, one for each number of frames."""
    rows: list[dict[str, Any]] = []
    first = 0.0
    for count in frames:
        path = folder / f"tacotron2_{count}.py"
        path.write_text(_FILE.format(frames=count))
        found = run_inside(framework, __file__, "--inside", framework, "--model", str(path), **variables)
        first = first or found["peak_mb"]
        more = (found["peak_mb"] - first) / (count - frames[0]) if rows else None
        said = ", ".join(f"{name}={value}" for name, value in variables.items())
        rows.append(
            {
                "framework": " ".join(
                    [*(f"{name} {version}" for name, version in found["versions"].items()), said]
                ).strip(),
                "frames": count,
                "peak (MB)": f"{found['peak_mb']:.0f}",
                "a frame (MB)": "" if more is None else f"{more:.2g}",
                "second step (s)": f"{found['step_s']:.2g}",
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure every framework, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", nargs="+", type=int, default=[50, 100, 200])
    parser.add_argument("--frameworks", nargs="+", default=list(FRAMEWORKS))
    parser.add_argument("--widths", nargs="*", default=["1000"])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        asked.into.write_text(json.dumps(inside(asked.inside, asked.model)))
        return
    from results import write

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for framework in asked.frameworks:
            rows += rows_of(framework, asked.frames, Path(folder))
            if framework == "mlx":
                for width in asked.widths:
                    rows += rows_of(framework, asked.frames, Path(folder), **{WIDTH: width})
    write(rows, __doc__ or "", asked.output)


if __name__ == "__main__":
    sys.exit(main())
