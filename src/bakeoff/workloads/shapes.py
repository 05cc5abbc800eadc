"""Arrays of which only the shape and the layout are known: what a model's forward pass is run over before it starts.

Where a framework holds the channels of a map is its own: an axis that a model names by hand is another one elsewhere.
So each array here knows what it is, and every operation refuses what it has no one meaning for:

map     (batch, height, width, channels) in canonical layout; its axes have no numbers in a model
flat    a map behind `flatten`: the order of its features is the framework's, for a Linear((height, width, channels), n)
array   anything else; its axes are the same in every framework

Its values are real numbers in the step's precision, integers, or booleans. Frameworks differ in what they make of two
kinds together (TensorFlow refuses them, PyTorch converts, and divides integers to real numbers), so that is refused.
"""

from __future__ import annotations

import math
from contextvars import ContextVar
from itertools import zip_longest
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from bakeoff.workloads import shape_operators
from bakeoff.workloads.shape_operators import foreign
from bakeoff.workloads.steady import note
from bakeoff.workloads.synonyms import NUMPY, OF_MAPS, of_attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bakeoff.spec.batch import ArraySpec

LayoutError = shape_operators.LayoutError

MAP_AXES = 4
"""An array of a batch with so many axes is a feature map, by the convention of `spec.batch.Batch`."""

SEQUENCE_AXES = 3
"""Of a sequence: batch, length, features."""

Kind = Literal["map", "flat", "array"]

in_scan: ContextVar[tuple[object, ...]] = ContextVar("in_scan", default=())
"""The scans of which a step is being run, the innermost one last."""

in_loss: ContextVar[int] = ContextVar("in_loss", default=0)
"""How many samples the loss that is being run is of; 0: none is."""


def _second(compute: Callable[[Shape, Any], Shape]) -> Callable[..., Shape]:
    """Return the method of an operator whose array stands second, to which NumPy's numbers do not always leave it."""

    def reflected(self: Shape, other: Any) -> Shape:
        if isinstance(other, Real) and type(other).__module__ == "numpy":
            msg = f"NumPy's number {other} stands before {self!r}, and would compute; write float() or int() around it"
            raise LayoutError(msg)
        return compute(self, other)

    return reflected


