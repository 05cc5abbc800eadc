"""The vocabulary over shapes: runs a model's forward without numbers and counts its multiply-accumulates.

A second reading of the vocabulary, independent of any framework: a stride, a padding or a kernel that is not the
declared network's changes the count.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bakeoff.spec.vocabulary import VOCABULARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bakeoff.spec.workload import Size


class Shape:
    """An array of which only the shape is known; feature maps have channels last."""

    def __init__(self, *shape: int) -> None:
        """Take the length of every axis."""
        self.shape = shape

    def __add__(self, other: Any) -> Shape:
        """Broadcast axes of length 1, and no others; a number changes nothing."""
        if isinstance(other, int | float):
            return self
        missing = len(self.shape) - len(other.shape)
        other = Shape(*[1] * missing, *other.shape) if missing > 0 else other
        assert len(self.shape) == len(other.shape)
        pairs = list(zip(self.shape, other.shape, strict=True))
        assert all(mine == its or 1 in (mine, its) for mine, its in pairs), pairs
        return Shape(*map(max, pairs))

    __mul__ = __rmul__ = __truediv__ = __radd__ = __sub__ = __rsub__ = __add__

    def __neg__(self) -> Shape:
        """Change nothing."""
        return self

    def __getitem__(self, index: Any) -> Shape:
        """Drop the axes that have a number, and cut those that have a slice."""
        index = index if isinstance(index, tuple) else (index,)
        kept = [len(range(n)[i]) for n, i in zip(self.shape, index, strict=False) if isinstance(i, slice)]
        return Shape(*kept, *self.shape[len(index) :])


class Counter:
    """Counts while a model runs."""

    def __init__(self, *, training: bool) -> None:
        """Make the vocabulary of which every call is counted."""
        self.macs = 0
        self.training = training
        functions = {name: getattr(self, name, _same) for name in VOCABULARY}
        self.nn = SimpleNamespace(**functions | {"Module": _Module, "ModuleList": list})

    def Linear(self, inputs: Any, outputs: int, bias: bool = True) -> Callable[[Shape], Shape]:  # noqa: FBT001, FBT002, N802
        """Count one for each weight and position."""
        del bias

        def layer(x: Shape) -> Shape:
            features = math.prod(inputs) if isinstance(inputs, tuple) else inputs
            assert x.shape[-1] == features
            self.macs += math.prod(x.shape[:-1]) * features * outputs  # of one sample, whose axis may be joined
            return Shape(*x.shape[:-1], outputs)

        return layer

    def Conv2d(  # noqa: N802
        self, inputs: int, outputs: int, kernel: Any, stride: Any = 1, padding: Any = 0, **_: Any
    ) -> Callable[[Shape], Shape]:
        """Count one for each weight and place of the result."""

        def layer(x: Shape) -> Shape:
            assert x.shape[-1] == inputs
            found = _slid(x, kernel, stride, padding)
            self.macs += math.prod(found.shape[1:-1]) * math.prod(_pair(kernel)) * inputs * outputs
            return Shape(*found.shape[:-1], outputs)

        return layer

    def LSTM(self, inputs: int, hidden: int, bidirectional: bool = False, biases: int = 1) -> Callable[..., Any]:  # noqa: FBT001, FBT002, N802
        """Count one for each weight of the four gates and place, in each direction."""
        del biases
        directions = 2 if bidirectional else 1

        def layer(x: Shape, state: Any = None, lengths: Any = None) -> Any:
            del state, lengths
            assert x.shape[-1] == inputs
            self.macs += x.shape[1] * directions * 4 * hidden * (inputs + hidden)
            last = Shape(x.shape[0], directions * hidden)
            return Shape(*x.shape[:2], directions * hidden), (last, last)

        return layer

    def LSTMCell(self, inputs: int, hidden: int, biases: int = 1) -> Callable[..., Any]:  # noqa: N802
        """Count one for each weight of the four gates."""
        del biases

        def layer(x: Shape, state: Any) -> Any:
            del state
            assert x.shape[-1] == inputs
            self.macs += 4 * hidden * (inputs + hidden)
            return Shape(x.shape[0], hidden), Shape(x.shape[0], hidden)

        return layer

    def scan(self, step: Callable[[Any, Any], Any], state: Any, inputs: Shape) -> Any:
        """Count one step for each place: the first, times their number."""
        before = self.macs
        state, output = step(state, Shape(inputs.shape[0], *inputs.shape[2:]))
        self.macs += (inputs.shape[1] - 1) * (self.macs - before)
        each = output if isinstance(output, tuple) else (output,)
        stacked = tuple(Shape(one.shape[0], inputs.shape[1], *one.shape[1:]) for one in each)
        return state, stacked if isinstance(output, tuple) else stacked[0]

    def Conv1d(self, inputs: int, outputs: int, kernel: int, padding: int = 0, bias: bool = True) -> Any:  # noqa: FBT001, FBT002, N802
        """Count one for each weight and place; the padding keeps all places."""
        del bias
        assert padding == kernel // 2

        def layer(x: Shape) -> Shape:
            assert x.shape[-1] == inputs
            self.macs += x.shape[1] * kernel * inputs * outputs
            return Shape(*x.shape[:-1], outputs)

        return layer

    def matmul(self, a: Shape, b: Shape) -> Shape:
        """Count one for each product; the first axis may be the samples'."""
        assert a.shape[-1] == b.shape[-2]
        self.macs += math.prod(a.shape) * b.shape[-1]
        return Shape(*a.shape[:-1], b.shape[-1])

    def Parameter(self, shape: tuple[int, ...], std: float = 1.0) -> Shape:  # noqa: N802
        """Give its shape."""
        return Shape(*shape)

    def Embedding(self, entries: int, features: int, std: float = 1.0) -> Any:  # noqa: N802
        """Count the product with the table alone: rows by index are none."""
        return _Table(self, entries, features)

    def _layer_without_weights(self, *_: Any, **__: Any) -> Callable[[Shape], Shape]:
        return _same

    LayerNorm = BatchNorm = Dropout = _layer_without_weights

    def attention(self, q: Shape, k: Shape, v: Shape, **_: Any) -> Shape:
        """Count both products of every head; what a mask leaves out is counted, too."""
        assert k.shape == v.shape
        _, length, heads, features = q.shape
        self.macs += 2 * heads * length * k.shape[1] * features
        return q

    def sparse_matmul(self, x: Shape, rows: Shape, columns: Shape, values: Shape, count: int) -> Shape:
        """Count one for each element and feature."""
        assert rows.shape == columns.shape == values.shape
        self.macs += values.shape[0] * x.shape[1]
        return Shape(count, x.shape[1])

    segment_sum = staticmethod(lambda x, segments, count: Shape(count, *x.shape[1:]) if segments else x)

    @staticmethod
    def pad(x: Shape, widths: Any) -> Shape:
        """Make axes longer."""
        return Shape(*(n + sum(more) for n, more in zip(x.shape, widths, strict=True)))

    constant = staticmethod(lambda array: Shape(*array.shape))

    @staticmethod
    def take(table: Shape, indices: Shape) -> Shape:
        """Put the axes of the indices in the place of the first one."""
        return Shape(*indices.shape, *table.shape[1:])

    def in_training(self, module: Any) -> bool:
        """Give what was asked for."""
        del module
        return self.training

    max_pool2d = avg_pool2d = staticmethod(
        lambda x, kernel, stride=None, padding=0: _slid(x, kernel, stride or kernel, padding)
    )
    global_avg_pool2d = staticmethod(lambda x: Shape(x.shape[0], x.shape[-1]))
    flatten = staticmethod(lambda x: Shape(x.shape[0], math.prod(x.shape[1:])))
    tokens = staticmethod(lambda x: Shape(x.shape[0], math.prod(x.shape[1:-1]), x.shape[-1]))
    broadcast_to = staticmethod(lambda x, shape: Shape(*shape) if x else x)

    @staticmethod
    def reshape(x: Shape, shape: tuple[int, ...]) -> Shape:
        """See that nothing is lost."""
        if shape == (-1,):
            return Shape(math.prod(x.shape))
        assert math.prod(x.shape) == math.prod(shape)
        return Shape(*shape)

    @staticmethod
    def concat(arrays: list[Shape], axis: int) -> Shape:
        """Add up one axis."""
        joined = list(arrays[0].shape)
        joined[axis] = sum(array.shape[axis] for array in arrays)
        return Shape(*joined)

    @staticmethod
    def concat_channels(maps: list[Shape]) -> Shape:
        """Add up the channels of maps of one size."""
        (size,) = {x.shape[:-1] for x in maps}
        return Shape(*size, sum(x.shape[-1] for x in maps))

    @staticmethod
    def stack(arrays: list[Shape], axis: int) -> Shape:
        """Put a new axis behind the others."""
        assert axis == len(arrays[0].shape)
        return Shape(*arrays[0].shape, len(arrays))

    @staticmethod
    def split(x: Shape, sizes: tuple[int, ...], axis: int) -> list[Shape]:
        """Part one axis."""
        assert sum(sizes) == x.shape[axis]
        return [Shape(*x.shape[:axis], size, *x.shape[axis + 1 :]) for size in sizes]

    columns = staticmethod(lambda x: Shape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3]))
    column_mask = staticmethod(lambda x, lengths: Shape(lengths.shape[0], 1, x.shape[2], 1))

    @staticmethod
    def less(a: Shape, b: Shape) -> Shape:
        """Broadcast."""
        return b * a

    @staticmethod
    def where(condition: Shape, a: Shape, b: Any) -> Shape:
        """Choose from the first."""
        assert isinstance(b, int | float)
        return a + condition

    arange = staticmethod(Shape)

    @staticmethod
    def mean(x: Shape, axis: int | None = None) -> Shape:
        """Drop an axis."""
        if axis is None:
            return Shape()
        return Shape(*(n for place, n in enumerate(x.shape) if place != axis % len(x.shape)))

    sum = mean


