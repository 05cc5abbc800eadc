"""The vocabulary in Jittor's own modules and functions; feature maps are (batch, channels, height, width).

The layers are Jittor's, with nothing added to their forward pass: only their constructors take the vocabulary's
arguments. What converts weights (`load`, `read`) runs outside of every step.
"""

# ruff: noqa: FBT001, FBT002 - `bias` is positional in the vocabulary

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import jittor as jt
import numpy as np

from bakeoff.frameworks.jittor import functions, normalisation
from bakeoff.frameworks.jittor.attention import attention
from bakeoff.frameworks.jittor.conv_layers import Conv1d, Conv2d, ConvTranspose2d
from bakeoff.frameworks.jittor.functions import (  # noqa: F401 - their names are in __all__, below
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
from bakeoff.frameworks.jittor.graphs import sparse_matmul
from bakeoff.frameworks.jittor.losses import binary_cross_entropy, cross_entropy, mse, total
from bakeoff.frameworks.jittor.maps import (
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
from bakeoff.frameworks.jittor.recurrent import GRU, LSTM, GRUCell, LSTMCell, scan
from bakeoff.frameworks.jittor.sequence_losses import ctc
from bakeoff.frameworks.jittor.tangent import tanh
from bakeoff.frameworks.jittor.time_maps import column_mask, columns, floor_divide
from bakeoff.frameworks.layout import Layout
from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

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

RUNNING_VARIANCE: Literal["biased"] = "biased"
"""Which variance of the batch Jittor's normalisation moves the running one towards."""


# --- Layers ----------------------------------------------------------------------------------------------------------


class Module(jt.Module):
    """Base class: layers are attributes set in __init__, computation is forward(self, x, ...)."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; every model defines its own."""
        msg = f"{type(self).__name__} has no method forward"
        raise NotImplementedError(msg)

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs, by Jittor's name for it."""
        return self.forward(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Return the array of a constant: as an attribute of its own it would be taken for a parameter."""
        value = self.__dict__.get(f"constant {name}")
        if value is None:
            raise AttributeError(name)
        return value.array

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep a constant by another name, also one whose array is an attribute of another module."""
        kept = functions.ConstantArray.of(value)
        if kept is None:
            super().__setattr__(name, value)
        else:
            super().__setattr__(f"constant {name}", kept)


ModuleList = jt.nn.ModuleList


class Linear(jt.nn.Linear):
    """x @ weight + bias; `in_features` may be the (height, width, channels) of a flattened feature map."""

    def __init__(self, in_features: int | tuple[int, int, int], out_features: int, bias: bool = True) -> None:
        """Note how the inputs unfold, for loading."""
        inputs = tuple(in_features) if isinstance(in_features, (tuple, list)) else (in_features,)
        super().__init__(math.prod(inputs), out_features, bias=bias)
        self.layout = Layout((self.in_features, out_features), (*inputs, out_features))
        self.layouts = {"weight": self.layout}


class LayerNorm(jt.nn.LayerNorm):
    """Normalise over the last axis."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-5, bias: bool = True) -> None:
        """Take the vocabulary's arguments; without a bias Jittor's own is the number that it has without parameters."""
        super().__init__(features, eps=epsilon)
        if not bias:
            self.bias = 0.0


class BatchNorm(normalisation.BatchNorm):
    """Normalise each channel of a feature map, or each feature of what has its features last."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        """Take the vocabulary's arguments, which mean the same here."""
        super().__init__(features, eps=epsilon, momentum=momentum)


class Embedding(jt.nn.Embedding):
    """Rows of a table by integer index."""

    def __init__(self, entries: int, features: int, std: float = 1.0) -> None:  # noqa: ARG002 - weights are loaded
        """Take the vocabulary's arguments."""
        super().__init__(entries, features)

    def attend(self, x: Any) -> Any:
        """X @ weight^T over the last axis."""
        return jt.nn.matmul_transpose(x, self.weight)


class Dropout(jt.nn.Dropout):
    """Drop at `rate` in training, do nothing in evaluation."""

    def __init__(self, rate: float) -> None:
        """Take the vocabulary's argument; the network sets whether it is in training."""
        super().__init__(rate)


def Parameter(shape: tuple[int, ...], std: float = 1.0) -> Any:  # noqa: ARG001, N802 - the vocabulary's; values are loaded
    """Make an array that is trained by itself: in Jittor every array of a module is, unless its gradient is stopped."""
    return jt.zeros(shape)


# --- Functions: Jittor's own where it takes the same arguments -------------------------------------------------------

relu = jt.nn.relu
gelu = jt.nn.gelu
sigmoid = jt.sigmoid
matmul = jt.matmul
reshape = jt.reshape
broadcast_to = jt.broadcast
permute_dims = jt.transpose


def softmax(x: Any) -> Any:
    """Softmax over the last axis."""
    return jt.nn.softmax(x, dim=-1)


def log_softmax(x: Any) -> Any:
    """Logarithm of the softmax over the last axis."""
    return jt.nn.log_softmax(x, dim=-1)


def in_training(module: jt.Module) -> bool:
    """Return whether the module computes for a training step."""
    return bool(module.is_training())


def global_avg_pool2d(x: Any) -> Any:
    """Feature map to (batch, channels)."""
    return jt.mean(x, (2, 3))


def flatten(x: Any) -> Any:
    """Everything but the batch axis into one: of a feature map in the order channels, height, width."""
    return jt.flatten(x, 1)


def tokens(x: Any) -> Any:
    """Feature map to (batch, height * width, channels)."""
    return jt.transpose(jt.flatten(x, 2), 1, 2)


def concat(arrays: Any, axis: int) -> Any:
    """Join arrays along an axis that they have."""
    return jt.concat(list(arrays), axis)


def concat_channels(maps: Any) -> Any:
    """Join feature maps by their channels."""
    return jt.concat(list(maps), 1)


def mean(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:
    """Mean over `axis`, or over everything."""
    return total(x) / x.numel() if axis is None else jt.mean(x, axis)


def sum(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:  # noqa: A001 - the array API's name
    """Sum over `axis`, or over everything."""
    if axis is not None:
        return jt.sum(x, axis)
    return total(x) if x.dtype.is_float() else jt.sum(x)


# --- Weights in and out ----------------------------------------------------------------------------------------------

_STATE = {"running_mean": "running_mean", "running_var": "running_variance"}
"""Jittor's names of a normalisation's running statistics, and the canonical ones."""


def parameters(model: Any) -> dict[str, tuple[Any, Layout | None]]:
    """Return every parameter by canonical name, with its layout; None where Jittor's is the canonical one."""
    found = {}
    for path, layer in _layers(model):
        for name, array in _arrays(layer).items():
            if isinstance(layer, BatchNorm) and name in _STATE:
                continue
            canonical = getattr(layer, "canonical", {}).get(name, name)
            layout = getattr(layer, "layouts", {}).get(name)
            found[f"{path}.{canonical}".removeprefix(".")] = (array, layout)
    return found


def state(model: Any) -> dict[str, Any]:
    """Return every running statistic by canonical name."""
    return {
        f"{path}.{_STATE[name]}".removeprefix("."): array
        for path, layer in _layers(model)
        if isinstance(layer, BatchNorm)
        for name, array in _arrays(layer).items()
        if name in _STATE
    }


def _layers(model: Any) -> Iterator[tuple[str, Any]]:
    """Go through a model's modules by their paths; a shared one by its first, where Jittor lists it at each."""
    seen = set()
    for path, layer in model.named_modules():
        if id(layer) not in seen:
            seen.add(id(layer))
            yield path, layer


def _arrays(layer: Any) -> dict[str, Any]:
    """Return a layer's own arrays by the names of their attributes."""
    return {name: value for name, value in vars(layer).items() if isinstance(value, jt.Var)}


def load(model: Any, weights: Arrays) -> None:
    """Set parameters and state from canonical arrays, in their own precision; raise ModelFileError at other names."""
    own = parameters(model) | {name: (array, None) for name, array in state(model).items()}
    if differing := sorted(own.keys() ^ weights.keys()):
        msg = (
            f"the model's parameters and its weights differ in: {', '.join(differing)}; "
            "layers are attributes set in __init__, and lists of layers are nn.ModuleList"
        )
        raise ModelFileError(msg)
    for name, (array, layout) in own.items():
        value = weights[name] if layout is None else layout.to_native(weights[name])
        put(array, np.reshape(value, tuple(array.shape)))


def put(array: Any, values: NDArray[Any]) -> None:
    """Set one of a model's arrays to other values; Jittor keeps whether it has a gradient."""
    array.update(jt.array(np.ascontiguousarray(values, np.float32)))


def read(model: Any, value_of: Callable[[Any], Any]) -> Arrays:
    """Return what `value_of` gives for each parameter, as its gradient, in canonical arrays of their own memory.

    A parameter of which it gives None is left out.
    """
    arrays = {}
    for name, (array, layout) in parameters(model).items():
        if (value := value_of(array)) is None:
            continue
        values = value.numpy()
        arrays[name] = np.array(values if layout is None else layout.to_canonical(values))
    return arrays
