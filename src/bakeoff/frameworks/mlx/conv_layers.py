"""Convolutions as MLX's own modules; channels are last everywhere."""

# ruff: noqa: FBT001, FBT002 - `bias` is positional in the vocabulary

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import mlx.nn

if TYPE_CHECKING:
    from bakeoff.frameworks.sampling import Pair


class Conv1d(mlx.nn.Conv1d):
    """Cross-correlation along (batch, length, features), with the same zero padding on both sides."""

    outputs_first: ClassVar[tuple[str, ...]] = ("weight",)

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
        """Take the vocabulary's arguments, which mean the same here."""
        super().__init__(in_channels, out_channels, kernel, stride, padding, dilation, groups, bias)


class Conv2d(mlx.nn.Conv2d):
    """Cross-correlation with the same zero padding on opposite sides."""

    outputs_first: ClassVar[tuple[str, ...]] = ("weight",)

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
        """Take the vocabulary's arguments, which mean the same here."""
        super().__init__(in_channels, out_channels, kernel, stride, padding, dilation, groups, bias)


class ConvTranspose2d(mlx.nn.ConvTranspose2d):
    """The gradient of Conv2d by its input."""

    outputs_first: ClassVar[tuple[str, ...]] = ("weight",)
    outputs_axis: ClassVar[int] = -2  # of (kernel, kernel, out, in)

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
        """Take the vocabulary's arguments, which mean the same here."""
        super().__init__(in_channels, out_channels, kernel, stride, padding, output_padding=output_padding, bias=bias)
