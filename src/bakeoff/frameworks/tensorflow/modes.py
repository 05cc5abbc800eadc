"""How long TensorFlow has traced functions, and the forms in which the option `mode` executes them."""

from __future__ import annotations

import time
from functools import wraps
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable


class Tracing:
    """How long functions were traced: Python runs them then and never again."""

    total_ns = 0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a clock around it; its signature stays, which tf.function calls it by."""

        @wraps(function)
        def trace(*args: Any) -> Any:
            began = time.perf_counter_ns()
            try:
                return function(*args)
            finally:
                self.total_ns += time.perf_counter_ns() - began

        return trace


tracing = Tracing()
"""Of this process."""


def in_mode(function: Callable[..., Any], mode: str) -> Any:
    """Return the function as the mode executes it; without autograph, as Keras' own trainer traces its steps."""
    if mode == "eager":
        return function
    return tf.function(tracing.timed(function), autograph=False, jit_compile=mode == "compiled")
