"""The vocabulary in PyTorch's own modules and functions; feature maps are (batch, channels, height, width).

The layers are PyTorch's, with nothing added to their forward pass: only their constructors take the vocabulary's
arguments. What converts weights (`load`, `read`) runs outside of every step.
"""

# ruff: noqa: FBT001, FBT002 - `bias` is positional in the vocabulary

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from torch.nn import functional as F

from bakeoff.frameworks.layout import Layout
from bakeoff.frameworks.torch import functions, recurrent
from bakeoff.frameworks.torch.attention import attention
from bakeoff.frameworks.torch.conv_layers import Conv1d, Conv2d, ConvTranspose2d
from bakeoff.frameworks.torch.functions import (  # noqa: F401 - their names are in __all__, below
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
from bakeoff.frameworks.torch.graphs import sparse_matmul
from bakeoff.frameworks.torch.losses import binary_cross_entropy, cross_entropy, mse
from bakeoff.frameworks.torch.maps import (
    BatchNorm,
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
from bakeoff.frameworks.torch.recurrent import GRU, LSTM, GRUCell, LSTMCell, scan
from bakeoff.frameworks.torch.sequence_losses import ctc
from bakeoff.frameworks.torch.summed import SummedLSTM
from bakeoff.frameworks.torch.time_maps import column_mask, columns, floor_divide
from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.frameworks.engine import Arrays

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

Module = torch.nn.Module
ModuleList = torch.nn.ModuleList

reference_layers = {"LSTM": SummedLSTM}
"""What the reference takes in place of these layers, see framework.toml."""

RUNNING_VARIANCE: Literal["unbiased"] = "unbiased"
"""Which variance of the batch PyTorch's normalisation moves the running one towards."""


class Linear(torch.nn.Linear):
    """x @ weight + bias; `in_features` may be the (height, width, channels) of a flattened feature map."""

    def __init__(self, in_features: int | tuple[int, int, int], out_features: int, bias: bool = True) -> None:
        """Note how the inputs unfold, for loading."""
        inputs = tuple(in_features) if isinstance(in_features, (tuple, list)) else (in_features,)
        super().__init__(math.prod(inputs), out_features, bias=bias)
        self.layout = Layout((self.in_features, out_features), (*inputs, out_features))
        self.layouts = {"weight": self.layout}


class LayerNorm(torch.nn.LayerNorm):
    """Normalise over the last axis."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-5, bias: bool = True) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(features, eps=epsilon, bias=bias)


class Embedding(torch.nn.Embedding):
    """Rows of a table by integer index."""

    def __init__(self, entries: int, features: int, std: float = 1.0) -> None:  # noqa: ARG002 - weights are loaded
        """Take the vocabulary's arguments."""
        super().__init__(entries, features)

    def attend(self, x: Any) -> Any:
        """X @ weight^T over the last axis."""
        return F.linear(x, self.weight)


class Dropout(torch.nn.Dropout):
    """Drop at `rate` in training, do nothing in evaluation."""

    def __init__(self, rate: float) -> None:
        """Take the vocabulary's argument."""
        super().__init__(rate)


def Parameter(shape: tuple[int, ...], std: float = 1.0) -> torch.nn.Parameter:  # noqa: ARG001, N802 - the vocabulary's; values are loaded
    """Make an array that is trained by itself."""
    return torch.nn.Parameter(torch.zeros(shape))


# --- Functions: PyTorch's own where it takes the same arguments -------------------------------------------------------

relu = torch.relu
gelu = F.gelu
tanh = torch.tanh
sigmoid = torch.sigmoid
matmul = torch.matmul
reshape = torch.reshape
broadcast_to = torch.broadcast_to


def softmax(x: Any) -> Any:
    """Softmax over the last axis."""
    return torch.softmax(x, -1)


def log_softmax(x: Any) -> Any:
    """Logarithm of the softmax over the last axis."""
    return torch.log_softmax(x, -1)


def in_training(module: torch.nn.Module) -> bool:
    """Return whether the module computes for a training step."""
    return module.training


def global_avg_pool2d(x: Any) -> Any:
    """Feature map to (batch, channels)."""
    return x.mean((2, 3))


def flatten(x: Any) -> Any:
    """Everything but the batch axis into one: of a feature map in the order channels, height, width."""
    return torch.flatten(x, 1)


def tokens(x: Any) -> Any:
    """Feature map to (batch, height * width, channels)."""
    return x.flatten(2).transpose(1, 2)


def concat(arrays: Any, axis: int) -> Any:
    """Join arrays along an axis that they have."""
    return torch.cat(list(arrays), axis)


def concat_channels(maps: Any) -> Any:
    """Join feature maps by their channels."""
    return torch.cat(list(maps), 1)


def permute_dims(x: Any, axes: tuple[int, ...]) -> Any:
    """Reorder the axes."""
    return torch.permute(x, axes)


def mean(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:
    """Mean over `axis`, or over everything."""
    return torch.mean(x, axis)


def sum(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:  # noqa: A001 - the array API's name
    """Sum over `axis`, or over everything."""
    return torch.sum(x, axis)


# --- Weights in and out ----------------------------------------------------------------------------------------------


def parameters(model: Any) -> dict[str, tuple[Any, Layout | None]]:
    """Return every parameter by canonical name, with its layout; None where PyTorch's is the canonical one.

    One that several layers share has the name that it has in the first of them.
    """
    found: dict[str, tuple[Any, Layout | None]] = {}
    seen: set[int] = set()
    for path, layer in model.named_modules():
        for name, tensor in layer.named_parameters(recurse=False):
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            canonical = getattr(layer, "canonical", {}).get(name, name)
            layout = getattr(layer, "layouts", {}).get(name)
            found[f"{path}.{canonical}".removeprefix(".")] = (tensor, layout)
    return found


_STATE = {"running_mean": "running_mean", "running_var": "running_variance"}
"""PyTorch's names of a normalisation's buffers, and the canonical ones; its counter of batches computes nothing."""


def state(model: Any) -> dict[str, Any]:
    """Return every running statistic by canonical name."""
    return {
        f"{path}.{_STATE[name]}": tensor
        for path, layer in model.named_modules()
        if isinstance(layer, BatchNorm)
        for name, tensor in layer.named_buffers(recurse=False)
        if name in _STATE
    }


def load(model: Any, weights: Arrays) -> None:
    """Set parameters and state from canonical arrays, in their own precision; raise ModelFileError at other names."""
    own = parameters(model) | {name: (tensor, None) for name, tensor in state(model).items()}
    if differing := sorted(own.keys() ^ weights.keys()):
        msg = (
            f"the model's parameters and its weights differ in: {', '.join(differing)}; "
            "layers are attributes set in __init__, and lists of layers are nn.ModuleList"
        )
        raise ModelFileError(msg)
    with torch.no_grad():
        recurrent.settle(model)
        for name, (tensor, layout) in own.items():
            array = weights[name] if layout is None else layout.to_native(weights[name])
            tensor.copy_(torch.tensor(array, dtype=tensor.dtype).reshape(tensor.shape))


def read(model: Any, value_of: Callable[[Any], Any]) -> Arrays:
    """Return what `value_of` gives for each parameter, as its gradient, in canonical arrays of their own memory.

    A parameter of which it gives None is left out.
    """
    arrays = {}
    for name, (tensor, layout) in parameters(model).items():
        if (value := value_of(tensor)) is None:
            continue
        array = value.detach().cpu().numpy()
        arrays[name] = np.array(array if layout is None else layout.to_canonical(array))
    return arrays
