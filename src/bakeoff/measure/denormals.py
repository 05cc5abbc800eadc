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

_SMALLEST_NORMAL = {"float32": 2.0**-126, "float64": 2.0**-1022}
"""By NumPy's name of a type (IEEE 754)."""


def count(array: NDArray[Any], within: str = "") -> int:
    """Return how many elements of an array of real numbers are denormal in the type `within`, by default its own.

    The other type serves where a float64 array holds what was computed in float32. Raises TypeError for other types.
    """
    own = array.dtype.name
    within = within or own
    if own not in _SMALLEST_NORMAL or within not in _SMALLEST_NORMAL:
        msg = f"denormal numbers are counted of {' and '.join(_SMALLEST_NORMAL)}, not of {within} in {own}"
        raise TypeError(msg)
    integer = np.dtype(f"u{array.dtype.itemsize}").type
    without_sign = integer((1 << (8 * array.dtype.itemsize - 1)) - 1)
    magnitude = np.ascontiguousarray(array).view(integer) & without_sign
    smallest_normal = np.array(_SMALLEST_NORMAL[within], array.dtype).view(integer)
    return int(np.count_nonzero((magnitude != 0) & (magnitude < smallest_normal)))


def counted(arrays: Iterable[tuple[str, NDArray[Any]]], within: str) -> dict[str, tuple[int, int]]:
    """Return for each group of arrays how many elements are denormal in a type, and how many there are.

    A group is the part of the names before the first slash, as in `first moment/hidden.weight`.
    """
    found: dict[str, tuple[int, int]] = {}
    for name, array in arrays:
        group = name.partition("/")[0]
        denormal, elements = found.get(group, (0, 0))
        found[group] = denormal + count(array, within), elements + array.size
    return found