class _Module:
    forward: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)


class _Table:
    """An embedding."""

    def __init__(self, counter: Counter, entries: int, features: int) -> None:
        self.counter, self.entries, self.features = counter, entries, features

    def __call__(self, x: Shape) -> Shape:
        return Shape(*x.shape, self.features)

    def attend(self, x: Shape) -> Shape:
        assert x.shape[-1] == self.features
        self.counter.macs += math.prod(x.shape[1:]) * self.entries
        return Shape(*x.shape[:-1], self.entries)


def _same(x: Shape, *_: Any) -> Shape:
    return x


def _pair(number: Any) -> tuple[int, int]:
    return number if isinstance(number, tuple) else (number, number)


def _slid(x: Shape, kernel: Any, stride: Any, padding: Any) -> Shape:
    """Give the places of a window over a map, padded on both sides."""

    def places() -> Iterator[int]:
        sides = zip(x.shape[1:3], _pair(kernel), _pair(stride), _pair(padding), strict=True)
        for length, window, step, edge in sides:
            yield (length + 2 * edge - window) // step + 1

    return Shape(x.shape[0], *places(), x.shape[3])


def macs(build: Callable[[Any, Size], Any], size: Size, *, training: bool = True) -> int:
    """Count the multiply-accumulates of one sample's forward pass, and of what a step collects before it."""
    counter = Counter(training=training)
    inputs = {name: Shape(1, *array.shape) for name, array in size.sample.inputs.items()}
    model = build(counter.nn, size)
    if size.collected:
        inputs |= model.collect(inputs)
        assert {name: inputs[name].shape[1:] for name in size.collected} == {
            name: array.shape for name, array in size.collected.items()
        }
    outputs = model(inputs if len(inputs) > 1 else next(iter(inputs.values())))
    for logits in outputs if isinstance(outputs, tuple) else (outputs,):
        assert not size.classes or logits.shape == (1, size.classes)
    return counter.macs
