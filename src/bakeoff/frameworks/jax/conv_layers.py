"""Convolutions as flax's own modules; channels are last everywhere, as canonical layouts have them."""

# ruff: noqa: FBT001, FBT002 - `bias` is positional in the vocabulary

from __future__ import annotations

from typing import ClassVar

from flax import nnx

from bakeoff.frameworks.jax.convolution import convolve
from bakeoff.frameworks.sampling import Pair, pair


class Conv1d(nnx.Conv):
    """Cross-correlation along (batch, length, features), with the same zero padding on both sides."""

    canonical: ClassVar[dict[str, str]] = {"kernel": "weight"}

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
        """Pad explicitly: flax's own "SAME" is not symmetric where the stride is 2."""
        super().__init__(
            in_channels,
            out_channels,
            (kernel,),
            strides=(stride,),
            padding=((padding, padding),),
            kernel_dilation=(dilation,),
            feature_group_count=groups,
            use_bias=bias,
            kernel_init=nnx.initializers.zeros,
            conv_general_dilated=convolve,
            rngs=nnx.Rngs(0),
        )


class Conv2d(nnx.Conv):
    """Cross-correlation with the same zero padding on opposite sides."""

    canonical: ClassVar[dict[str, str]] = {"kernel": "weight"}

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
        """Pad explicitly: flax's own "SAME" is not symmetric where the stride is 2."""
        vertical, horizontal = pair(padding)
        super().__init__(
            in_channels,
            out_channels,
            pair(kernel),
            strides=pair(stride),
            padding=((vertical, vertical), (horizontal, horizontal)),
            kernel_dilation=pair(dilation),
            feature_group_count=groups,
            use_bias=bias,
            kernel_init=nnx.initializers.zeros,
            conv_general_dilated=convolve,
            rngs=nnx.Rngs(0),
        )


class ConvTranspose2d(nnx.ConvTranspose):
    """The gradient of Conv2d by its input, which flax has with `transpose_kernel`: else it is another function."""

    canonical: ClassVar[dict[str, str]] = {"kernel": "weight"}

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
        """Count the padding as flax does: of the map whose points are set apart, so that more gives a larger result."""
        windows, sides, more = pair(kernel), pair(padding), pair(output_padding)
        super().__init__(
            in_channels,
            out_channels,
            windows,
            strides=pair(stride),
            padding=tuple(
                (window - 1 - side, window - 1 - side + end)
                for window, side, end in zip(windows, sides, more, strict=True)
            ),
            transpose_kernel=True,
            use_bias=bias,
            kernel_init=nnx.initializers.zeros,
            rngs=nnx.Rngs(0),
        )
