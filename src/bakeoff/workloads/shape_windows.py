"""Windows that slide over an axis: how many places they have."""

from __future__ import annotations

from typing import Any

from bakeoff.workloads.layers import pair
from bakeoff.workloads.shapes import LayoutError, Shape, check_real


def extent(kernel: int, dilation: int) -> int:
    """Return how many points a kernel spans whose own are `dilation` apart."""
    return (kernel - 1) * dilation + 1


def places(  # noqa: PLR0913 - a window's numbers
    function: str, x: Shape, length: int, window: int, stride: int, padding: int, *, ceil_mode: bool = False
) -> int:
    """Return how many places a window has along an axis that is padded on both sides.

    With `ceil_mode` as many as begin before the padding at the end, of which the last may reach beyond it: PyTorch's.
    """
    found = (length + 2 * padding - window) // stride + 1
    if ceil_mode and (length + 2 * padding - window) % stride and found * stride < length + padding:
        found += 1
    if found < 1:
        msg = f"nn.{function}: a window of {window} is larger than {x!r} with its padding of {padding}"
        raise LayoutError(msg)
    return found


def slid(function: str, x: Shape, kernel: Any, stride: Any, padding: Any, *, ceil_mode: bool = False) -> Shape:
    """Return the places of a window over a map that is padded on both sides."""
    check_real(function, x)
    batch, *lengths, channels = x.dims
    sides = zip(lengths, pair("kernel", kernel), pair("stride", stride), pair("padding", padding, least=0), strict=True)
    found = [places(function, x, *axis, ceil_mode=ceil_mode) for axis in sides]
    return Shape((batch, *found, channels), trained=x.trained, kind="map")
