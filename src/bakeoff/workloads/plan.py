"""A model without a framework: its parameters by canonical name, and the weights that every contender starts from.

`build` runs over a vocabulary that only knows shapes, so that a mistake in a user's model is reported with its line
before any framework starts, and so that all frameworks get the same weights under the same names.
"""

from __future__ import annotations

import math
import traceback
import zlib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.vocabulary import FUNCTIONS, LOSSES
from bakeoff.workloads.shapes import LayoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from bakeoff.spec.workload import Size


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


_SPREADS = Spreads()


class Module:
    """Base class of a model and its parts; its attributes may be layers."""

    _ready = False

    def __init__(self) -> None:
        """Allow layers as attributes from now on."""
        self._ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; raise TypeError for layers that not every framework would find, or find under this name."""
        if _holds_layers(value) and not self._ready:
            msg = f"self.{name} is set before super().__init__() was called"
            raise TypeError(msg)
        if isinstance(value, (list, tuple, set, dict)) and any(map(_holds_layers, _members(value))):
            msg = f"self.{name} is a {type(value).__name__} that holds layers; hold them in nn.ModuleList([...])"
            raise TypeError(msg)
        object.__setattr__(self, name, value)


class ModuleList:
    """Layers in a list; their names are their indices."""

    def __init__(self, modules: Any) -> None:
        """Take an iterable of layers and modules."""
        self.modules = list(modules)
        for place, module in enumerate(self.modules):
            if not _holds_layers(module) or isinstance(module, Parameter):
                msg = f"nn.ModuleList holds layers and modules; number {place} is {module!r}"
                raise TypeError(msg)

    def __iter__(self) -> Iterator[Any]:
        """Return an iterator over the layers."""
        return iter(self.modules)

    def __len__(self) -> int:
        """Return the number of layers."""
        return len(self.modules)

    def __getitem__(self, place: int) -> Any:
        """Return the layer at this index."""
        return self.modules[place]


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
            features = math.prod(_count("in_features", number) for number in in_features)
        else:
            features = _count("in_features", in_features)
        out_features = _count("out_features", out_features)
        self.parameters = _weighted((features, out_features), features, bias)


class Conv2d(Layer):
    """See the vocabulary."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: int | tuple[int, int],
        stride: int = 1,
        padding: int | tuple[int, int] = 0,
        bias: bool = True,  # noqa: FBT001, FBT002
    ) -> None:
        """List weight (kernel, kernel, in, out) and bias (out,)."""
        in_channels, out_channels = _count("in_channels", in_channels), _count("out_channels", out_channels)
        height, width = _pair("kernel", kernel)
        _count("stride", stride)
        _pair("padding", padding, least=0)
        self.parameters = _weighted((height, width, in_channels, out_channels), height * width * in_channels, bias)


class LayerNorm(Layer):
    """See the vocabulary."""

    def __init__(self, features: int, epsilon: float = 1e-5) -> None:
        """List scale (features,) and bias (features,)."""
        self.parameters = _scale_and_bias(_count("features", features), epsilon)


