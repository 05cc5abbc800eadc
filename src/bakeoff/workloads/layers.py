"""The layers of the vocabulary as lists of parameters and state: names, shapes, first distributions; no arrays.

Each takes the vocabulary's arguments and refuses wrong ones, so that a mistake in a user's model has its line.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import msgspec


class Array(msgspec.Struct, frozen=True, kw_only=True):
    """One array of a model: its shape in canonical layout and the distribution that its first value is drawn from."""

    shape: tuple[int, ...]
    distribution: Literal["uniform", "normal"] = "uniform"
    mean: float = 0.0
    spread: float
    """Half the width of a uniform distribution, the standard deviation of a normal one."""
    momentum: float | None = None
    """The weight of each new value in a running statistic; None for a parameter."""

    @property
    def count(self) -> int:
        """Return the number of its elements."""
        return math.prod(self.shape)


class Spreads(NamedTuple):
    """How far first values are drawn from where most libraries have them, 0 or 1.

    bias, scale       a bias that is dropped or added twice, or a scale that is left out, must change the outputs by far
                      more than any tolerance
    running_mean,     likewise: outputs in evaluation show whether running statistics were read; variances stay well
    running_variance  above 0, so that no output becomes much larger
    parameter         the size of an Embedding's rows, to which such parameters are added: one that is left out shows
    """

    bias: float = 0.1
    scale: float = 0.2
    running_mean: float = 0.5
    running_variance: float = 0.5
    parameter: float = 1.0


SPREADS = Spreads()


class Layer:
    """Base class of layers: parameters and state, each by the last part of its name."""

    parameters: dict[str, Array]
    state: dict[str, Array] = {}  # noqa: RUF012 - layers set their own and never change this one


class Linear(Layer):
    """See the vocabulary."""

    def __init__(self, in_features: int | tuple[int, ...], out_features: int, bias: bool = True) -> None:  # noqa: FBT001, FBT002 - the vocabulary's signature
        """List weight (in, out) and bias (out,)."""
        if isinstance(in_features, (tuple, list)):
            if len(in_features) != 3:  # noqa: PLR2004 - height, width, channels
                msg = f"in_features={in_features!r}: a feature map is (height, width, channels)"
                raise TypeError(msg)
            features = math.prod(count("in_features", number) for number in in_features)
        else:
            features = count("in_features", in_features)
        out_features = count("out_features", out_features)
        self.parameters = weighted((features, out_features), features, bias)


class LayerNorm(Layer):
    """See the vocabulary."""

    def __init__(self, features: int, epsilon: float = 1e-5, bias: bool = True) -> None:  # noqa: FBT001, FBT002 - the vocabulary's signature
        """List scale (features,) and bias (features,)."""
        self.parameters = scale_and_bias(count("features", features), epsilon)
        if not wanted("bias", bias):
            del self.parameters["bias"]


class BatchNorm(Layer):
    """See the vocabulary."""

    def __init__(self, features: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        """List scale and bias (features,), and the running mean and variance of the same shape."""
        features = count("features", features)
        if not is_number(momentum) or not 0 < momentum < 1:
            msg = f"momentum={momentum!r}: it is the weight of the new value and must be above 0 and below 1"
            msg += _meant("", momentum)
            raise ValueError(msg)
        self.parameters = scale_and_bias(features, epsilon)
        mean, variance = (0.0, SPREADS.running_mean), (1.0, SPREADS.running_variance)
        self.state = {
            name: Array(shape=(features,), mean=centre, spread=spread, momentum=momentum)
            for name, (centre, spread) in (("running_mean", mean), ("running_variance", variance))
        }


class Parameter(Layer):
    """See the vocabulary."""

    def __init__(self, shape: tuple[int, ...], std: float = SPREADS.parameter) -> None:
        """List itself."""
        if not isinstance(shape, (tuple, list)) or not shape:
            msg = (
                f"shape={shape!r}: it must be a tuple of whole numbers, (1,) for a single number; its first values are "
                "drawn, with the deviation std"
            )
            raise TypeError(msg)
        shape = tuple(count("shape", number) for number in shape)
        self.parameters = {"": Array(shape=shape, distribution="normal", spread=deviation(std))}


class Embedding(Layer):
    """See the vocabulary."""

    def __init__(self, entries: int, features: int, std: float = 1.0) -> None:
        """List weight (entries, features)."""
        shape = (count("entries", entries), count("features", features))
        self.parameters = {"weight": Array(shape=shape, distribution="normal", spread=deviation(std))}


class EmbeddingBag(Embedding):
    """See the vocabulary."""

    def __init__(self, entries: int, features: int, mode: str) -> None:
        """List weight (entries, features)."""
        super().__init__(entries, features)
        if mode not in BAGS:
            msg = f"mode={mode!r}: it must be one of {', '.join(BAGS)}"
            raise ValueError(msg)


BAGS = ("sum", "mean")
"""What an EmbeddingBag makes of the rows of a sample."""


class constant(Layer):  # noqa: N801 - the vocabulary's name for it
    """See the vocabulary."""

    def __init__(self, array: Any) -> None:
        """List nothing: it is no parameter."""
        import numpy as np

        if not isinstance(array, np.ndarray) or array.dtype.kind not in "fib":
            found = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else repr(array)
            msg = f"nn.constant takes a NumPy array of real numbers, integers or booleans; this is {found}"
            raise TypeError(msg)
        if array.dtype.kind == "i" and array.size and not -LARGEST <= array.min() <= array.max() < LARGEST:
            msg = f"nn.constant of integers from {array.min()} to {array.max()}: int32 cannot hold them"
            raise ValueError(msg)
        self.parameters = {}
        self.dims: tuple[int, ...] = array.shape

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the length of every axis, which a model may ask for while it is built."""
        return self.dims


