"""Convolutions as Jittor's own modules."""

# ruff: noqa: FBT001, FBT002 - `bias` is positional in the vocabulary

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jittor as jt

from bakeoff.frameworks.layout import Layout, kernel_layout

if TYPE_CHECKING:
    from bakeoff.frameworks.sampling import Pair


class Conv1d(jt.nn.Conv2d):
    """Cross-correlation along (batch, length, features), which in Jittor is that of a map of one column.

    So it is in Jittor's own Conv1d, which keeps its weight twice; both transpositions are operations here.
    """

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
        """Note the kernel's layout, for loading."""
        super().__init__(in_channels, out_channels, (kernel, 1), (stride, 1), (padding, 0), (dilation, 1), groups, bias)
        inputs = in_channels // groups
        self.layouts = {"weight": Layout((kernel, inputs, out_channels), (kernel, 1, inputs, out_channels))}

    def execute(self, x: Any) -> Any:
        """Convolve along the length."""
        return jt.transpose(super().execute(jt.transpose(x, 0, 2, 1).unsqueeze(-1)).squeeze(-1), 0, 2, 1)


class Conv2d(jt.nn.Conv2d):
    """Cross-correlation with the same zero padding on opposite sides."""

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
        """Note the kernel's layout, for loading."""
        super().__init__(in_channels, out_channels, kernel, stride, padding, dilation, groups, bias)
        self.layouts = kernel_layout(self.kernel_size, in_channels // groups, out_channels)


class ConvTranspose2d(jt.nn.ConvTranspose2d):
    """The gradient of Conv2d by its input; Jittor's weight is that convolution's, as it has it."""

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
        """Note the kernel's layout, for loading."""
        super().__init__(in_channels, out_channels, kernel, stride, padding, output_padding, bias=bias)
        self.layouts = kernel_layout(self.kernel_size, out_channels, in_channels)
