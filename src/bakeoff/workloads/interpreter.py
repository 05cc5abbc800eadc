"""Run a model's forward pass and its loss over shapes: without numbers and without a framework.

So a mistake in a user's model is found, with its line, before anything is started: an argument or a shape that does not
fit, an axis of a feature map that is named by hand. On the way a `Counter` gets every product.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.vocabulary import FUNCTIONS, LOSSES
from bakeoff.workloads import plan
from bakeoff.workloads.shape_functions import Counter, Functions, Losses, elementwise, slid
from bakeoff.workloads.shapes import MAP_AXES, LayoutError, Shape, check_kind, check_length, of_batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size
    from bakeoff.workloads.load import LoadedWorkload


def check_model(loaded: LoadedWorkload, size: Size, scenario: Scenario) -> None:
    """Run a workload's model and loss over shapes; raise ModelFileError, with the line, for what cannot be."""
    plan.parameters(loaded.build, size)
    path = loaded.build.__code__.co_filename
    trains = SCENARIOS[scenario].trains
    outputs = _told(path, "forward", lambda: forward(loaded.build, size, Counter(), trains=False))
    _told(path, "forward", lambda: _check_outputs(outputs, size))
    if not trains or loaded.loss is None:
        return
    targets = _one_or_named({name: of_batch(array, size.batch_size) for name, array in size.sample.targets.items()})
    outputs = _told(path, "forward", lambda: forward(loaded.build, size, Counter(), trains=True))
    nn = vocabulary(Counter(), trains=True)
    found = _told(path, "loss", lambda: loaded.loss(nn, outputs, targets))  # type: ignore[misc]
    if not isinstance(found, Shape) or found.shape != ():
        msg = f"{path}: loss returned {found!r}; it must return one number that hangs on the outputs"
        raise ModelFileError(msg)


def forward(build: Callable[[Any, Size], Any], size: Size, counter: Counter, *, trains: bool) -> Any:
    """Return the outputs of a model over shapes, on a batch of this size; raises whatever the model does."""
    batch = {name: of_batch(array, size.batch_size) for name, array in size.sample.inputs.items()}
    return build(vocabulary(counter, trains=trains), size)(_one_or_named(batch))


def vocabulary(counter: Counter, *, trains: bool) -> SimpleNamespace:
    """Return the vocabulary: layers that count, and functions of shapes."""
    layers: dict[str, Any] = {kind.__name__[1:]: type(kind.__name__, (kind,), {"counter": counter}) for kind in _LAYERS}
    layers |= {"Module": _Module, "ModuleList": plan.ModuleList}
    functions = {name: getattr(Functions(counter), name) for name in FUNCTIONS if name != "in_training"}
    losses = {name: getattr(Losses, name) for name in LOSSES}
    return SimpleNamespace(**layers, **functions, **losses, in_training=lambda _: trains)


def _one_or_named(arrays: dict[str, Shape]) -> Shape | dict[str, Shape]:
    """Return the array where there is one, else all by name: what a model is called with, and a loss."""
    return next(iter(arrays.values())) if len(arrays) == 1 else arrays


def _told(path: str, function: str, called: Callable[[], Any]) -> Any:
    """Return what is called; raise ModelFileError with the last line of the user's file where it fails."""
    try:
        return called()
    except Exception as error:
        raise ModelFileError(plan.where(path, function, error)) from error


def _check_outputs(outputs: Any, size: Size) -> None:
    """Raise LayoutError unless the outputs are one array, samples first, whose axes all frameworks have alike."""
    if not isinstance(outputs, Shape):
        msg = f"a model returns one array in evaluation; this one returned {outputs!r}"
        raise LayoutError(msg)
    if outputs.kind == "flat":
        outputs.refuse("is what the model returns")
    if outputs.kind == "array" and outputs.ndim == MAP_AXES:
        msg = f"the model returns {outputs!r}, which would be taken for a feature map; reshape it to three axes"
        raise LayoutError(msg)
    if outputs.shape[:1] != (size.batch_size,):
        msg = f"the model returns {outputs!r} for {size.batch_size} samples; its first axis must count them"
        raise LayoutError(msg)


# --- Layers: the plan's own, which check their arguments, on shapes ---------------------------------------------------


