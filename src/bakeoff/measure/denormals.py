"""How many elements of arrays are denormal: so near to zero that their type has no leading bit left for them.

Many processors compute with such numbers far more slowly, and a process may have them treated as zero. Such a process
also compares them equal to zero: they are counted by their bits, as integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_FRACTION_BITS = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
"""By NumPy's name of a type (IEEE 754; bfloat16 is the upper half of a float32)."""


def count(array: NDArray[Any]) -> int:
    """Return how many elements of an array are denormal in its own type; raise TypeError for integers."""
    if array.dtype.name not in _FRACTION_BITS:
        msg = f"{array.dtype.name} has no denormal numbers that are known here; known are {', '.join(_FRACTION_BITS)}"
        raise TypeError(msg)
    integer = np.dtype(f"u{array.dtype.itemsize}").type
    without_sign = integer((1 << (8 * array.dtype.itemsize - 1)) - 1)
    magnitude = np.ascontiguousarray(array).view(integer) & without_sign
    smallest_normal = integer(1 << _FRACTION_BITS[array.dtype.name])
    return int(np.count_nonzero((magnitude != 0) & (magnitude < smallest_normal)))


def counted(arrays: Iterable[tuple[str, NDArray[Any]]]) -> dict[str, tuple[int, int]]:
    """Return for each group of arrays how many elements are denormal, and how many there are.

    A group is the part of the names before the first slash, as in `first moment/hidden.weight`.
    """
    found: dict[str, tuple[int, int]] = {}
    for name, array in arrays:
        group = name.partition("/")[0]
        denormal, elements = found.get(group, (0, 0))
        found[group] = denormal + count(array), elements + array.size
    return found
