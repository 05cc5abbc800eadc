"""The work of one step, counted by running the model's forward pass over a vocabulary that only knows shapes.

Counted as written: one MAC for each weight and position of a linear layer or convolution, and for each inner product's
term of `matmul` and `attention`. A training step adds as many for the gradient of every weight, and as many for that of
every operand that depends on a parameter; the batch itself needs no gradient.

Counted at least: a convolution's MACs over its kernel's area. Computing m neighbouring outputs of a filter of r values
takes m + r - 1 multiplications and no fewer (S. Winograd, "Arithmetic Complexity of Computations", 1980), so that each
output takes at least one instead of r, along each axis; F(2x2, 3x3) of Lavin and Gray (arXiv 1509.09308) saves 2.25 of
the 9. The same holds for both gradients. Of matrices there are faster algorithms too (Strassen 1969 saves an eighth),
which no framework's library takes; `bakeoff.judge.light` has room for one level of it.
"""

from __future__ import annotations

import math
from itertools import zip_longest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop
from bakeoff.spec.peaks import Work
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.vocabulary import FUNCTIONS
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size

ITEM_BYTES = 4
"""Of a value of a batch, float32 or int32."""


def work_of(
    build: Callable[[Any, Size], Any], size: Size, scenario: Scenario, optimizer: Optimizer | None
) -> Work | None:
    """Return the work of one step on a batch of this size; None for a model that cannot be run over shapes."""
    trains = SCENARIOS[scenario].trains
    counter = _Counter(trains=trains)
    batch = {name: Shape((size.batch_size, *array.shape)) for name, array in size.sample.inputs.items()}
    try:
        build(counter.vocabulary(), size)(next(iter(batch.values())) if len(batch) == 1 else batch)
    except Exception:  # noqa: BLE001 - a user's model may do anything with an array, and then its work is not stated
        return None
    arrays = [*size.sample.inputs.values(), *(size.sample.targets.values() if trains else ())]
    return Work(
        macs=counter.macs,
        least_macs=counter.least_macs,
        parameters=counter.parameters,
        state=_kept(optimizer) * counter.parameters if trains else 0,
        batch_bytes=ITEM_BYTES * size.batch_size * sum(math.prod(array.shape) for array in arrays),
        trains=trains,
    )


def _kept(optimizer: Optimizer | None) -> int:
    """Return how many values an optimiser keeps for each parameter."""
    match optimizer:
        case Adam() | AdamW():
            return 2
        case RMSprop():
            return 1
        case SGD():
            return 1 if optimizer.momentum else 0
        case _:
            return 0


class Shape:
    """An array of which only the shape is known, and whether it depends on a parameter; maps have channels last."""

    def __init__(self, shape: Iterable[int], *, trained: bool = False) -> None:
        """Take the length of every axis."""
        self.shape = tuple(shape)
        self.trained = trained

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    def _with(self, other: Any) -> Shape:
        """Return what an operation on every element gives, with axes of length 1 broadcast."""
        if not isinstance(other, Shape):
            return self
        axes = list(zip_longest(reversed(self.shape), reversed(other.shape), fillvalue=1))
        if any(1 not in pair and pair[0] != pair[1] for pair in axes):
            msg = f"shapes {self.shape} and {other.shape} do not fit"
            raise ValueError(msg)
        return Shape((max(pair) for pair in reversed(axes)), trained=self.trained or other.trained)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _with

    def __neg__(self) -> Shape:
        """Return the same."""
        return self

    def __getitem__(self, index: Any) -> Shape:
        """Return what indices and slices leave of each axis."""
        places = index if isinstance(index, tuple) else (index,)
        if len(places) > self.ndim or not all(isinstance(place, int | slice) for place in places):
            msg = f"{index!r} is no index of an array of {self.ndim} axes"
            raise TypeError(msg)
        lengths: list[tuple[Any, Any]] = list(zip_longest(self.shape, places, fillvalue=slice(None)))
        kept = [len(range(length)[place]) for length, place in lengths if isinstance(place, slice)]
        return Shape(kept, trained=self.trained)

    def of(self, *shape: int) -> Shape:
        """Return another shape of the same dependence."""
        return Shape(shape, trained=self.trained)