class MapShape(tuple[int, ...]):
    """The shape of a feature map as a model sees it: which axis is which is each framework's own, but for the first."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        """Return the number of samples; raise LayoutError for the other axes."""
        if type(index) is int and index in (0, -len(self)):
            return super().__getitem__(0)
        return self._refuse()

    def __iter__(self) -> Iterator[int]:
        """Raise LayoutError."""
        return self._refuse()

    def _refuse(self) -> NoReturn:
        """Raise LayoutError, with what a model may ask."""
        msg = (
            f"an axis of a feature map {tuple.__repr__(self)} is asked for by its place: which axis holds its channels "
            "is each framework's own. x.shape[0] counts the samples, and height, width = nn.map_size(x); its channels "
            "are what the layers before make of the size's: write them as a number"
        )
        raise LayoutError(msg)


class Shape(shape_operators.RefusedOperators):
    """An array of which only the shape, the layout, and what it depends on are known."""

    def __init__(
        self,
        shape: Iterable[int],
        *,
        trained: bool = False,
        kind: Kind = "array",
        unfolded: tuple[int, ...] = (),
        integer: bool = False,
        boolean: bool = False,
    ) -> None:
        """Take the length of every axis; `unfolded` is the (height, width, channels) of a flat one."""
        self.made_in = in_scan.get()[-1:]
        """The scan in whose step it was made; none outside of any."""
        self.dims = tuple(shape)
        """The length of every axis."""
        self.trained = trained
        """Whether it depends on a parameter."""
        self.kind: Kind = kind
        self.unfolded = unfolded
        self.integer = integer
        self.boolean = boolean
        self.low = 0
        """Of integers whose range is known, the smallest."""
        self.high: int | None = None
        """Of these the first that is too large; None: the range is not known."""
        self.least: int | None = None
        """Of a batch's integers the smallest that is no padding."""
        self.is_counted = False
        """Whether they are those of nn.arange: a part of them may lack the first and the last."""
        self.known: NDArray[Any] | None = None
        """Of booleans and integers that follow from constants and nn.arange alone, the values; None: not known."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the length of every axis; of a feature map a model may ask for the number of samples alone."""
        return MapShape(self.dims) if self.kind == "map" else self.dims

    @property
    def values(self) -> str:
        """Return what its values are, in words."""
        return "booleans" if self.boolean else "integers" if self.integer else "real numbers"

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.dims)

    def __repr__(self) -> str:
        """Write it as "a feature map (8, 32, 32, 3)"."""
        what = {"map": "a feature map", "flat": "a flattened feature map", "array": "an array"}[self.kind]
        return f"{what} {self.dims}"

    def of(self, *shape: int) -> Shape:
        """Return an array of another shape that depends on the same, of values of the same kind."""
        return Shape(shape, trained=self.trained, integer=self.integer, boolean=self.boolean)

    def moved(self, *shape: int) -> Shape:
        """Return the same elements, or some of them, in another shape."""
        return self.of(*shape).ranged(self)

    def ranged(self, *parts: Shape) -> Shape:
        """Return this array of elements of these, with the range that all have together."""
        highs = [one.high for one in parts if one.high is not None and not one.is_counted]
        if self.integer and len(highs) == len(parts):
            self.low, self.high = min(one.low for one in parts), max(highs)
        return self

    def like(self, *, boolean: bool = False) -> Shape:
        """Return the same shape, of real numbers or of booleans; any layout is kept."""
        trained = self.trained and not boolean
        return Shape(self.dims, trained=trained, kind=self.kind, unfolded=self.unfolded, boolean=boolean)

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what arrays of some frameworks have, and those of others have not."""
        if name.startswith("__"):
            raise AttributeError(name)
        msg = f"arrays have no {name!r} in the vocabulary, but shape, ndim, indices, slices and + - * / **"
        raise LayoutError(msg + of_attribute(name))

    def __getitem__(self, index: Any) -> Shape:
        """Return what indices and slices leave of each axis."""
        self.check_place()
        places = index if isinstance(index, tuple) else (index,)
        note("an index", places)
        if len(places) > self.ndim or not all(type(place) is int or isinstance(place, slice) for place in places):
            msg = f"{index!r} is no index of {self!r}; indices are whole numbers and slices{_instead(places)}"
            raise LayoutError(msg)
        if self.kind != "array" and not (len(places) == 1 and isinstance(places[0], slice)):
            self.refuse("is indexed")
        if any(isinstance(place, slice) and isinstance(place.step, int) and place.step < 0 for place in places):
            msg = f"{index!r} of {self!r} goes backward, which not every framework has: nn.flip(x, axis)"
            raise LayoutError(msg)
        lengths: list[tuple[Any, Any]] = list(zip_longest(self.dims, places, fillvalue=slice(None)))
        for length, place in lengths:
            for end in (place.start, place.stop) if isinstance(place, slice) else (place, -1 - place):
                if isinstance(end, int) and end < -length:  # of slices, too: Jittor fails, others begin with the axis
                    msg = f"index {place} is beyond an axis of {length} of {self!r}"
                    raise LayoutError(msg)
        found = self.of(*(len(range(length)[place]) for length, place in lengths if isinstance(place, slice)))
        found.kind, found.unfolded = self.kind, self.unfolded
        found.least = self.least
        found.ranged(self)
        found.known = None if self.known is None else self.known[index]
        return found

    def check_place(self) -> None:
        """Raise LayoutError for an array that a step of a scan has made, outside of that scan."""
        if self.made_in and self.made_in[0] not in in_scan.get():
            msg = (
                f"{self!r} was made in a step of nn.scan and is used outside of it, where frameworks with a loop have "
                "no such array; return it from the step, as its output or in the state"
            )
            raise LayoutError(msg)

    def combined(self, other: Any) -> Shape:
        """Return what + - * give: both of one kind of values, with axes of length 1 broadcast."""
        for one in (self, other):
            if isinstance(one, Shape):
                one.check_place()
        if self.boolean or (isinstance(other, Shape) and other.boolean):
            msg = f"{self!r} of {self.values} is combined with {_told(other)}; nn.to_float(x) makes them 0.0 and 1.0"
            raise LayoutError(msg)
        if not isinstance(other, Shape):
            _check_number(other)
            note("a number", other)
            if self.integer and not isinstance(other, Integral):
                msg = f"{self!r} of integers is combined with {other!r}; nn.to_float(x) makes them real numbers"
                raise LayoutError(msg)
            return self
        if self.integer != other.integer:
            msg = (
                f"{self!r} of {self.values} is combined with {_told(other)}; nn.to_float(x) makes integers real numbers"
            )
            raise LayoutError(msg)
        return self.broadcast_with(other)

    def _divided(self, other: Any) -> Shape:
        """Return what / and ** give: of integers frameworks give integers, or real numbers of one type or another."""
        if self.integer:
            msg = f"{self!r} of integers is divided, or a power is taken; nn.to_float(x) makes them real numbers"
            raise LayoutError(msg)
        return self.combined(other)

    def broadcast_with(self, other: Shape) -> Shape:
        """Return the shape of both together, with axes of length 1 broadcast, whatever their values are."""
        first, second = (self, other) if self.kind != "array" else (other, self)
        kind, unfolded = first.kind, first.unfolded
        if (first.kind, first.unfolded) != (second.kind, second.unfolded) and not _is_column(second, first.ndim):
            first.refuse(f"is combined with {second!r}")
        axes = list(zip_longest(reversed(self.dims), reversed(other.dims), fillvalue=1))
        if any(1 not in pair and pair[0] != pair[1] for pair in axes):
            hint = "; one number a sample is nn.per_channel of (batch, 1)" if "map" in {self.kind, other.kind} else ""
            msg = f"shapes {self.dims} and {other.dims} do not fit{hint}"
            raise LayoutError(msg)
        samples = in_loss.get()
        if samples > 1 and {self.dims, other.dims} == {(samples, 1), (samples,)}:
            msg = (
                f"{self.dims} with {other.dims} makes ({samples}, {samples}): each sample meets every other one's. "
                f"nn.reshape(x, ({samples},)) takes one number a sample; where all pairs are meant, "
                f"nn.reshape(x, (1, {samples})) says so"
            )
            raise LayoutError(msg)
        lengths = tuple(b if a == 1 else a for a, b in reversed(axes))
        trained, integer = self.trained or other.trained, self.integer and other.integer
        return Shape(lengths, trained=trained, kind=kind, unfolded=unfolded, integer=integer)

    def _ranged(self, other: Any, compute: Callable[[Any], Any]) -> Shape:
        """Return what + - * give; of integers and a number with the range and the values that it makes of them."""
        found = self.combined(other)
        if found is not self or (self.high is None and self.known is None):
            return found
        found = Shape(self.dims, kind=self.kind, unfolded=self.unfolded, integer=True)
        found.known = None if self.known is None else compute(self.known)
        if self.high is not None:
            ends = [int(compute(end)) for end in (self.low, self.high - 1)]
            found.low, found.high, found.is_counted = min(ends), max(ends) + 1, self.is_counted
        return found

    def __add__(self, other: Any) -> Shape:
        """Add."""
        return self._ranged(other, lambda one: one + other)

    def __sub__(self, other: Any) -> Shape:
        """Subtract."""
        return self._ranged(other, lambda one: one - other)

    def _taken_from(self, other: Any) -> Shape:
        """Subtract from a number."""
        return self._ranged(other, lambda one: other - one)

    def __mul__(self, other: Any) -> Shape:
        """Multiply."""
        return self._ranged(other, lambda one: one * other)

    def __truediv__(self, other: Any) -> Shape:
        """Divide; raise LayoutError for a zero, which leaves infinities that no certificate can compare."""
        if isinstance(other, int | float) and other == 0:
            msg = f"{self!r} is divided by {other!r}, which leaves infinities and NaN alone"
            raise LayoutError(msg)
        return self._divided(other)

    __radd__, __rsub__, __rmul__, __rtruediv__ = map(_second, (__add__, _taken_from, __mul__, _divided))
    __pow__ = _divided

    def __neg__(self) -> Shape:
        """Return the same; booleans have no sign."""
        return self * -1

    def refuse(self, how: str, of_maps: str = "") -> NoReturn:
        """Raise LayoutError: the order of its axes, or of its features, is each framework's own."""
        if self.kind == "map":
            msg = (
                f"{self!r} {how}: which axis holds its channels is each framework's own. A map goes with maps of its "
                "shape, numbers, and nn.per_channel(v) of one number a channel; nn.tokens(x) makes it an array (batch, "
                f"height * width, channels){of_maps and f'. For maps there is {of_maps}'}"
            )
        else:
            height, width, channels = self.unfolded
            msg = (
                f"{self!r} {how}: the order of its features is each framework's own. It goes into "
                f"nn.Linear(({height}, {width}, {channels}), ...); nn.flatten(nn.tokens(x)) has one order in all"
            )
        raise LayoutError(msg)


