"""Functions of feature maps on shapes: pools, sizes and channels; what each refuses, and the shape that it gives."""

# ruff: noqa: FBT002 - flags are positional in the vocabulary

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.workloads.layers import count, pair
from bakeoff.workloads.layers_maps import divided
from bakeoff.workloads.shape_checks import check_sequence
from bakeoff.workloads.shape_windows import places, slid
from bakeoff.workloads.shapes import LayoutError, Shape, check_kind, check_real

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RESIZES = ("nearest", "bilinear")
PADDING_MODES = ("zeros", "reflect", "replicate")


def max_pool2d(x: Shape, kernel: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False) -> Shape:
    """Return the places of the window."""
    return _pooled("max_pool2d", x, kernel, stride, padding, ceil_mode)


def avg_pool2d(
    x: Shape, kernel: Any, stride: Any = None, padding: Any = 0, count_padding: Any = False, ceil_mode: Any = False
) -> Shape:
    """Return the places of the window."""
    _check_flag("avg_pool2d", "count_padding", count_padding)
    return _pooled("avg_pool2d", x, kernel, stride, padding, ceil_mode)


def max_pool1d(x: Shape, kernel: int, stride: int | None = None, padding: int = 0, ceil_mode: Any = False) -> Shape:
    """Return the places of the window along the length."""
    check_sequence("max_pool1d", x)
    check_real("max_pool1d", x)
    kernel, padding = count("kernel", kernel), count("padding", padding, least=0)
    _check_padding("max_pool1d", (kernel,), (padding,))
    _check_flag("max_pool1d", "ceil_mode", ceil_mode)
    step = kernel if stride is None else count("stride", stride)
    length = places("max_pool1d", x, x.dims[1], kernel, step, padding, ceil_mode=ceil_mode)
    return x.of(x.dims[0], length, x.dims[2])


def _pooled(function: str, x: Shape, kernel: Any, stride: Any, padding: Any, ceil_mode: Any) -> Shape:
    """Return the places of a window; raise LayoutError where one could see padding alone."""
    check_kind(function, x, "map")
    _check_padding(function, pair("kernel", kernel), pair("padding", padding, least=0))
    _check_flag(function, "ceil_mode", ceil_mode)
    return slid(function, x, kernel, kernel if stride is None else stride, padding, ceil_mode=ceil_mode)


def _check_flag(function: str, name: str, value: Any) -> None:
    """Raise LayoutError for anything but True and False."""
    if not isinstance(value, bool):
        msg = f"nn.{function}: {name}={value!r}: it must be True or False"
        raise LayoutError(msg)


def _check_padding(function: str, kernel: Sequence[int], padding: Sequence[int]) -> None:
    """Raise LayoutError for more padding than half of the window, which PyTorch refuses: it could see nothing else."""
    if any(2 * edge > window for window, edge in zip(kernel, padding, strict=True)):
        msg = f"nn.{function}: padding={padding} is more than half of the window {kernel}"
        raise LayoutError(msg)


def adaptive_avg_pool2d(x: Shape, size: tuple[int, int]) -> Shape:
    """Return the size."""
    check_kind("adaptive_avg_pool2d", x, "map")
    check_real("adaptive_avg_pool2d", x)
    return _sized(x, pair("size", size))


def resize(x: Shape, size: tuple[int, int], method: str) -> Shape:
    """Return the size; nearest takes whole factors only."""
    check_kind("resize", x, "map")
    check_real("resize", x)
    sizes = pair("size", size)
    if method not in RESIZES:
        msg = f"nn.resize by {method!r}; there is {' and '.join(RESIZES)}"
        raise LayoutError(msg)
    if method == "nearest" and any(new % old for new, old in zip(sizes, x.dims[1:3], strict=True)):
        msg = f"nn.resize of {x!r} to {sizes} by 'nearest' takes whole factors only; 'bilinear' takes all"
        raise LayoutError(msg)
    return _sized(x, sizes)


