"""Plain products of matrices and sums of arrays, for the machine's peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from bakeoff.frameworks.tensorflow import devices

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class _Probe:
    """What is waited for: a GPU works on after the call, and on a processor a call returns when its result exists."""

    def wait(self) -> None:
        """Return when all that was started is done."""
        if devices.has_gpu():
            tf.test.experimental.sync_devices()


class Product(_Probe):
    """The product of two matrices, as an operation by itself in every mode."""

    def __init__(self, left: Any, right: Any) -> None:
        """Take two tensors on the device."""
        self._left, self._right = left, right
        self._out: Any = None

    def run(self, batch: None) -> None:
        """Start the product."""
        del batch
        self._out = tf.linalg.matmul(self._left, self._right)

    def read(self) -> NDArray[np.float64]:
        """Return the first row of the product."""
        return tf.cast(self._out[0], tf.float64).numpy()


class Sums(_Probe):
    """One array added onto a variable, in its place."""

    def __init__(self, count: int) -> None:
        """Make both arrays."""
        self._one = tf.ones(count, tf.float32)
        self._total = tf.Variable(self._one)

    def run(self, batch: None) -> None:
        """Start the sum."""
        del batch
        self._total.assign_add(self._one, read_value=False)

    def read(self) -> NDArray[np.float64]:
        """Return the first value of the sum."""
        return tf.cast(self._total[:1], tf.float64).numpy()
