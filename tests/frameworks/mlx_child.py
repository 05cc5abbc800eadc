"""Run in MLX's interpreter: what its folder says where this machine differs from Apple's, and what a step leaves."""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import TYPE_CHECKING, Any
from unittest import mock

import mlx.core as mx
import msgspec
import numpy as np

from bakeoff.frameworks.engine import Model
from bakeoff.frameworks.mlx import blas, compilation, engine, memory
from bakeoff.spec.batch import labelled
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = Size(batch_size=4, input_shape=(6, 6, 2), classes=3)
OPTIONS = {"mode": "eager", "precision": "float32", "device": "cpu", "threads": "1"}
MANY_STEPS = 400
FEW_KIB = 8 << 10
"""More than Python's own lists take, less than one step's graph that is kept at every step."""


def build(nn: Any, size: Size) -> Any:
    """Make a model with a running statistic."""

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(2, 8, 3, padding=1)
            self.norm = nn.BatchNorm(8)
            self.head = nn.Linear(8, size.classes)

        def forward(self, x: Any) -> Any:
            return self.head(nn.global_avg_pool2d(nn.relu(self.norm(self.conv(x)))))

    return Network()


def made(mode: str) -> tuple[Any, Any]:
    """Make a training step and a batch."""
    model = Model(
        build=build,
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs, targets),
        size=SIZE,
        optimizer=Adam(learning_rate=1e-3),
        weights=plan.weights(build, SIZE, 0),
        state=plan.state_values(build, SIZE, 0),
    )
    asked = OPTIONS | {"mode": mode}
    made = engine.Engine()
    made.configure(asked)
    step = made.build(model, "train", asked)
    x = np.random.default_rng(0).normal(size=(4, 6, 6, 2)).astype(np.float32)
    return step, step.prepare(labelled(x, np.arange(4, dtype=np.int32) % 3))


def refusal(**options: str) -> str:
    """Return the reason for which an engine refuses options; empty where it takes them."""
    try:
        engine.Engine().configure(OPTIONS | options)
    except UnsupportedError as error:
        return str(error)
    return ""


def with_metal() -> dict[str, Any]:
    """Return what is reported of a GPU, by stand-ins for one."""
    chosen: list[Any] = []
    with (
        mock.patch.object(mx.metal, "is_available", return_value=True),
        mock.patch.object(mx, "set_default_device", chosen.append),
        mock.patch.object(mx, "get_peak_memory", return_value=5),
    ):
        refused = refusal(device="mps")
        devices = engine.Engine().devices()
        told = memory.reading("mps")
    return {
        "refused": refused,
        "chosen": [one == mx.gpu for one in chosen],
        "devices": devices,
        "memory": msgspec.to_builtins(told),
    }


def unchanged(mode: str) -> dict[str, bool]:
    """Return whether gradients and outputs leave everything as it was, and whether a step does not."""
    step, batch = made(mode)
    before = everything(step)
    first, second = step.gradients(batch), step.gradients(batch)
    step.outputs(batch)
    asked = everything(step)
    step.run(batch)
    step.wait()
    return {
        "gradients repeat": same(first, second),
        "asking changes nothing": same(before, asked),
        "a step changes all": all(not np.array_equal(asked[name], value) for name, value in everything(step).items()),
    }


def everything(step: Any) -> dict[str, Any]:
    """Return parameters and state."""
    return step.parameters() | step.state()


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether arrays are equal bit by bit."""
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def streamed(mode: str) -> dict[str, Any]:
    """Run many steps without waiting between them: each is computed, and none is kept."""
    (step, batch), (fenced, _) = made(mode), made(mode)
    grown = []
    for _ in range(2):
        begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(MANY_STEPS):
            step.run(batch)
        step.wait()
        grown.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begin)
    for _ in range(2 * MANY_STEPS):
        fenced.run(batch)
        fenced.wait()
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10  # macOS counts bytes
    return {
        "same": same(everything(step), everything(fenced)),
        "grows": grown[1] * (1 << 10) // scale > FEW_KIB,
        "step": int(step._optimizer.state["step"].item()),
    }


def without_compiler() -> dict[str, Any]:
    """Ask for mode compiled where MLX's own switch has taken mx.compile out of force."""
    mx.disable_compile()
    try:
        return {"in force": compilation.is_in_force(), "refused": refusal(mode="compiled"), "eager": refusal()}
    finally:
        mx.enable_compile()


def in_float64() -> float:
    """Return the largest relative error of a convolution that MLX was asked for in float64."""
    random = np.random.default_rng(0)
    x, kernel = random.normal(size=(2, 8, 8, 3)), random.normal(size=(4, 3, 3, 3))
    found = np.array(mx.conv2d(mx.array(x, dtype=mx.float64), mx.array(kernel, dtype=mx.float64)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    expected = np.einsum("bhwcij,oijc->bhwo", windows, kernel)
    return float(np.abs(found - expected).max() / np.abs(expected).max())


WORK: dict[str, Callable[[], Any]] = {
    "mps": lambda: refusal(device="mps"),
    "metal": with_metal,
    "eager": lambda: unchanged("eager"),
    "compiled": lambda: unchanged("compiled"),
    "streamed": lambda: streamed("eager"),
    "streamed compiled": lambda: streamed("compiled"),
    "without": without_compiler,
    "float64": in_float64,
    "threads": blas.threads,
    "blas": blas.library,
    "cpu": lambda: msgspec.to_builtins(memory.reading("cpu")),
    "exhausted": lambda: [
        memory.is_exhausted(error)
        for error in (
            RuntimeError("[metal::malloc] Attempting to allocate 1 bytes which is greater than the maximum"),
            RuntimeError("[malloc] Unable to allocate 1 bytes."),
            ValueError("[matmul] shapes"),
        )
    ],
}

if __name__ == "__main__":
    os.environ["TMPDIR"] = sys.argv[1]
    engine.Engine().configure(OPTIONS)
    sys.stdout.write(json.dumps({name: WORK[name]() for name in sys.argv[2:]}) + "\n")
