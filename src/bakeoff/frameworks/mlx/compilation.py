"""mx.compile around whole functions, and what is seen of it: how often and how long MLX has traced them.

On a processor MLX fuses runs of elementwise operations, writes each as C++ and has g++ compile it at the first
evaluation; a program is found again by its name, in MLX's folder of the system's one for temporary files. How long g++
takes MLX does not tell.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mlx.core as mx

from bakeoff.spec.record import Compilation

if TYPE_CHECKING:
    from collections.abc import Callable


class _Tracing:
    """How often and how long functions were traced: Python runs them then and never again."""

    count = 0
    total_ns = 0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a clock around it."""

        def trace(*args: Any) -> Any:
            began = time.perf_counter_ns()
            try:
                return function(*args)
            finally:
                self.count += 1
                self.total_ns += time.perf_counter_ns() - began

        return trace


_tracing = _Tracing()


def executed(function: Callable[..., Any], mode: str, *, reads: Any, writes: Any = None) -> Callable[..., Any]:
    """Return the function as the mode executes it; it takes the arrays of the tree `reads`, and replaces `writes`."""
    if mode == "eager":
        return function
    return mx.compile(_tracing.timed(function), inputs=reads, outputs=writes)


def keep_programs() -> None:
    """Make the folder for temporary files where it is not there: MLX makes its own in it, and fails without."""
    if folder := os.environ.get("TMPDIR"):
        Path(folder).mkdir(parents=True, exist_ok=True)


def is_in_force() -> bool:
    """Return whether mx.compile compiles here: without a compiler it silently returns the function as it is."""
    calls = []

    def probe(x: mx.array) -> mx.array:
        calls.append(x.shape)
        return x + 1

    compiled = mx.compile(probe)
    for _ in range(2):
        compiled(mx.zeros(1))
    return len(calls) == 1


def reading(mode: str) -> Compilation:
    """Return what was traced in this process so far."""
    if mode == "eager":
        # Activations of mlx.nn are compiled functions of their own in evaluation, and MLX reports nothing of them.
        return Compilation(trace_ns=0, count=0)
    return Compilation(trace_ns=_tracing.total_ns, count=_tracing.count)
