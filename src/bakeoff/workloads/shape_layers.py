"""The layers of the vocabulary on shapes: they check their arguments as the plan's do, and count their products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bakeoff.workloads import layers
from bakeoff.workloads.shape_checks import check_integer, check_range
from bakeoff.workloads.shapes import LayoutError, Shape, check_kind, check_length, check_real, elementwise, in_scan

if TYPE_CHECKING:
    from bakeoff.workloads.shape_functions import Counter


class _Held(Shape):
    """An array that the model has to hold."""

    counter: Counter
    _dims: tuple[int, ...]

    @property
    def dims(self) -> tuple[int, ...]:
        """The length of every axis; raises LayoutError where the model does not hold the array that is asked."""
        self.counter.check_held(self, "used")
        return self._dims

    @dims.setter
    def dims(self, dims: tuple[int, ...]) -> None:
        self._dims = dims


class Parameter(layers.Parameter, _Held):
    """An array that is trained by itself."""

    def __init__(self, shape: tuple[int, ...], std: float = 1.0) -> None:
        """Take the shape."""
        layers.Parameter.__init__(self, shape, std)
        Shape.__init__(self, shape, trained=True)


class constant(layers.constant, _Held):  # noqa: N801 - the vocabulary's name for it
    """An array that is never trained, made while the model is built."""

    def __init__(self, array: Any) -> None:
        """Take shape and kind of values."""
        if self.counter.is_built:
            msg = (
                "nn.constant puts an array on the device: make it once, while the model is built, as an attribute "
                "(self.table = nn.constant(array) in __init__); in forward and in loss there is nn.arange(n)"
            )
            raise LayoutError(msg)
        layers.constant.__init__(self, array)
        Shape.__init__(self, array.shape, integer=array.dtype.kind == "i", boolean=array.dtype.kind == "b")
        self.known = array if self.boolean or self.integer else None


class Counted(layers.Layer):
    """A layer whose products are counted."""

    counter: Counter
    path = ""
    """The first part of its parameters' names, once the model is built."""

    def trains(self, x: Shape, *more: Shape) -> bool:
        """Return whether what the layer makes of arrays depends on anything that is trained."""
        return any(one.trained for one in (x, *more)) or any(map(self._is_trained, self.parameters))

    @property
    def trains_weights(self) -> bool:
        """Whether the gradient of every matrix is computed: of a layer with a frozen one none is counted."""
        return all(self._is_trained(name) for name, array in self.parameters.items() if len(array.shape) > 1)

    def _is_trained(self, parameter: str) -> bool:
        """Return whether a parameter is trained."""
        return f"{self.path}.{parameter}" not in self.counter.frozen

    def product(self, macs: int, x: Shape, saved: int = 1) -> None:
        """Count a product of the layer's weight with its input; raise LayoutError unless that holds real numbers."""
        check_real(type(self).__name__, x)
        self.counter.product(macs, (self.trains_weights, x.trained), saved)
        self.counter.read(self)


class Embedding(Counted, layers.Embedding):
    """Rows by index; which of them a step reads hangs on the batch, so none is counted."""

    def __call__(self, x: Shape) -> Shape:
        """Add the axis of features."""
        check_integer("Embedding", x)
        entries, features = self.parameters["weight"].shape
        check_range(f"nn.Embedding({entries}, {features})", x, entries)
        return Shape((*x.dims, features), trained=self.trains(x))

    def attend(self, x: Shape) -> Shape:
        """Count one for each weight and position."""
        self.counter.check_held(self, "called")
        entries, features = self.parameters["weight"].shape
        check_kind("Embedding.attend", x, "array")
        _check_rows("Embedding.attend", x)
        check_length(f"nn.Embedding.attend over the last axis of {x!r}", x.dims[-1], features)
        self.product(math.prod(x.dims[:-1]) * features * entries, x)
        return Shape((*x.dims[:-1], entries), trained=self.trains(x))


class EmbeddingBag(Counted, layers.EmbeddingBag):
    """The sum or the mean of a sample's rows."""

    def __call__(self, x: Shape) -> Shape:
        """Return one row for each sample."""
        check_integer("EmbeddingBag", x)
        if x.ndim != 2:  # noqa: PLR2004 - batch, entries of a sample
            msg = f"nn.EmbeddingBag takes integers (batch, n); this is {x!r}"
            raise LayoutError(msg)
        entries, features = self.parameters["weight"].shape
        check_range(f"nn.EmbeddingBag({entries}, {features})", x, entries)
        return Shape((x.dims[0], features), trained=self.trains(x))


