"""What PyTorch does with feature maps, (batch, channels, height, width), beside convolutions."""

# ruff: noqa: FBT001, FBT002 - `count_padding` and `ceil_mode` are positional in the vocabulary

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch.nn import functional as F

from bakeoff.frameworks import sampling
from bakeoff.frameworks.sampling import Pair, Sides, pair


class BatchNorm(torch.nn.BatchNorm2d):
    """Normalise each channel of a feature map, or each feature of (batch, features) or (batch, length, features)."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        """Take the vocabulary's arguments, which mean the same here."""
        super().__init__(features, eps=epsilon, momentum=momentum)

    def forward(self, x: Any) -> Any:
        """Normalise; of a sequence PyTorch has the features before the length, as Conv1d leaves them in memory."""
        if x.ndim == 3:  # noqa: PLR2004 - batch, length, features
            return super().forward(x.transpose(1, 2)).transpose(1, 2)
        return super().forward(x)

    def _check_input_dim(self, input: Any) -> None:  # noqa: A002 - PyTorch's name
        """Take other ranks too: that is all that PyTorch's BatchNorm1d and BatchNorm2d differ in."""


class GroupNorm(torch.nn.GroupNorm):
    """Normalise each group of channels of a sample."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, groups: int, features: int, epsilon: float = 1e-5) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(groups, features, eps=epsilon)

    def forward(self, x: Any) -> Any:
        """Normalise; of a sequence PyTorch has the features before the length."""
        if x.ndim == 3:  # noqa: PLR2004 - batch, length, features
            return super().forward(x.transpose(1, 2)).transpose(1, 2)
        return super().forward(x)


class ChannelNorm(torch.nn.LayerNorm):
    """Normalise over the channels at each place, as torchvision's LayerNorm2d does: a view with the channels last."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(features, eps=epsilon)

    def forward(self, x: Any) -> Any:
        """Normalise."""
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class RMSNorm(torch.nn.RMSNorm):
    """Divide by the root of the mean of squares over the last axis."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(features, eps=epsilon)


class StochasticDepth(torch.nn.Module):
    """Drop whole samples at `rate` in training, do nothing in evaluation; PyTorch has it in torchvision only."""

    def __init__(self, rate: float) -> None:
        """Take the vocabulary's argument."""
        super().__init__()
        self.rate = rate

    def forward(self, x: Any) -> Any:
        """Multiply every sample by 0 or by 1 / (1 - rate)."""
        if not self.training or not self.rate:
            return x
        kept = 1 - self.rate
        return x * x.new_empty(x.shape[0], *[1] * (x.ndim - 1)).bernoulli_(kept).div_(kept)


def max_pool2d(x: Any, kernel: Pair, stride: Pair | None = None, padding: Pair = 0, ceil_mode: bool = False) -> Any:
    """Largest value in each window; padding never wins."""
    return F.max_pool2d(x, kernel, stride, padding, ceil_mode=ceil_mode)


def avg_pool2d(
    x: Any,
    kernel: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    count_padding: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """Mean of each window, with or without the padded zeros.

    Zeros that count are put around the map where a window is cut at its end: of a cut window in whose mean the padding
    counts, Inductor's gradient is another than that of PyTorch's own operator (2.13: it divides by the whole window).
    """
    axes = x.shape[2:], pair(kernel), pair(stride or kernel), pair(padding)
    is_cut = any(sampling.ends(*axes, ceil_mode=ceil_mode))
    if not is_cut or not count_padding:
        return F.avg_pool2d(x, kernel, stride, padding, is_cut, count_include_pad=count_padding)
    down, across = pair(padding)
    pooled = F.avg_pool2d(
        F.pad(x, (across, across, down, down)), kernel, stride, ceil_mode=True, count_include_pad=False
    )
    rows, columns = sampling.places(*axes, ceil_mode=True)
    return pooled[:, :, :rows, :columns]


def max_pool1d(x: Any, kernel: int, stride: int | None = None, padding: int = 0, ceil_mode: bool = False) -> Any:
    """Largest value in each window along the length."""
    return F.max_pool1d(x.transpose(1, 2), kernel, stride, padding, ceil_mode=ceil_mode).transpose(1, 2)


def adaptive_avg_pool2d(x: Any, size: Pair) -> Any:
    """Mean of each of so many windows that cover the map."""
    return F.adaptive_avg_pool2d(x, size)


def resize(x: Any, size: Pair, method: str) -> Any:
    """Another height and width, by half-pixel centres and without antialiasing."""
    return F.interpolate(x, pair(size), mode=method)


def map_size(x: Any) -> tuple[int, int]:
    """Return a map's height and width."""
    height, width = x.shape[-2:]
    return int(height), int(width)


def pad2d(x: Any, sides: Sides, mode: str = "zeros") -> Any:
    """A map with more around it."""
    return F.pad(x, (*sides[1], *sides[0]), "constant" if mode == "zeros" else mode)


def from_tokens(x: Any, size: Pair) -> Any:
    """(batch, height * width, channels) to a feature map."""
    return x.transpose(1, 2).unflatten(2, pair(size))


def per_channel(v: Any) -> Any:
    """(channels,) or (batch, channels) to what broadcasts over a map."""
    return v.reshape(-1, v.shape[-1], 1, 1)


def split_channels(x: Any, sizes: Any) -> Any:
    """Part a map's channels."""
    return list(torch.split(x, list(sizes), 1))


def channel_shuffle(x: Any, groups: int) -> Any:
    """Put the first channels of all groups first, then the second ones, and so on."""
    return x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)