def of_batch(array: ArraySpec, samples: int) -> Shape:
    """Return an array of a batch: a feature map where it has four axes."""
    shape = (samples, *array.shape)
    kind: Kind = "map" if len(shape) == MAP_AXES else "array"
    found = Shape(shape, kind=kind, integer=array.dtype == "int32", boolean=array.dtype == "bool")
    if found.integer:
        # Padding is zeros.
        found.low, found.high = min(array.low, 0) if array.length else array.low, array.high
        found.least = array.low
    return found


def check_kind(function: str, x: Any, kind: Kind) -> None:
    """Raise LayoutError where a function that takes arrays, or maps, is called with anything else."""
    if not isinstance(x, Shape):
        msg = f"nn.{function} takes an array of the model; this is {foreign(x)}"
        raise LayoutError(f"{msg}. {NUMPY}" if type(x).__module__ == "numpy" else msg)
    if x.kind == kind:
        return
    if kind == "array":
        x.refuse(f"is given to nn.{function}", OF_MAPS.get(function, ""))
    msg = f"nn.{function} takes a feature map, as a batch's images or Conv2d give it; this is {x!r}"
    raise LayoutError(msg)


def elementwise(function: str, x: Any, /) -> Shape:
    """Return what a function of every real number gives: any layout is kept."""
    if not isinstance(x, Shape):
        check_kind(function, x, "array")
    check_real(function, x)
    found: Shape = x.like()
    return found


