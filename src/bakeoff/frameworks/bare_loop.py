"""Runs a framework's bare loop, a loop as a user writes it: `python bare_loop.py FOLDER WORKLOAD BATCH DEVICE`.

Nothing of bakeoff is imported or set here. The one thing a bare loop has in common with a bakeoff worker is the state
of malloc: both have freed one large block, as any program that has loaded a data set did (docs/timing.md).

FOLDER/bare.py holds `make(workload, batches, device)`: it returns the step, its batches, and what waits for a result.
It computes in float32 proper, as bakeoff's contenders do by default, and on a GPU leaves room for others.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

SHAPES = {"mlp-mnist": ((784,), 10), "mlp-1024": ((1024,), 2), "cnn-cifar10": ((32, 32, 3), 10)}
SETTLING_BYTES = 31 << 20
COUNT = 16

NAME = "bare.py"
"""Of the file in a framework's folder."""


def batches_of(workload: str, batch_size: int) -> list[tuple[Any, Any]]:
    """Return the batches, drawn at random."""
    shape, classes = SHAPES[workload]
    random = np.random.RandomState(0)
    return [
        (
            random.standard_normal((batch_size, *shape)).astype(np.float32),
            random.randint(0, classes, batch_size).astype(np.int32),
        )
        for _ in range(COUNT)
    ]


def serve(step: Callable[..., Any], data: list[Any], wait: Callable[[Any], object], clock: Callable[[], int]) -> None:
    """For each line with a number of steps, run them, wait once, and print the nanoseconds that they took."""
    stream = cycle(data)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        steps = int(line)
        start = clock()
        for _ in range(steps):
            result = step(*next(stream))
        wait(result)
        sys.stdout.write(f"{clock() - start}\n")
        sys.stdout.flush()


def main() -> None:
    """Settle malloc, make the loop and serve it."""
    folder, workload, batch_size, device = sys.argv[1:]
    # What lies beside this file has names that packages may have, too.
    sys.path = [path for path in sys.path if Path(path) != Path(__file__).parent]
    block = np.empty(SETTLING_BYTES, np.uint8)
    block[::4096] = 1
    del block
    spec = importlib.util.spec_from_file_location("bare", Path(folder) / NAME)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    step, data, wait = module.make(workload, batches_of(workload, int(batch_size)), device)
    # A script has a time of its own.
    serve(step, data, wait, getattr(module, "clock", time.perf_counter_ns))


if __name__ == "__main__":
    main()
