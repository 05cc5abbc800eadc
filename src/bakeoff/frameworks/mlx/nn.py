"""The vocabulary in mlx.nn; feature maps are (batch, height, width, channels), the only layout that MLX has.

Layers draw their first values as MLX's always do, lazily: they are replaced before anything is evaluated.
"""
# ruff: noqa: FBT001, FBT002 - `bias` stands in the vocabulary's signatures as a positional flag

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import mlx.core as mx
import mlx.nn

from bakeoff.frameworks.mlx import functions
from bakeoff.frameworks.mlx.attention import attention
from bakeoff.frameworks.mlx.conv_layers import Conv1d, Conv2d, ConvTranspose2d
from bakeoff.frameworks.mlx.functions import (  # noqa: F401 - their names are in __all__, below
    EmbeddingBag,
    RandomNormal,
    abs,  # noqa: A004 - the vocabulary has this name
    arange,
    argmax,
    clip,
    constant,
    cos,
    cumsum,
    einsum,
    elu,
    equal,
    exp,
    flip,
    gelu_tanh,
    hard_sigmoid,
    hard_swish,
    leaky_relu,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    max,  # noqa: A004 - the vocabulary has this name
    maximum,
    minimum,
    one_hot,
    pad,
    roll,
    rsqrt,
    segment_max,
    segment_sum,
    silu,
    sin,
    softplus,
    split,
    sqrt,
    stack,
    stop_gradient,
    take,
    take_along_axis,
    to_float,
    top_k,
    where,
)
from bakeoff.frameworks.mlx.graphs import sparse_matmul
from bakeoff.frameworks.mlx.losses import binary_cross_entropy, cross_entropy, mse, total
from bakeoff.frameworks.mlx.maps import (
    ChannelNorm,
    GroupNorm,
    RMSNorm,
    StochasticDepth,
    adaptive_avg_pool2d,
    avg_pool2d,
    channel_shuffle,
    from_tokens,
    map_size,
    max_pool1d,
    max_pool2d,
    pad2d,
    per_channel,
    resize,
    split_channels,
)
from bakeoff.frameworks.mlx.recurrent import GRU, LSTM, GRUCell, LSTMCell, scan
from bakeoff.frameworks.mlx.sequence_losses import ctc
from bakeoff.frameworks.mlx.time_maps import column_mask, columns, floor_divide
from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "GRU",
    "LSTM",
    "BatchNorm",
    "ChannelNorm",
    "Conv1d",
    "Conv2d",
    "ConvTranspose2d",
    "Dropout",
    "Embedding",
    "GRUCell",
    "GroupNorm",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "Module",
    "ModuleList",
    "Parameter",
    "RMSNorm",
    "StochasticDepth",
    "adaptive_avg_pool2d",
    "attention",
    "avg_pool2d",
    "binary_cross_entropy",
    "broadcast_to",
    "channel_shuffle",
    "column_mask",
    "columns",
    "concat",
    "concat_channels",
    "cross_entropy",
    "ctc",
    "flatten",
    "floor_divide",
    "from_tokens",
    "gelu",
    "global_avg_pool2d",
    "in_training",
    "log_softmax",
    "map_size",
    "matmul",
    "max_pool1d",
    "max_pool2d",
    "mean",
    "mse",
    "pad2d",
    "per_channel",
    "permute_dims",
    "relu",
    "reshape",
    "resize",
    "scan",
    "sigmoid",
    "softmax",
    "sparse_matmul",
    "split_channels",
    "sum",
    "tanh",
    "tokens",
]
__all__ += functions.__all__

RUNNING_VARIANCE: Literal["unbiased"] = "unbiased"
"""Which variance of the batch MLX's normalisation moves the running one towards."""

# --- Layers -----------------------------------------------------------------------------------------------------------