def check_real(function: str, x: Shape) -> None:
    """Raise LayoutError for an array of integers or booleans, where a function takes real numbers."""
    if x.integer or x.boolean:
        msg = f"nn.{function} takes real numbers; this is {x!r} of {x.values}: nn.to_float(x) makes them real numbers"
        raise LayoutError(msg)


def check_length(what: str, found: int, expected: int) -> None:
    """Raise LayoutError where an axis has not the length that a layer was made for."""
    if found != expected:
        msg = f"{what}: made for {expected}, given {found}"
        raise LayoutError(msg)


def _is_column(x: Shape, axes: int) -> bool:
    """Return whether an array has one number for each sample, or one at all: it means the same in every layout."""
    return x.kind == "array" and (math.prod(x.dims) == 1 or (x.ndim == axes and math.prod(x.dims[1:]) == 1))


def _instead(places: tuple[Any, ...]) -> str:
    """Return what to do in place of an index that NumPy has, and the vocabulary has not."""
    if any(place is None for place in places):
        return "; nn.reshape(x, shape) adds an axis of length 1"
    if any(isinstance(place, Shape) for place in places):
        return (
            "; nn.take(x, indices, axis) takes what stands at integers, nn.where(condition, a, b) chooses by booleans"
        )
    if any(isinstance(place, str) for place in places):
        return "; what comes alone, a single input or target, is the array itself and has no name"
    if any(place is Ellipsis for place in places):
        return "; say a slice for each axis: x[:, :, 0]"
    return ""


def _told(other: Any) -> str:
    """Write an operand with what its values are."""
    return f"{other!r} of {other.values}" if isinstance(other, Shape) else repr(other)


def _check_number(other: Any) -> None:
    """Raise LayoutError for an operand that is neither an array nor a number."""
    if isinstance(other, bool) or not isinstance(other, Real):
        msg = f"an array is combined with {foreign(other)}; it goes with arrays of the model and with numbers"
        if type(other).__module__ == "numpy":
            msg += f". {NUMPY}"
        elif isinstance(other, tuple):
            msg += ". What a layer gives several of is taken apart first: sequence, state = self.lstm(x)"
        raise LayoutError(msg)
