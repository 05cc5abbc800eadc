"""JAX's convolutions on a processor: which way is fast? XLA's own, other layouts, products of matrices, XLA's flags.

    python benchmarks/jax_cpu.py [--repeats 7] [--sides 64 128 224] [--processes 2] [--output STEM]

It runs itself with JAX's interpreter. Three parts, all of ratios: XLA's own way (NHWC, HWIO) over another, so that
above 1 the other is faster.

1. Convolutions of ResNet-50, batch 8, forward, by input and by weight: all ways in one process, by turns, in mirrored
   order; the median of the ratios. "products" is the option convolution=products of bakeoff's jax.
2. The same with XLA's flags: fresh processes, one for each set of flags and one for none, by turns.
3. ResNet-50 itself, batch 8, training and inference, for each side of the images: the model of bakeoff's workload with
   convolution=xla and convolution=products in one process, by turns.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inside import batch_of, model_of, run_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BATCH = 8
CONVOLUTIONS = (
    # side of the map, channels in, channels out, kernel, stride
    (56, 64, 64, 1, 1),
    (56, 64, 64, 3, 1),
    (28, 128, 128, 3, 1),
    (14, 256, 1024, 1, 1),
    (14, 256, 256, 3, 1),
    (7, 512, 512, 3, 1),
    (16, 64, 64, 3, 1),
    (8, 128, 128, 3, 1),
    (4, 256, 256, 3, 1),
    (4, 512, 512, 3, 2),
    (2, 512, 512, 3, 1),
    (2, 2048, 512, 1, 1),
)
"""Of ResNet-50: the first six on images of 224 x 224, the others on 64 x 64."""

FLAGS = (
    "--xla_disable_hlo_passes=algsimp",
    "--xla_cpu_use_onednn=true",
    "--xla_cpu_use_onednn=true --xla_cpu_experimental_onednn_custom_call=true",
    "--xla_cpu_use_xnnpack=false",
    "--xla_cpu_prefer_vector_width=512",
    "--xla_cpu_opt_preset=CPU_OPT_PRESET_FAST_RUNTIME",
    "--xla_cpu_multi_thread_eigen=false",
)
"""None of them changes the arithmetic; xla_cpu_enable_fast_math does, and is left out."""

SHORT_S = 0.02
"""Calls last at least this long together between two readings of the clock."""

DIRECTIONS = ("forward", "by input", "by weight")


LAYOUTS = {
    "xla": ("NHWC", "HWIO", "NHWC"),
    "NCHW": ("NCHW", "OIHW", "NCHW"),
    "OIHW": ("NHWC", "OIHW", "NHWC"),
    "always products": ("NHWC", "HWIO", "NHWC"),
    "products": ("NHWC", "HWIO", "NHWC"),
}
"""The ways, each with the layouts in which it has its input, kernel and output; nothing is transposed in a call."""


def convolved(way: str, x: Any, w: Any, stride: int, padding: int) -> Any:
    """Convolve in one of the ways."""
    from jax import lax

    from bakeoff.frameworks.jax.convolution import patches, products

    sides = [(padding, padding)] * 2
    if way == "always products":
        return patches(x, w.shape[:2], (stride, stride), sides) @ w.reshape(-1, w.shape[-1])
    convolve = products if way == "products" else lax.conv_general_dilated
    return convolve(x, w, (stride, stride), sides, dimension_numbers=LAYOUTS[way])


def calls(way: str, shape: tuple[int, ...]) -> list[Callable[[], Any]]:
    """Give the three directions of one convolution, compiled and run once."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    side, inputs, outputs, kernel, stride = shape
    random = np.random.default_rng(0)
    x_axes, w_axes = (
        [plain.index(axis) for axis in have] for plain, have in zip(LAYOUTS["xla"][:2], LAYOUTS[way][:2], strict=True)
    )
    x = jnp.array(random.normal(size=(BATCH, side, side, inputs)).transpose(x_axes), jnp.float32)
    w = jnp.array(random.normal(size=(kernel, kernel, inputs, outputs)).transpose(w_axes), jnp.float32)

    def forward(x: Any, w: Any) -> Any:
        return convolved(way, x, w, stride, kernel // 2)

    ones = jnp.ones_like(jax.jit(forward)(x, w))
    functions = (
        jax.jit(forward),
        jax.jit(lambda x, w: jax.vjp(lambda x: forward(x, w), x)[1](ones)),
        jax.jit(lambda x, w: jax.vjp(lambda w: forward(x, w), w)[1](ones)),
    )
    made = [lambda function=function: jax.block_until_ready(function(x, w)) for function in functions]
    for call in made:
        call()
    return made


def seconds(call: Callable[[], Any], count: int) -> float:
    """Give the time of one call out of several."""
    began = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - began) / count


