"""What the bare loops share: their batches, and running as many steps as the other side of a pipe says.

Nothing of bakeoff is imported or set here. The one thing a bare loop has in common with a bakeoff worker is the state
of malloc: both have freed one large block, as any program that has loaded a data set did (docs/method.md).
"""

import sys
import time
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np

SHAPES = {"mlp-mnist": ((784,), 10), "mlp-1024": ((1024,), 2), "cnn-cifar10": ((32, 32, 3), 10)}
SETTLING_BYTES = 31 << 20
COUNT = 16

block = np.empty(SETTLING_BYTES, np.uint8)
block[::4096] = 1
del block


def batches(workload: str, batch_size: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Draw the batches."""
    shape, classes = SHAPES[workload]
    random = np.random.RandomState(0)
    return [
        (
            random.standard_normal((batch_size, *shape)).astype(np.float32),
            random.randint(0, classes, batch_size).astype(np.int32),
        )
        for _ in range(COUNT)
    ]


def serve(step: Callable[..., Any], data: list[Any], wait: Callable[[Any], object]) -> None:
    """For each line with a number of steps, run them, wait once, and print the nanoseconds that they took."""
    stream = cycle(data)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        steps = int(line)
        start = time.perf_counter_ns()
        for _ in range(steps):
            result = step(*next(stream))
        wait(result)
        sys.stdout.write(f"{time.perf_counter_ns() - start}\n")
        sys.stdout.flush()
