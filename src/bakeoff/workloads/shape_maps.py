"""Layers of feature maps and sequences on shapes: what each refuses, the shape that it gives, and its products."""

# ruff: noqa: FBT001, FBT002 - `bias` is positional in the vocabulary

from __future__ import annotations

import math
from typing import Any

from bakeoff.workloads import layers_maps
from bakeoff.workloads.layers import pair
from bakeoff.workloads.shape_checks import check_sequence
from bakeoff.workloads.shape_layers import Counted
from bakeoff.workloads.shape_windows import extent, places, slid
from bakeoff.workloads.shapes import (
    SEQUENCE_AXES,
    LayoutError,
    Shape,
    check_kind,
    check_length,
    check_real,
    elementwise,
)


class Conv1d(Counted, layers_maps.Conv1d):
    """See the vocabulary."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: int,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        """Keep what the length of the result depends on."""
        super().__init__(in_channels, out_channels, kernel, stride, padding, dilation, groups, bias)
        self.inputs, self.stride, self.padding, self.dilation = in_channels, stride, padding, dilation

    def __call__(self, x: Shape) -> Shape:
        """Count one for each weight and place of the result."""
        kernel, seen, outputs = self.parameters["weight"].shape
        check_sequence("Conv1d", x)
        check_length(f"nn.Conv1d over the features of {x!r}", x.dims[-1], self.inputs)
        length = places("Conv1d", x, x.dims[1], extent(kernel, self.dilation), self.stride, self.padding)
        self.product(x.dims[0] * length * kernel * seen * outputs, x, saved=kernel)
        return Shape((x.dims[0], length, outputs), trained=self.trains(x))


def _check_channels(name: str, x: Shape, inputs: int) -> None:
    """Raise LayoutError for a map of another number of channels, which may stand first where they belong last."""
    if x.dims[-1] != inputs and x.dims[1] == inputs:
        channels, height, width = x.dims[1:]
        msg = (
            f"nn.{name} over the channels of {x!r}: made for {inputs}, which this map has first; samples are declared "
            f"with channels last, ({height}, {width}, {channels}), whatever a framework's own layout is"
        )
        raise LayoutError(msg)
    check_length(f"nn.{name} over the channels of {x!r}", x.dims[-1], inputs)


class Conv2d(Counted, layers_maps.Conv2d):
    """See the vocabulary."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        """Keep what the size of the result depends on."""
        super().__init__(in_channels, out_channels, kernel, stride, padding, dilation, groups, bias)
        self.inputs, self.stride, self.padding, self.dilation = in_channels, stride, padding, pair("dilation", dilation)

    def __call__(self, x: Shape) -> Shape:
        """Count one for each weight and place of the result."""
        height, width, seen, outputs = self.parameters["weight"].shape
        check_kind("Conv2d", x, "map")
        _check_channels("Conv2d", x, self.inputs)
        window = (extent(height, self.dilation[0]), extent(width, self.dilation[1]))
        found = slid("Conv2d", x, window, self.stride, self.padding)
        count = math.prod(found.dims[:-1])
        self.product(count * height * width * seen * outputs, x, saved=height * width)
        return Shape((*found.dims[:-1], outputs), trained=self.trains(x), kind="map")


class ConvTranspose2d(Counted, layers_maps.ConvTranspose2d):
    """See the vocabulary."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        bias: bool = True,
    ) -> None:
        """Keep what the size of the result depends on."""
        super().__init__(in_channels, out_channels, kernel, stride, padding, output_padding, bias)
        self.stride, self.padding = pair("stride", stride), pair("padding", padding, least=0)
        self.more = pair("output_padding", output_padding, least=0)

    def __call__(self, x: Shape) -> Shape:
        """Count one for each weight and place of the input."""
        *kernel, outputs, inputs = self.parameters["weight"].shape
        check_kind("ConvTranspose2d", x, "map")
        _check_channels("ConvTranspose2d", x, inputs)
        sides = zip(x.dims[1:3], kernel, self.stride, self.padding, self.more, strict=True)
        sizes = [(length - 1) * step - 2 * edge + window + more for length, window, step, edge, more in sides]
        if min(sizes) < 1:
            msg = f"nn.ConvTranspose2d: with padding={self.padding} nothing is left of the result of {x!r}"
            raise LayoutError(msg)
        self.product(math.prod(x.dims) * math.prod(kernel) * outputs, x, saved=math.prod(kernel))
        return Shape((x.dims[0], *sizes, outputs), trained=self.trains(x), kind="map")


class GroupNorm(Counted, layers_maps.GroupNorm):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same shape."""
        if not isinstance(x, Shape) or not (x.kind == "map" or (x.kind == "array" and x.ndim == SEQUENCE_AXES)):
            msg = f"nn.GroupNorm takes a feature map or (batch, length, features); this is {x!r}"
            raise LayoutError(msg)
        return _normalised(self, "GroupNorm", x)


class ChannelNorm(Counted, layers_maps.ChannelNorm):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same shape."""
        check_kind("ChannelNorm", x, "map")
        return _normalised(self, "ChannelNorm", x)


class RMSNorm(Counted, layers_maps.RMSNorm):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same shape."""
        check_kind("RMSNorm", x, "array")
        return _normalised(self, "RMSNorm", x)


class StochasticDepth(Counted, layers_maps.StochasticDepth):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same."""
        return elementwise("StochasticDepth", x)


def _normalised(layer: Counted, name: str, x: Shape) -> Shape:
    """Return the same shape; raise LayoutError for another number of features than the layer was made for."""
    check_real(name, x)
    check_length(f"nn.{name} over the features of {x!r}", x.dims[-1], layer.parameters["scale"].shape[0])
    layer.counter.called(name)
    return Shape(x.dims, trained=layer.trains(x), kind=x.kind)


LAYERS: tuple[type, ...] = (Conv1d, Conv2d, ConvTranspose2d, GroupNorm, ChannelNorm, RMSNorm, StochasticDepth)
