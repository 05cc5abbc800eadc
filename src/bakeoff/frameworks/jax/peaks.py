"""Plain products of matrices and sums of arrays, for the machine's peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Product:
    """The product of two matrices, whose program is compiled in every mode: operands are arguments, no constants."""

    def __init__(self, left: jax.Array, right: jax.Array) -> None:
        """Take two arrays on the device."""
        self._left, self._right = left, right
        self._multiply = jax.jit(jnp.matmul)
        self._out: Any = None

    def run(self, batch: None) -> None:
        """Start the product."""
        del batch
        self._out = self._multiply(self._left, self._right)

    def wait(self) -> None:
        """Return when the last product is there: they are computed in order."""
        jax.block_until_ready(self._out)

    def read(self) -> NDArray[np.float64]:
        """Return the first row of the product."""
        return np.array(self._out[0], np.float64)


class Sums:
    """One array added onto another, whose memory the sum takes."""

    def __init__(self, count: int) -> None:
        """Make both arrays."""
        self._total, self._one = jnp.ones(count, np.float32), jnp.ones(count, np.float32)
        self._add = jax.jit(jnp.add, donate_argnums=0)

    def run(self, batch: None) -> None:
        """Start the sum."""
        del batch
        self._total = self._add(self._total, self._one)

    def wait(self) -> None:
        """Return when the sum is there."""
        jax.block_until_ready(self._total)

    def read(self) -> NDArray[np.float64]:
        """Return the first value of the sum."""
        return np.array(self._total[:1], np.float64)