LARGEST = 2**31
"""The first that is too large for an int32, which frameworks hold integers in."""


class RandomNormal(Layer):
    """See the vocabulary."""

    def __init__(self) -> None:
        """List nothing: it has no parameters."""
        self.parameters = {}


class Dropout(Layer):
    """See the vocabulary."""

    def __init__(self, rate: float) -> None:
        """List nothing: it has no parameters."""
        if not is_number(rate) or not 0 <= rate < 1:
            msg = f"rate={rate!r}: it must be a number, at least 0 and below 1{_meant('', rate)}"
            raise ValueError(msg)
        self.parameters = {}
        self.rate = rate


def weighted(shape: tuple[int, ...], fan_in: int, bias: bool) -> dict[str, Array]:  # noqa: FBT001 - private
    """Return a weight and, if wanted, a bias over its last axis.

    The bound sqrt(6 / fan_in) keeps the variance of activations through ReLU (He et al. 2015, equation 10).
    """
    arrays = {"weight": Array(shape=shape, spread=math.sqrt(6 / fan_in))}
    if wanted("bias", bias):
        arrays["bias"] = Array(shape=shape[-1:], spread=SPREADS.bias)
    return arrays


def scale_and_bias(features: int, epsilon: float) -> dict[str, Array]:
    """Return the scale and the bias behind a normalisation."""
    if not is_number(epsilon) or not epsilon > 0:
        msg = f"epsilon={epsilon!r}: it must be a number above 0{_meant('', epsilon)}"
        raise ValueError(msg)
    return {
        "scale": Array(shape=(features,), mean=1.0, spread=SPREADS.scale),
        "bias": Array(shape=(features,), spread=SPREADS.bias),
    }


NAMED_PADDINGS = {
    "valid": "; valid is 0",
    "same": (
        "; same of a convolution of stride 1 and an odd kernel is dilation * (kernel - 1) // 2. For another stride "
        "some libraries add what ceil(n / stride) windows lack, the smaller half in front: nn.pad or nn.pad2d does that"
    ),
    "causal": "; causal is nn.pad(x, ((0, 0), (dilation * (kernel - 1), 0), (0, 0))) before it",
}
"""Paddings that other libraries have by name, as they are said here."""


def count(name: str, value: Any, least: int = 1) -> int:
    """Return an argument that has to be a whole number, at least `least`; raise ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        msg = f"{name}={value!r}: it must be a whole number, at least {least}{_meant(name, value)}"
        raise ValueError(msg)
    return value


def wanted(name: str, value: Any) -> bool:
    """Return an argument that has to be True or False; raise TypeError for anything else."""
    if not isinstance(value, bool):
        msg = f"{name}={value!r}: it must be True or False"
        raise TypeError(msg)
    return value


def is_number(value: Any) -> bool:
    """Return whether an argument is a number of Python's, which frameworks take alike."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _meant(name: str, value: Any) -> str:
    """Return how a padding by name, or a number of NumPy's, is said here; nothing of anything else."""
    if isinstance(value, str):
        return NAMED_PADDINGS.get(value.lower(), "") if name == "padding" else ""
    if isinstance(value, int | float) or not isinstance(value, Real):
        return ""
    kind = "int" if isinstance(value, Integral) else "float"
    return f"; {kind}({value}) makes one of NumPy's a number of Python's"


def deviation(std: Any) -> float:
    """Return the standard deviation of first values; raise ValueError unless it is a number above 0."""
    if isinstance(std, bool) or not isinstance(std, (int, float)) or not 0 < std < math.inf:
        msg = f"std={std!r}: it is the standard deviation of the first values and must be a number above 0"
        raise ValueError(msg)
    return float(std)


def pair(name: str, value: Any, least: int = 1) -> tuple[int, int]:
    """Return an argument that has to be a whole number or two of them, as (vertical, horizontal)."""
    is_pair = isinstance(value, tuple) and len(value) == 2  # noqa: PLR2004 - vertical, horizontal
    if isinstance(value, list | tuple) and not is_pair:
        msg = f"{name}={value!r}: it must be a whole number or a tuple of two, (vertical, horizontal)"
        raise ValueError(msg)
    vertical, horizontal = value if is_pair else (value, value)
    return count(name, vertical, least), count(name, horizontal, least)


LAYERS: tuple[type[Layer], ...] = (
    *(Linear, LayerNorm, BatchNorm, Embedding, EmbeddingBag, Dropout, RandomNormal, Parameter, constant),
)