def compared(calls_of: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Give, for each but the first, the median of first / other; all by turns, in mirrored order."""
    names = list(calls_of)
    counts = {name: max(1, round(SHORT_S / max(seconds(call, 1), 1e-6))) for name, call in calls_of.items()}
    taken: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeats):
        for name in names if turn % 2 == 0 else names[::-1]:
            taken[name].append(seconds(calls_of[name], counts[name]))
    first = taken[names[0]]
    return {name: statistics.median(a / b for a, b in zip(first, taken[name], strict=True)) for name in names[1:]} | {
        names[0]: statistics.median(first)
    }


def convolutions(repeats: int) -> list[dict[str, Any]]:
    """Measure part 1: one row for each convolution and direction."""
    rows = []
    for shape in CONVOLUTIONS:
        side, inputs, outputs, kernel, stride = shape
        made = {way: calls(way, shape) for way in LAYOUTS}
        for index, direction in enumerate(DIRECTIONS):
            ratios = compared({name: found[index] for name, found in made.items()}, repeats)
            xla_s = ratios.pop("xla")
            gflops = 2 * BATCH * (side // stride) ** 2 * inputs * outputs * kernel**2 / xla_s / 1e9
            name = f"{kernel}x{kernel}, {inputs} to {outputs}, stride {stride}, map {side}x{side}"
            told = {key: f"{ratio:.2f}" for key, ratio in ratios.items()}
            rows.append({"convolution": name, "direction": direction, **told, "xla Gflop/s": f"{gflops:.0f}"})
    return rows


def flagged() -> list[float]:
    """Measure part 2 in this process: the time of each direction of each convolution, as XLA has it."""
    times = []
    for shape in CONVOLUTIONS:
        for call in calls("xla", shape):
            count = max(1, round(SHORT_S / max(seconds(call, 1), 1e-6)))
            times.append(min(seconds(call, count) for _ in range(3)))
    return times


def model(sides: Sequence[int], repeats: int) -> list[dict[str, Any]]:
    """Measure part 3: one row for each side and scenario."""
    from bakeoff.environments.declared import frameworks
    from bakeoff.environments.options import resolve_options
    from bakeoff.frameworks.jax import convolution
    from bakeoff.frameworks.jax.engine import Engine
    from bakeoff.spec.contender import Contender

    engine = Engine()
    info, cores = frameworks()["jax"].info, len(os.sched_getaffinity(0))
    rows = []
    for side in sides:
        built = model_of("resnet50", side)
        for scenario in ("train", "infer"):
            steps = {}
            for way in convolution.WAYS:
                contender = Contender(framework="jax", label="jax", options={"convolution": way})
                options = resolve_options(info, contender, {}, cores)
                engine.configure(options)
                steps[way] = _step(engine.build(built, scenario, options), built)
            ratios = compared(steps, repeats)
            xla_s = ratios.pop("xla")
            told = {way: f"{ratio:.2f}" for way, ratio in ratios.items()}
            rows.append(
                {"images": f"{BATCH} x {side} x {side}", "scenario": scenario, **told, "xla (s)": f"{xla_s:.3f}"}
            )
    return rows


def _step(step: Any, built: Any) -> Callable[[], Any]:
    """Give one step on a batch, compiled in the way that is in force now."""
    batch = batch_of(step, built, BATCH)

    def call() -> None:
        step.run(batch)
        step.wait()

    call()
    return call


def in_jax(part: str, *arguments: str, flags: str = "") -> Any:
    """Run one part of this file in JAX's interpreter."""
    return run_inside("jax", __file__, "--part", part, *arguments, XLA_FLAGS=flags)


def flag_rows(processes: int) -> list[dict[str, Any]]:
    """Measure part 2: one row for each set of flags; in every turn a fresh process for each, and one for none."""
    ratios: dict[str, list[list[float]]] = {flags: [] for flags in FLAGS}
    sets = ("", *FLAGS)
    for turn in range(processes):
        found = {flags: in_jax("flagged", flags=flags) for flags in (sets if turn % 2 == 0 else sets[::-1])}
        for flags in FLAGS:
            ratios[flags].append([a / b for a, b in zip(found[""], found[flags], strict=True)])
    rows = []
    for flags, turns in ratios.items():
        middle = [statistics.median(column) for column in zip(*turns, strict=True)]
        told = {
            direction: f"{statistics.geometric_mean(middle[index :: len(DIRECTIONS)]):.2f}"
            for index, direction in enumerate(DIRECTIONS)
        }
        rows.append({"flags": flags, **told, "least": f"{min(middle):.2f}", "most": f"{max(middle):.2f}"})
    return rows


def main() -> None:
    """Measure, print the tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--sides", type=int, nargs="+", default=[64, 128, 224])
    parser.add_argument("--processes", type=int, default=2, help="for each set of flags; 0 leaves part 2 out")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.part:
        parts: dict[str, Callable[[], Any]] = {
            "convolutions": lambda: convolutions(asked.repeats),
            "flagged": flagged,
            "model": lambda: model(asked.sides, asked.repeats),
        }
        asked.into.write_text(json.dumps(parts[asked.part]()))
        return
    from results import write

    repeats = ("--repeats", str(asked.repeats))
    tables = {
        "model": in_jax("model", *repeats, "--sides", *map(str, asked.sides)),
        "convolutions": in_jax("convolutions", *repeats),
        "flags": flag_rows(asked.processes) if asked.processes else [],
    }
    for name, rows in tables.items():
        if rows:
            stem = asked.output and asked.output.with_name(f"{asked.output.name}-{name}")
            write(rows, f"{__doc__}\nPart: {name}.", stem)


if __name__ == "__main__":
    sys.exit(main())
