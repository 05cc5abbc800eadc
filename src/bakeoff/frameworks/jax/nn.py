"""The vocabulary in flax.nnx.

Feature maps are NHWC, the layout of flax and of XLA's convolutions on a processor: canonical layouts hold unchanged.
Layers start at zero because every weight is loaded from canonical ones: the random streams that flax demands are idle.
"""
# ruff: noqa: FBT001, FBT002 - `bias` stands in the vocabulary's signatures as a positional flag

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import jax
import jax.numpy as jnp
from flax import nnx

from bakeoff.frameworks.jax import functions, phase, variance
from bakeoff.frameworks.jax.attention import attention
from bakeoff.frameworks.jax.conv_layers import Conv1d, Conv2d, ConvTranspose2d
from bakeoff.frameworks.jax.functions import (  # noqa: F401 - their names are in __all__, below
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
from bakeoff.frameworks.jax.graphs import sparse_matmul
from bakeoff.frameworks.jax.losses import binary_cross_entropy, cross_entropy, mse
from bakeoff.frameworks.jax.maps import (
    ChannelNorm,
    GroupNorm,
    RMSNorm,
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
from bakeoff.frameworks.jax.recurrent import GRU, LSTM, GRUCell, LSTMCell, scan
from bakeoff.frameworks.jax.sequence_losses import ctc
from bakeoff.frameworks.jax.time_maps import column_mask, columns, floor_divide
from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
"""Which variance of the batch flax's normalisation moves the running one towards."""

# --- Layers -------------------------------------------------------------------------------------------------------


class Module(nnx.Module):
    """Base class: layers are attributes set in __init__, computation is forward(self, x, ...)."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002 - a model's own takes what it needs
        """Compute the outputs; every model defines its own."""
        msg = f"{type(self).__name__} has no method forward"
        raise ModelFileError(msg)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call forward."""
        return self.forward(*args, **kwargs)


class ModuleList(nnx.List):
    """Layers in a list."""

    def __init__(self, modules: Iterable[nnx.Module]) -> None:
        """Take the modules in their order."""
        super().__init__(modules)


class Linear(nnx.Linear):
    """x @ weight + bias over the last axis."""

    canonical: ClassVar[dict[str, str]] = {"kernel": "weight"}

    def __init__(self, in_features: int | tuple[int, int, int], out_features: int, bias: bool = True) -> None:
        """Take the feature map (height, width, channels) as it is flattened here, which is in that order."""
        features = math.prod(in_features) if isinstance(in_features, (tuple, list)) else in_features
        super().__init__(features, out_features, use_bias=bias, kernel_init=nnx.initializers.zeros, rngs=_rngs())


class LayerNorm(nnx.LayerNorm):
    """Normalisation over the last axis."""

    def __init__(self, features: int, epsilon: float = 1e-5, bias: bool = True) -> None:
        """Hand on epsilon: flax's own default is 1e-6."""
        fast = variance.is_fast()
        super().__init__(features, epsilon=epsilon, use_bias=bias, use_fast_variance=fast, rngs=_rngs())


class BatchNorm(nnx.BatchNorm):
    """Normalisation of each channel of a feature map, or each feature of what has its features last."""

    canonical: ClassVar[dict[str, str]] = {"mean": "running_mean", "var": "running_variance"}

    def __init__(self, features: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        """Hand on the weight of the old value, which is what flax calls momentum."""
        fast = variance.is_fast()
        super().__init__(features, momentum=1 - momentum, epsilon=epsilon, use_fast_variance=fast, rngs=_rngs())

    def __call__(self, x: jax.Array) -> jax.Array:
        """Normalise by the batch while a training step is traced, else by the running statistics.

        Those stay in float32 where activations are in less, and what flax computes from both comes back in float32.
        """
        return super().__call__(x, use_running_average=not phase.in_training()).astype(x.dtype)


def Parameter(shape: tuple[int, ...], std: float = 1.0) -> nnx.Param[jax.Array]:  # noqa: ARG001, N802 - the vocabulary's; values are loaded
    """Make an array that is trained by itself."""
    return nnx.Param(jnp.zeros(shape))


class Embedding(nnx.Embed):
    """Rows by integer index."""

    canonical: ClassVar[dict[str, str]] = {"embedding": "weight"}

    def __init__(self, entries: int, features: int, std: float = 1.0) -> None:  # noqa: ARG002 - weights are loaded
        """Make the table (entries, features), whose type rows have: flax would keep the type of its first zeros."""
        super().__init__(entries, features, embedding_init=nnx.initializers.zeros, rngs=_rngs())
        self.dtype = None


class Dropout(nnx.Dropout):
    """Dropout with draws from the step's key; nothing where the step has set none, as in evaluation."""

    def __init__(self, rate: float) -> None:
        """Keep no state of random numbers: state cannot change inside `lax.scan`, a step's key can be folded there."""
        super().__init__(rate)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Drop with the next draw of the innermost `training`."""
        key = phase.next_key()
        return super().__call__(x, deterministic=key is None, rngs=key)


class StochasticDepth(Dropout):
    """Drop whole samples: flax's Dropout of one draw for each, which all other axes share."""

    def __call__(self, x: jax.Array) -> jax.Array:
        """Drop with the next draw of the innermost `training`."""
        self.broadcast_dims = tuple(range(1, x.ndim))
        return super().__call__(x)


def in_training(module: nnx.Module) -> bool:  # noqa: ARG001 - in JAX it is the step that is in training
    """Return whether a training step is being traced."""
    return phase.in_training()


def _rngs() -> nnx.Rngs:
    """Return the random streams that flax's constructors demand."""
    return nnx.Rngs(0)


def _value(x: Any) -> jax.Array:
    """Return an array, or that of a parameter: primitives of JAX, and its rule for the slope of relu, take no other."""
    found: jax.Array = x[...] if isinstance(x, nnx.Variable) else x
    return found


# --- Functions ----------------------------------------------------------------------------------------------------


def relu(x: jax.Array) -> jax.Array:
    """Return max(x, 0)."""
    return nnx.relu(_value(x))


def gelu(x: jax.Array) -> jax.Array:
    """Return the exact form, with the error function; flax's default approximates it by tanh."""
    return nnx.gelu(x, approximate=False)


def tanh(x: jax.Array) -> jax.Array:
    """Return the hyperbolic tangent."""
    return jnp.tanh(x)


def sigmoid(x: jax.Array) -> jax.Array:
    """Return 1 / (1 + exp(-x))."""
    return nnx.sigmoid(_value(x))


def softmax(x: jax.Array) -> jax.Array:
    """Return the softmax over the last axis."""
    return nnx.softmax(x)


def log_softmax(x: jax.Array) -> jax.Array:
    """Return the logarithm of the softmax over the last axis."""
    return nnx.log_softmax(x)


def global_avg_pool2d(x: jax.Array) -> jax.Array:
    """Return the mean of each channel, (batch, channels)."""
    return jnp.mean(x, axis=(1, 2))


def flatten(x: jax.Array) -> jax.Array:
    """Return (batch, everything else)."""
    return jnp.reshape(x, (x.shape[0], -1))


def reshape(x: jax.Array, shape: Sequence[int]) -> jax.Array:
    """Return x in another shape."""
    return jnp.reshape(x, shape)


def tokens(x: jax.Array) -> jax.Array:
    """Return a feature map as (batch, height * width, channels)."""
    return jnp.reshape(x, (x.shape[0], -1, x.shape[-1]))


def concat(arrays: Iterable[jax.Array], axis: int) -> jax.Array:
    """Join arrays along an axis."""
    return jnp.concat(list(arrays), axis=axis)


def concat_channels(maps: Iterable[jax.Array]) -> jax.Array:
    """Join feature maps by their channels."""
    return jnp.concat(list(maps), axis=-1)


def broadcast_to(x: jax.Array, shape: Sequence[int]) -> jax.Array:
    """Return x repeated to a shape."""
    return jnp.broadcast_to(x, shape)


def permute_dims(x: jax.Array, axes: Sequence[int]) -> jax.Array:
    """Return x with its axes in another order."""
    return jnp.permute_dims(x, axes)


def matmul(a: jax.Array, b: jax.Array) -> jax.Array:
    """Return the matrix product over the last two axes."""
    return jnp.matmul(a, b)


def mean(x: jax.Array, axis: int | tuple[int, ...] | None = None) -> jax.Array:
    """Return the mean over axes, or over all of them."""
    return jnp.mean(x, axis=axis)


def sum(x: jax.Array, axis: int | tuple[int, ...] | None = None) -> jax.Array:  # noqa: A001 - the vocabulary's name
    """Return the sum over axes, or over all of them."""
    return jnp.sum(x, axis=axis)
