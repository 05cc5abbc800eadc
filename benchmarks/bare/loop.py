"""What the bare loops share: arguments, batches, and running as many steps as the other side of a pipe says.

Nothing of bakeoff is imported or set here. The one thing a bare loop has in common with a bakeoff worker is the state
of malloc: both have freed one large block, as any program that has loaded a data set did (docs/method.md).

On a GPU each loop is to be the work that bakeoff's float32 is: TF32 off, labels where the loss takes them. Not run on a
GPU by us.
"""

import argparse
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


def asked() -> tuple[str, int, str]:
    """Read workload, batch size and device from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=SHAPES)
    parser.add_argument("batch_size", type=int)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments = parser.parse_args()
    return arguments.workload, arguments.batch_size, arguments.device


def missing(device: str, why: str) -> None:
    """End because the device is not there."""
    sys.exit(f"{sys.argv[0]}: no device {device} here: {why}")


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