class _Module(plan.Module):
    """A model or a part of one, which can be called."""

    forward: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the forward pass."""
        return self.forward(*args, **kwargs)


class _Parameter(plan.Parameter, Shape):
    """An array that is trained by itself."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Take the shape."""
        plan.Parameter.__init__(self, shape)
        Shape.__init__(self, shape, trained=True)


class _Counted(plan.Layer):
    """A layer whose products are counted."""

    counter: Counter

    def product(self, macs: int, x: Shape, saved: int = 1) -> None:
        """Count a product of the layer's weight with its input."""
        self.counter.product(macs, (True, x.trained), saved)
        self.counter.read(self)


class _Embedding(_Counted, plan.Embedding):
    """Rows by index; which of them a step reads hangs on the batch, so none is counted."""

    def __call__(self, x: Shape) -> Shape:
        """Add the axis of features."""
        check_kind("Embedding", x, "array")
        if not x.integer:
            msg = f"nn.Embedding takes integers: an input of dtype int32 in the size's inputs; this is {x!r} of numbers"
            raise LayoutError(msg)
        return Shape((*x.shape, self.parameters["weight"].shape[1]), trained=True)


class _Linear(_Counted, plan.Linear):
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
        check_length(f"nn.Linear over the last axis of {x!r}", x.shape[-1], inputs)
        self.product(math.prod(x.shape[:-1]) * inputs * outputs, x)
        return Shape((*x.shape[:-1], outputs), trained=True)

    def _check_flat(self, x: Shape) -> None:
        """Raise LayoutError unless x is a flattened map of the shape that the layer is made for."""
        *places, channels = self.unfolded
        ordered = channels == 1 or math.prod(places) == 1
        if isinstance(x, Shape) and (x.unfolded == self.unfolded or (x.kind == "array" and ordered)):
            return
        found = f"a flattened map {x.unfolded}" if isinstance(x, Shape) and x.unfolded else repr(x)
        msg = f"nn.Linear({self.unfolded}, ...) takes a feature map of that shape behind nn.flatten; this is {found}"
        raise LayoutError(msg)


class _Conv2d(_Counted, plan.Conv2d):
    """See the vocabulary."""

    def __init__(self, inputs: int, outputs: int, kernel: Any, stride: int = 1, padding: Any = 0, **more: Any) -> None:
        """Keep what the size of the result depends on."""
        super().__init__(inputs, outputs, kernel, stride, padding, **more)
        self.stride, self.padding = stride, padding

    def __call__(self, x: Shape) -> Shape:
        """Count one for each weight and place of the result."""
        height, width, inputs, outputs = self.parameters["weight"].shape
        check_kind("Conv2d", x, "map")
        check_length(f"nn.Conv2d over the channels of {x!r}", x.shape[-1], inputs)
        found = slid("Conv2d", x, (height, width), self.stride, self.padding)
        places = math.prod(found.shape[:-1])
        self.product(places * height * width * inputs * outputs, x, saved=height * width)
        return Shape((*found.shape[:-1], outputs), trained=True, kind="map")


class _LayerNorm(_Counted, plan.LayerNorm):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same shape."""
        check_kind("LayerNorm", x, "array")
        check_length(f"nn.LayerNorm over the last axis of {x!r}", x.shape[-1], self.parameters["scale"].shape[0])
        return Shape(x.shape, trained=True)


class _BatchNorm(_Counted, plan.BatchNorm):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same shape."""
        if not isinstance(x, Shape) or not (x.kind == "map" or (x.kind == "array" and x.ndim == 2)):  # noqa: PLR2004 - batch, features
            msg = f"nn.BatchNorm takes a feature map or (batch, features); this is {x!r}"
            raise LayoutError(msg)
        check_length(f"nn.BatchNorm over the channels of {x!r}", x.shape[-1], self.parameters["scale"].shape[0])
        return Shape(x.shape, trained=True, kind=x.kind)


class _Dropout(_Counted, plan.Dropout):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Return the same."""
        return elementwise("Dropout", x)


_LAYERS: tuple[type, ...] = (_Linear, _Conv2d, _LayerNorm, _BatchNorm, _Embedding, _Dropout, _Parameter)
