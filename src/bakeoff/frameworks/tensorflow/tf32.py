"""Whether TensorFlow's products of float32 are computed in TF32, as measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from bakeoff.frameworks import tf32

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def measured(executed: Callable[[Callable[..., Any]], Any]) -> dict[str, bool]:
    """Multiply and convolve by functions that are `executed` as a step's are: operands are arguments, no constants."""

    def convolve(image: Any, kernel: Any) -> Any:
        return tf.nn.conv2d(image, kernel, strides=1, padding="SAME")

    def called(function: Callable[..., Any]) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]:
        made = executed(function)
        return lambda left, right: made(tf.constant(left), tf.constant(right)).numpy()

    return tf32.measured(called(tf.linalg.matmul), called(convolve))