class Linear(Counted, layers.Linear):
    """See the vocabulary."""

    def __init__(self, in_features: Any, out_features: int, bias: bool = True) -> None:  # noqa: FBT001, FBT002 - the vocabulary's signature
        """Keep the map that is taken flattened."""
        super().__init__(in_features, out_features, bias)
        self.unfolded = tuple(in_features) if isinstance(in_features, tuple | list) else ()

    def __call__(self, x: Shape) -> Shape:
        """Count one for each weight and position."""
        inputs, outputs = self.parameters["weight"].shape
        if self.unfolded:
            self._check_flat(x)
        else:
            check_kind("Linear", x, "array")
        _check_rows("Linear", x)
        check_length(f"nn.Linear over the last axis of {x!r}", x.dims[-1], inputs)
        self.product(math.prod(x.dims[:-1]) * inputs * outputs, x)
        return Shape((*x.dims[:-1], outputs), trained=self.trains(x))

    def _check_flat(self, x: Shape) -> None:
        """Raise LayoutError unless x is a flattened map of the shape that the layer is made for."""
        *places, channels = self.unfolded
        ordered = channels == 1 or math.prod(places) == 1
        if isinstance(x, Shape) and (x.unfolded == self.unfolded or (x.kind == "array" and ordered)):
            return
        found = f"a flattened map {x.unfolded}" if isinstance(x, Shape) and x.unfolded else repr(x)
        msg = f"nn.Linear({self.unfolded}, ...) takes a feature map of that shape behind nn.flatten; this is {found}"
        raise LayoutError(msg)


def _check_rows(name: str, x: Shape) -> None:
    """Raise LayoutError for an array of one axis or none, which not every framework's layer takes."""
    if x.ndim < 2:  # noqa: PLR2004 - rows of features
        msg = (
            f"nn.{name} takes features in the last of two axes or more; this is {x!r}: nn.reshape makes it a row, "
            "(1, features)"
        )
        raise LayoutError(msg)


class LayerNorm(Counted, layers.LayerNorm):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same shape."""
        check_kind("LayerNorm", x, "array")
        check_real("LayerNorm", x)
        check_length(f"nn.LayerNorm over the last axis of {x!r}", x.dims[-1], self.parameters["scale"].shape[0])
        self.counter.called("LayerNorm")
        return Shape(x.dims, trained=self.trains(x))


class BatchNorm(Counted, layers.BatchNorm):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same shape."""
        if in_scan.get():
            msg = "nn.BatchNorm inside nn.scan would normalise one step of many; call it on the whole sequence, outside"
            raise LayoutError(msg)
        if not isinstance(x, Shape) or not (x.kind == "map" or (x.kind == "array" and x.ndim in {2, 3})):
            msg = f"nn.BatchNorm takes a feature map, (batch, features) or (batch, length, features); this is {x!r}"
            raise LayoutError(msg)
        check_real("BatchNorm", x)
        check_length(f"nn.BatchNorm over the channels of {x!r}", x.dims[-1], self.parameters["scale"].shape[0])
        if self.counter.is_training and math.prod(x.dims[:-1]) == 1:
            msg = (
                f"nn.BatchNorm of {x!r}: in training a channel has one value in the whole batch, its own mean, "
                "so that nothing is left of it; take a batch of two samples or more, on each of several devices"
            )
            raise LayoutError(msg)
        self.counter.called("BatchNorm")
        return Shape(x.dims, trained=self.trains(x), kind=x.kind)


class RandomNormal(Counted, layers.RandomNormal):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same shape; draws depend on nothing."""
        if isinstance(x, Shape) and x.kind == "map":  # each framework would draw them in another order of axes
            msg = f"nn.RandomNormal of {x!r}: of a map it is nn.from_tokens(noise(nn.tokens(x)), nn.map_size(x))"
            raise LayoutError(msg)
        check_kind("RandomNormal", x, "array")
        check_real("RandomNormal", x)
        return Shape(x.dims)


class Dropout(Counted, layers.Dropout):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same."""
        return elementwise("Dropout", x)


LAYERS: tuple[type, ...] = (
    *(Linear, LayerNorm, BatchNorm, Embedding, EmbeddingBag, Dropout, RandomNormal, Parameter, constant),
)