def map_size(x: Shape) -> tuple[int, int]:
    """Return a map's height and width."""
    check_kind("map_size", x, "map")
    return x.dims[1], x.dims[2]


def pad2d(x: Shape, sides: Any, mode: str = "zeros") -> Shape:
    """Return the map with its edges."""
    check_kind("pad2d", x, "map")
    check_real("pad2d", x)
    if mode not in PADDING_MODES:
        msg = f"nn.pad2d has no mode {mode!r}; it has {', '.join(PADDING_MODES)}"
        raise LayoutError(msg)
    vertical, horizontal = edges(sides)
    batch, height, width, channels = x.dims
    for most, given in ((height - 1, vertical), (width - 1, horizontal)):
        if mode == "reflect" and max(given) > most:
            msg = f"nn.pad2d reflects at most {most} places of {x!r} there, the edge itself not; these are {given}"
            raise LayoutError(msg)
    (top, bottom), (left, right) = vertical, horizontal
    return Shape((batch, height + top + bottom, width + left + right, channels), trained=x.trained, kind="map")


def edges(sides: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return ((top, bottom), (left, right)); raise LayoutError for anything else."""
    if not (isinstance(sides, tuple) and len(sides) == 2 and all(isinstance(one, tuple) for one in sides)):  # noqa: PLR2004
        msg = f"nn.pad2d takes ((top, bottom), (left, right)); this is {sides!r}"
        raise LayoutError(msg)
    vertical, horizontal = (pair("sides", one, least=0) for one in sides)
    return vertical, horizontal


def from_tokens(x: Shape, size: tuple[int, int]) -> Shape:
    """Return a map of this height and width."""
    check_sequence("from_tokens", x)
    check_real("from_tokens", x)
    height, width = pair("size", size)
    if x.dims[1] != height * width:
        msg = f"nn.from_tokens of {x!r}: {height} x {width} places are {height * width} tokens"
        raise LayoutError(msg)
    return Shape((x.dims[0], height, width, x.dims[2]), trained=x.trained, kind="map")


def per_channel(v: Shape) -> Shape:
    """Return one number for each channel, that broadcasts over height and width."""
    check_kind("per_channel", v, "array")
    check_real("per_channel", v)
    if v.ndim not in {1, 2}:
        msg = f"nn.per_channel takes (channels,) or (batch, channels); this is {v!r}"
        raise LayoutError(msg)
    batch = v.dims[0] if v.ndim == 2 else 1  # noqa: PLR2004 - batch, channels
    return Shape((batch, 1, 1, v.dims[-1]), trained=v.trained, kind="map")


def split_channels(x: Shape, sizes: Sequence[int]) -> list[Shape]:
    """Return a map for each size."""
    check_kind("split_channels", x, "map")
    check_real("split_channels", x)
    parts = [count("sizes", size) for size in sizes]
    if sum(parts) != x.dims[-1]:
        msg = f"nn.split_channels of {x!r} into {tuple(parts)}: these are {sum(parts)} channels"
        raise LayoutError(msg)
    return [Shape((*x.dims[:-1], part), trained=x.trained, kind="map") for part in parts]


def channel_shuffle(x: Shape, groups: int) -> Shape:
    """Return the same shape."""
    check_kind("channel_shuffle", x, "map")
    check_real("channel_shuffle", x)
    divided("channels", x.dims[-1], groups)
    return Shape(x.dims, trained=x.trained, kind="map")


def _sized(x: Shape, size: tuple[int, int]) -> Shape:
    """Return a map of another height and width."""
    return Shape((x.dims[0], *size, x.dims[-1]), trained=x.trained, kind="map")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        max_pool2d,
        avg_pool2d,
        max_pool1d,
        adaptive_avg_pool2d,
        resize,
        map_size,
        pad2d,
        from_tokens,
        per_channel,
        split_channels,
        channel_shuffle,
    )
}