class BatchNorm(Layer):
    """See the vocabulary."""

    def __init__(self, features: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        """List scale and bias (features,), and the running mean and variance of the same shape."""
        features = _count("features", features)
        if not 0 < momentum < 1:
            msg = f"momentum={momentum!r}: it is the weight of the new value and must be above 0 and below 1"
            raise ValueError(msg)
        self.parameters = _scale_and_bias(features, epsilon)
        mean, variance = (0.0, _SPREADS.running_mean), (1.0, _SPREADS.running_variance)
        self.state = {
            name: Array(shape=(features,), mean=centre, spread=spread, momentum=momentum)
            for name, (centre, spread) in (("running_mean", mean), ("running_variance", variance))
        }


class Parameter(Layer):
    """See the vocabulary."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        """List itself."""
        if not isinstance(shape, (tuple, list)) or not shape:
            msg = f"shape={shape!r}: it must be a tuple of whole numbers"
            raise TypeError(msg)
        shape = tuple(_count("shape", number) for number in shape)
        self.parameters = {"": Array(shape=shape, distribution="normal", spread=_SPREADS.parameter)}


class Embedding(Layer):
    """See the vocabulary."""

    def __init__(self, entries: int, features: int) -> None:
        """List weight (entries, features)."""
        shape = (_count("entries", entries), _count("features", features))
        self.parameters = {"weight": Array(shape=shape, distribution="normal", spread=1.0)}


class Dropout(Layer):
    """See the vocabulary."""

    def __init__(self, rate: float) -> None:
        """List nothing: it has no parameters."""
        if not 0 <= rate < 1:
            msg = f"rate={rate!r}: it must be at least 0 and below 1"
            raise ValueError(msg)
        self.parameters = {}
        self.rate = rate


def drops(build: Callable[[Any, Size], Any], size: Size) -> bool:
    """Return whether a model drops anything, so that each framework and process draws losses of its own."""
    return any(isinstance(part, Dropout) and part.rate > 0 for _, part in _walk(build(_VOCABULARY, size), ""))


def parameters(build: Callable[[Any, Size], Any], size: Size) -> dict[str, Array]:
    """Return the parameters of a model by canonical name; raise ModelFileError, with the line, where `build` fails."""
    return _arrays(build, size, lambda layer: layer.parameters)


def state(build: Callable[[Any, Size], Any], size: Size) -> dict[str, Array]:
    """Return the arrays that training changes beside the parameters, by canonical name; raise as `parameters` does."""
    return _arrays(build, size, lambda layer: layer.state)


def _arrays(build: Callable[[Any, Size], Any], size: Size, of: Callable[[Layer], dict[str, Array]]) -> dict[str, Array]:
    """Return the arrays `of` each layer by canonical name, from a model that is built over shapes."""
    path = build.__code__.co_filename
    try:
        model = build(_VOCABULARY, size)
    except Exception as error:
        raise ModelFileError(where(path, "build", error)) from error
    if not isinstance(model, Module):
        msg = f"{path}: build returned {model!r}; it must return an instance of a class derived from nn.Module"
        raise ModelFileError(msg)
    arrays: dict[str, Array] = {}
    names: dict[int, str] = {}
    for name, part in _walk(model, ""):
        if id(part) in names:
            msg = f"{path}: {names[id(part)]} and {name} are the same object; the vocabulary has no shared layers"
            raise ModelFileError(msg)
        names[id(part)] = name
        if isinstance(part, Layer):
            arrays |= {f"{name}.{last}".rstrip("."): array for last, array in of(part).items()}
        elif isinstance(part, Module) and not callable(getattr(part, "forward", None)):
            msg = f"{path}: class {type(part).__name__} has no method forward(self, x, ...)"
            raise ModelFileError(msg)
    return arrays


def weights(build: Callable[[Any, Size], Any], size: Size, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return every parameter's first value, by canonical name, in canonical layout; `seed` is from 0 to 2^32 - 1.

    Each parameter has a random stream of its own, so that their order does not matter. RandomState's streams are frozen
    by NumPy's policy (NEP 19): the NumPy of every environment draws the same numbers.
    """
    return {name: _draw(name, array, seed) for name, array in parameters(build, size).items()}


def state_values(build: Callable[[Any, Size], Any], size: Size, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return the values of all state before the first step, drawn as by `weights`; variances are positive."""
    return {name: _draw(name, array, seed) for name, array in state(build, size).items()}


def _draw(name: str, array: Array, seed: int) -> NDArray[np.float64]:
    """Return one array, drawn from the random stream of its name."""
    import numpy as np

    stream = np.random.RandomState([seed, zlib.crc32(name.encode())])
    draw = stream.standard_normal if array.distribution == "normal" else lambda shape: stream.uniform(-1, 1, shape)
    drawn = array.mean + array.spread * draw(array.shape)
    # Exactly what a float32 holds: else the reference in float64 would start elsewhere, and where rounding crosses the
    # zero of a ReLU or a maximum, every contender would have the same error.
    return drawn.astype(np.float32).astype(np.float64)


def _weighted(shape: tuple[int, ...], fan_in: int, bias: bool) -> dict[str, Array]:  # noqa: FBT001 - private
    """Return a weight and, if wanted, a bias over its last axis.

    The bound sqrt(6 / fan_in) keeps the variance of activations through ReLU (He et al. 2015, equation 10).
    """
    arrays = {"weight": Array(shape=shape, spread=math.sqrt(6 / fan_in))}
    if bias:
        arrays["bias"] = Array(shape=shape[-1:], spread=_SPREADS.bias)
    return arrays


def _scale_and_bias(features: int, epsilon: float) -> dict[str, Array]:
    """Return the scale and the bias behind a normalisation."""
    if not epsilon > 0:
        msg = f"epsilon={epsilon!r}: it must be above 0"
        raise ValueError(msg)
    return {
        "scale": Array(shape=(features,), mean=1.0, spread=_SPREADS.scale),
        "bias": Array(shape=(features,), spread=_SPREADS.bias),
    }


def _count(name: str, value: Any, least: int = 1) -> int:
    """Return an argument that has to be a whole number, at least `least`; raise ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        msg = f"{name}={value!r}: it must be a whole number, at least {least}"
        raise ValueError(msg)
    return value


def _pair(name: str, value: Any, least: int = 1) -> tuple[int, int]:
    """Return an argument that has to be a whole number or two of them, as (vertical, horizontal)."""
    vertical, horizontal = value if isinstance(value, tuple) and len(value) == 2 else (value, value)  # noqa: PLR2004
    return _count(name, vertical, least), _count(name, horizontal, least)


def _holds_layers(value: Any) -> bool:
    """Return whether a value is a layer or holds layers."""
    return isinstance(value, (Layer, Module, ModuleList))


def _members(value: Any) -> Any:
    """Return the members of a list, tuple, set or dict."""
    return value.values() if isinstance(value, dict) else value


def _walk(part: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield a model's parts with their names, from the root down."""
    yield name or "the model", part
    children: Any = ()
    if isinstance(part, ModuleList):
        children = ((str(place), child) for place, child in enumerate(part))
    elif isinstance(part, Module):
        children = ((key, child) for key, child in vars(part).items() if _holds_layers(child))
    for key, child in children:
        yield from _walk(child, f"{name}.{key}" if name else key)


def where(path: str, function: str, error: Exception) -> str:
    """Return what went wrong in a function of the user's file, and in which line."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    kind = "" if isinstance(error, LayoutError) else f"{type(error).__name__}: "
    return f"{path}:{lines[-1] if lines else '?'}: in {function}: {kind}{error}"


def _only_in_forward(name: str) -> Callable[..., Any]:
    """Return a function of the vocabulary that a model may keep, but not call while it is built."""

    def function(*_: Any, **__: Any) -> Any:
        msg = f"nn.{name} computes on arrays; call it in forward or in loss, not in build"
        raise TypeError(msg)

    return function


_KINDS = (Module, ModuleList, Linear, Conv2d, LayerNorm, BatchNorm, Embedding, Dropout, Parameter)
_LAYERS = {kind.__name__: kind for kind in _KINDS}
_VOCABULARY = SimpleNamespace(**_LAYERS, **{name: _only_in_forward(name) for name in (*FUNCTIONS, *LOSSES)})
