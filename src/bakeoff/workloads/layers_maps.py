"""Layers of feature maps and sequences as lists of parameters: convolutions, normalisations, stochastic depth."""

# ruff: noqa: FBT001, FBT002 - `bias` is positional in the vocabulary

from __future__ import annotations

import math

import msgspec

from bakeoff.workloads.layers import Dropout, Layer, count, pair, scale_and_bias, weighted

Pair = int | tuple[int, int]


class Conv1d(Layer):
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
        """List weight (kernel, in / groups, out) and bias (out,)."""
        kernel = count("kernel", kernel)
        count("stride", stride)
        count("padding", padding, least=0)
        count("dilation", dilation)
        inputs = _inputs_of_a_group(in_channels, out_channels, groups)
        self.parameters = weighted((kernel, inputs, out_channels), kernel * inputs, bias)


class Conv2d(Layer):
    """See the vocabulary."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: Pair,
        stride: Pair = 1,
        padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        """List weight (kernel height, kernel width, in / groups, out) and bias (out,)."""
        height, width = pair("kernel", kernel)
        pair("stride", stride)
        pair("padding", padding, least=0)
        pair("dilation", dilation)
        inputs = _inputs_of_a_group(in_channels, out_channels, groups)
        self.parameters = weighted((height, width, inputs, out_channels), height * width * inputs, bias)


class ConvTranspose2d(Layer):
    """See the vocabulary."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: Pair,
        stride: Pair = 1,
        padding: Pair = 0,
        output_padding: Pair = 0,
        bias: bool = True,
    ) -> None:
        """List weight (kernel height, kernel width, out, in), as Conv2d from out to in has it, and bias (out,)."""
        in_channels, out_channels = count("in_channels", in_channels), count("out_channels", out_channels)
        kernels, strides = pair("kernel", kernel), pair("stride", stride)
        pair("padding", padding, least=0)
        for more, step in zip(pair("output_padding", output_padding, least=0), strides, strict=True):
            if more >= step:
                msg = f"output_padding={output_padding!r}: it must be below the stride, {stride!r}"
                raise ValueError(msg)
        # Of every place of the result about kernel / stride points of each axis are seen.
        seen = max(1, math.prod(kernels) // math.prod(strides)) * in_channels
        self.parameters = weighted((*kernels, in_channels, out_channels), seen, bias)
        shape = (*kernels, out_channels, in_channels)
        self.parameters["weight"] = msgspec.structs.replace(self.parameters["weight"], shape=shape)


class GroupNorm(Layer):
    """See the vocabulary."""

    def __init__(self, groups: int, features: int, epsilon: float = 1e-5) -> None:
        """List scale (features,) and bias (features,)."""
        divided("features", count("features", features), groups)
        self.parameters = scale_and_bias(features, epsilon)


class ChannelNorm(Layer):
    """See the vocabulary."""

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """List scale (features,) and bias (features,)."""
        self.parameters = scale_and_bias(count("features", features), epsilon)


class RMSNorm(Layer):
    """See the vocabulary."""

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """List scale (features,)."""
        self.parameters = {"scale": scale_and_bias(count("features", features), epsilon)["scale"]}


class StochasticDepth(Dropout):
    """See the vocabulary; what is true of Dropout is true of it."""


def divided(name: str, value: int, groups: int) -> int:
    """Return a number of channels by the number of groups; raise ValueError where it cannot be divided."""
    if value % count("groups", groups):
        msg = f"groups={groups!r}: {name}={value} cannot be divided by it"
        raise ValueError(msg)
    return value // groups


def _inputs_of_a_group(in_channels: int, out_channels: int, groups: int) -> int:
    """Return how many inputs an output sees."""
    divided("out_channels", count("out_channels", out_channels), groups)
    return divided("in_channels", count("in_channels", in_channels), groups)


LAYERS: tuple[type[Layer], ...] = (
    Conv1d,
    Conv2d,
    ConvTranspose2d,
    GroupNorm,
    ChannelNorm,
    RMSNorm,
    StochasticDepth,
)