class Module(mlx.nn.Module):
    """Base class: layers are attributes set in __init__, computation is forward(self, x, ...)."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002 - a model's own takes what it needs
        """Compute the outputs; every model defines its own."""
        msg = f"{type(self).__name__} has no method forward"
        raise ModelFileError(msg)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call forward."""
        return self.forward(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep a constant outside of the dictionary that MLX takes a module's parameters from.

        So is one whose array is an attribute of another module.
        """
        kept = functions.ConstantArray.of(value)
        if kept is None:
            super().__setattr__(name, value)
        else:
            object.__setattr__(self, name, kept.array)
            object.__setattr__(self, f"constant {name}", kept)


ModuleList = list  # in MLX, layers in a list are Python's list


class Linear(mlx.nn.Linear):
    """x @ weight + bias over the last axis."""

    outputs_first: ClassVar[tuple[str, ...]] = ("weight",)

    def __init__(self, in_features: int | tuple[int, int, int], out_features: int, bias: bool = True) -> None:
        """Take the feature map (height, width, channels) as it is flattened here, which is in that order."""
        features = math.prod(in_features) if isinstance(in_features, (tuple, list)) else in_features
        super().__init__(features, out_features, bias=bias)


class LayerNorm(mlx.nn.LayerNorm):
    """Normalisation over the last axis."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-5, bias: bool = True) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(features, eps=epsilon, bias=bias)


class BatchNorm(mlx.nn.BatchNorm):
    """Normalisation of each channel of a feature map, or each feature of what has its features last."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale", "running_var": "running_variance"}

    def __init__(self, features: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        """Take the vocabulary's arguments, which mean the same here."""
        super().__init__(features, eps=epsilon, momentum=momentum)


class Embedding(mlx.nn.Embedding):
    """Rows by integer index."""

    def __init__(self, entries: int, features: int, std: float = 1.0) -> None:  # noqa: ARG002 - weights are loaded
        """Take the vocabulary's arguments."""
        super().__init__(entries, features)

    def attend(self, x: mx.array) -> mx.array:
        """X @ weight^T over the last axis, by MLX's own method for it."""
        return self.as_linear(x)


class Dropout(mlx.nn.Dropout):
    """Drop at `rate` in training, do nothing in evaluation."""

    def __init__(self, rate: float) -> None:
        """Take the vocabulary's argument."""
        super().__init__(rate)


def Parameter(shape: tuple[int, ...], std: float = 1.0) -> mx.array:  # noqa: ARG001, N802 - the vocabulary's; values are loaded
    """Make an array that is trained by itself: in MLX every array that is a Module's attribute is."""
    return mx.zeros(shape)


# --- Functions: MLX's own where it takes the same arguments -----------------------------------------------------------

relu = mlx.nn.relu
gelu = mlx.nn.gelu
tanh = mlx.nn.tanh
sigmoid = mlx.nn.sigmoid
softmax = mlx.nn.softmax
log_softmax = mlx.nn.log_softmax
matmul = mx.matmul
reshape = mx.reshape
broadcast_to = mx.broadcast_to
permute_dims = mx.transpose


def in_training(module: mlx.nn.Module) -> bool:
    """Return whether the module computes for a training step."""
    return bool(module.training)


def global_avg_pool2d(x: mx.array) -> mx.array:
    """Feature map to (batch, channels)."""
    return mx.mean(x, axis=(1, 2))


def flatten(x: mx.array) -> mx.array:
    """Everything but the batch axis into one."""
    return mx.flatten(x, 1)


def tokens(x: mx.array) -> mx.array:
    """Feature map to (batch, height * width, channels)."""
    return mx.flatten(x, 1, 2)


def concat(arrays: Sequence[mx.array], axis: int) -> mx.array:
    """Join arrays along an axis."""
    return mx.concatenate(list(arrays), axis=axis)


def concat_channels(maps: Sequence[mx.array]) -> mx.array:
    """Join feature maps by their channels."""
    return mx.concatenate(list(maps), axis=-1)


def mean(x: mx.array, axis: int | tuple[int, ...] | None = None) -> mx.array:
    """Mean over `axis`, or over everything."""
    return total(x) / x.size if axis is None else mx.mean(x, axis=axis)


def sum(x: mx.array, axis: int | tuple[int, ...] | None = None) -> mx.array:  # noqa: A001 - the vocabulary's name
    """Sum over `axis`, or over everything."""
    return total(x) if axis is None else mx.sum(x, axis=axis)