class _Counter:
    """Counts while a model runs."""

    def __init__(self, *, trains: bool) -> None:
        self.macs = 0
        self.least_macs = 0
        self.parameters = 0
        self._trains = trains

    def vocabulary(self) -> SimpleNamespace:
        """Return the vocabulary: layers that count, and functions of shapes."""
        layers: dict[str, Any] = {"Module": _Module, "ModuleList": plan.ModuleList}
        layers |= {"Parameter": _Parameter, "Embedding": _Embedding}
        layers |= {name: _counting(kind, self) for name, kind in (("Linear", _Linear), ("Conv2d", _Conv2d))}
        layers |= {name: _same_layer(getattr(plan, name)) for name in ("LayerNorm", "BatchNorm", "Dropout")}
        functions = {name: getattr(_Functions, name, _first) for name in FUNCTIONS}
        counted = {"matmul": self.matmul, "attention": self.attention, "in_training": lambda _: self._trains}
        return SimpleNamespace(**layers, **functions | counted)

    def product(self, macs: int, operands: Iterable[bool], saved: int = 1) -> None:
        """Count a product and the gradients of those operands that depend on a parameter."""
        times = 1 + (sum(operands) if self._trains else 0)
        self.macs += times * macs
        self.least_macs += times * (macs // saved)

    def matmul(self, a: Shape, b: Shape) -> Shape:
        """Count a product of matrices, or of stacks of them."""
        stacks = Shape(a.shape[:-2], trained=a.trained) + Shape(b.shape[:-2], trained=b.trained)
        found = stacks.of(*stacks.shape, a.shape[-2], b.shape[-1])
        self.product(math.prod(found.shape) * a.shape[-1], (a.trained, b.trained))
        return found

    def attention(self, q: Shape, k: Shape, v: Shape) -> Shape:
        """Count both products of every head."""
        batch, length, heads, features = q.shape
        scores, are_trained = batch * heads * length * k.shape[1], q.trained or k.trained
        self.product(scores * features, (q.trained, k.trained))
        self.product(scores * v.shape[-1], (are_trained, v.trained))
        return Shape((batch, length, heads, v.shape[-1]), trained=are_trained or v.trained)


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


class _Embedding(plan.Embedding):
    """Rows by index; which of them a step reads hangs on the batch, so none is counted."""

    def __call__(self, x: Shape) -> Shape:
        """Add the axis of features."""
        return Shape((*x.shape, self.parameters["weight"].shape[1]), trained=True)


class _Weighted(plan.Layer):
    """A layer whose weight is multiplied with its input."""

    counter: _Counter
    read = False

    def count(self, macs: int, x: Shape, saved: int = 1) -> None:
        """Count the product, and the layer's parameters when it is first run."""
        self.counter.product(macs, (True, x.trained), saved)
        if not self.read:
            self.counter.parameters += sum(array.count for array in self.parameters.values())
        self.read = True


class _Linear(_Weighted, plan.Linear):
    """See the vocabulary."""

    def __call__(self, x: Shape) -> Shape:
        """Count one for each weight and position."""
        inputs, outputs = self.parameters["weight"].shape
        _check(x.shape[-1], inputs)
        self.count(math.prod(x.shape[:-1]) * inputs * outputs, x)
        return Shape((*x.shape[:-1], outputs), trained=True)


class _Conv2d(_Weighted, plan.Conv2d):
    """See the vocabulary."""

    def __init__(self, inputs: int, outputs: int, kernel: Any, stride: int = 1, padding: Any = 0, **more: Any) -> None:
        """Keep what the size of the result depends on."""
        super().__init__(inputs, outputs, kernel, stride, padding, **more)
        self.stride, self.padding = stride, padding

    def __call__(self, x: Shape) -> Shape:
        """Count one for each weight and place of the result."""
        height, width, inputs, outputs = self.parameters["weight"].shape
        _check(x.shape[-1], inputs)
        found = _slid(x, (height, width), self.stride, self.padding)
        places = math.prod(found.shape[:-1])
        self.count(places * height * width * inputs * outputs, x, saved=height * width)
        return Shape((*found.shape[:-1], outputs), trained=True)


def _counting(kind: type[_Weighted], counter: _Counter) -> type[_Weighted]:
    """Return a kind of layer that counts here."""
    return type(kind.__name__, (kind,), {"counter": counter})


def _same_layer(kind: type[plan.Layer]) -> type[plan.Layer]:
    """Return a kind of layer whose result has the shape of its input; one with parameters makes it depend on them."""

    def called(self: plan.Layer, x: Shape) -> Shape:
        return Shape(x.shape, trained=x.trained or bool(self.parameters))

    return type(kind.__name__, (kind,), {"__call__": called})


# --- Functions on shapes ------------------------------------------------------------------------------------------


class _Functions:
    """Functions of the vocabulary that change the shape; all others keep that of their first argument."""

    @staticmethod
    def max_pool2d(x: Shape, kernel: Any, stride: int | None = None, padding: Any = 0) -> Shape:
        """Return the places of the window."""
        return _slid(x, kernel, stride or kernel, padding)

    avg_pool2d = max_pool2d

    @staticmethod
    def global_avg_pool2d(x: Shape) -> Shape:
        """Return one value for each channel."""
        return x.of(x.shape[0], x.shape[-1])

    @staticmethod
    def flatten(x: Shape) -> Shape:
        """Return one axis behind the batch's."""
        return x.of(x.shape[0], math.prod(x.shape[1:]))

    @staticmethod
    def tokens(x: Shape) -> Shape:
        """Return one axis for all places."""
        return x.of(x.shape[0], math.prod(x.shape[1:-1]), x.shape[-1])

    @staticmethod
    def reshape(x: Shape, shape: Iterable[int]) -> Shape:
        """Return the shape, with the one length that may be -1."""
        wanted = list(shape)
        if -1 in wanted:
            wanted[wanted.index(-1)] = math.prod(x.shape) // -math.prod(wanted)
        _check(math.prod(wanted), math.prod(x.shape))
        return x.of(*wanted)

    @staticmethod
    def broadcast_to(x: Shape, shape: Iterable[int]) -> Shape:
        """Return the shape."""
        return x.of(*shape)

    @staticmethod
    def permute_dims(x: Shape, axes: Iterable[int]) -> Shape:
        """Return the axes in their new order."""
        return x.of(*(x.shape[axis] for axis in axes))

    @staticmethod
    def concat(arrays: Iterable[Shape], axis: int) -> Shape:
        """Return one axis as long as all of them."""
        parts = list(arrays)
        joined = list(parts[0].shape)
        joined[axis] = sum(part.shape[axis] for part in parts)
        return Shape(joined, trained=any(part.trained for part in parts))

    @staticmethod
    def concat_channels(maps: Iterable[Shape]) -> Shape:
        """Return all channels."""
        return _Functions.concat(maps, -1)

    @staticmethod
    def mean(x: Shape, axis: int | tuple[int, ...] | None = None) -> Shape:
        """Return what is left without these axes."""
        axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        dropped = {one % x.ndim for one in axes}
        return x.of(*(length for place, length in enumerate(x.shape) if place not in dropped))

    sum = mean


def _first(x: Shape, *_: Any, **__: Any) -> Shape:
    """Return the first argument."""
    return x


def _slid(x: Shape, kernel: Any, stride: Any, padding: Any) -> Shape:
    """Return the places of a window over a map that is padded on both sides."""
    batch, *lengths, channels = x.shape
    sides = zip(lengths, _pair(kernel), _pair(stride), _pair(padding), strict=True)
    places = [(length + 2 * edge - window) // step + 1 for length, window, step, edge in sides]
    return x.of(batch, *places, channels)


def _pair(number: Any) -> tuple[int, int]:
    """Return (vertical, horizontal)."""
    return number if isinstance(number, tuple) else (number, number)


def _check(found: int, expected: int) -> None:
    """Raise ValueError where a length is not the one that an operation takes."""
    if found != expected:
        msg = f"an axis of {found} stands where one of {expected} should"
        raise ValueError(msg)
