"""Run a model's forward pass and its loss over shapes: without numbers and without a framework.

So a mistake in a user's model is found, with its line, before anything is started: an argument or a shape that does not
fit, an axis of a feature map that is named by hand. On the way a `Counter` gets every product.
"""

from __future__ import annotations

from contextlib import contextmanager
from fnmatch import fnmatchcase
from inspect import signature, unwrap
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.optimizer import frozen_of, trained_of
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.vocabulary import FUNCTIONS, LOSSES
from bakeoff.workloads import plan, shape_layers, shape_map_functions, shape_maps, shape_recurrent
from bakeoff.workloads.draws import check_drawing
from bakeoff.workloads.layers import constant
from bakeoff.workloads.losses import given_inputs
from bakeoff.workloads.mistakes import contained, told
from bakeoff.workloads.shape_functions import Counter, Functions, Losses
from bakeoff.workloads.shapes import MAP_AXES, LayoutError, Shape, in_loss, of_batch
from bakeoff.workloads.steady import check_same, kept, note, noted, noting, twice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bakeoff.spec.batch import ArraySpec
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size
    from bakeoff.workloads.load import LoadedWorkload

    Build = Callable[[Any, Size], Any]
    Entries = Mapping[str, int]
    Step = Callable[[], Any]

_LAYERS = (*shape_layers.LAYERS, *shape_maps.LAYERS, *shape_recurrent.LAYERS)


def check_model(loaded: LoadedWorkload, size: Size, scenario: Scenario, entries: Entries | None = None) -> None:
    """Run a workload's model and loss over shapes; raise ModelFileError, with the line, for what cannot be.

    The batch may be a shorter one, whose sequences have so many `entries`.
    """
    check_drawing(loaded.build.__code__.co_filename, lambda: _check(loaded, size, scenario, entries))


def _check(loaded: LoadedWorkload, size: Size, scenario: Scenario, entries: Entries | None) -> None:
    """Run model and loss; at the size's own lengths twice more, since a step may be another one than the one before."""
    parameters = plan.parameters(loaded.build, size)
    path = loaded.build.__code__.co_filename
    _check_count(loaded, size, sum(array.count for array in parameters.values()))
    _check_groups(loaded, list(parameters))
    trains, loss = SCENARIOS[scenario].trains, loaded.loss
    at = _forward_at(loaded.build, size)
    with told(path, "forward"):
        outputs = forward(loaded.build, size, Counter(), trains=False, entries=entries)
    _check_outputs(at, outputs, size)
    if not trains or loss is None:
        if not entries:
            _check_forward(loaded.build, size, at, trains=trains)
        return
    sample = size.sample.cut(entries or {})
    inputs, targets = (on_shapes(arrays, size) for arrays in (sample.inputs | size.collected, sample.targets))
    counter = Counter()
    counter.is_training = True
    counter.frozen = frozen = frozenset(frozen_of(loaded.workload.optimizer, parameters))
    with told(path, "forward"):
        outputs = forward(loaded.build, size, counter, trains=True, entries=entries)
    if SCENARIOS[scenario].per_sample:
        _check_one_sample(loaded.build, size, at, outputs)
    counter = Counter()
    counter.is_built, counter.is_cut = True, bool(entries)
    counter.is_per_sample = SCENARIOS[scenario].per_sample
    compute, nn = given_inputs(loss), vocabulary(counter, trains=True)
    with _in_loss(path, size):
        found = compute(nn, outputs, targets, inputs)
    line = loss.__code__.co_firstlineno
    _check_loss(found, f"{path}:{line}", is_partly_frozen=bool(frozen))
    if entries:
        return
    _check_forward(loaded.build, size, at, trains=True)
    with noting(path):
        nn = vocabulary(counter, trains=True)
    with _in_loss(path, size):
        runs = twice(path, lambda: compute(nn, outputs, targets, inputs), lambda: kept(loss))
    check_same(path, f"{path}:{line}: in loss", runs)


@contextmanager
def _in_loss(path: str, size: Size) -> Iterator[None]:
    """Run a loss over shapes of a batch of this size within it; raise ModelFileError, with the line, where it fails."""
    token = in_loss.set(size.batch_size)
    try:
        with told(path, "loss"):
            yield
    finally:
        in_loss.reset(token)


def _check_one_sample(build: Build, size: Size, at: str, outputs: Any) -> None:
    """Raise ModelFileError where the outputs have another axis that counts samples: no loss is one sample's then."""
    single = msgspec.structs.replace(size, batch_size=1)
    try:
        with told(build.__code__.co_filename, "forward"):
            one = forward(lambda nn, _: build(nn, size), single, Counter(), trains=True)
    except ModelFileError as error:
        msg = f"{error} (with per-sample gradients each sample is a batch of its own)"
        raise ModelFileError(msg) from None
    if isinstance(outputs, Shape) and isinstance(one, Shape) and outputs.dims[1:] != one.dims[1:]:
        msg = (
            f"{at}: the model returns {outputs!r} for {size.batch_size} samples and {one!r} for one: each sample is "
            "held against the others, and with per-sample gradients there is no other; race it in the scenario train"
        )
        raise ModelFileError(msg)


def _check_loss(found: Any, at: str, *, is_partly_frozen: bool) -> None:
    """Raise ModelFileError unless a loss is one number that hangs on a parameter that is trained."""
    what = "parameter that is trained" if is_partly_frozen else "parameter"
    if not isinstance(found, Shape) or found.dims != ():
        msg = f"{at}: loss returned {found!r}; it must return one number that hangs on a {what}"
        raise ModelFileError(msg)
    if not found.trained:
        msg = (
            f"{at}: loss returned one number, which hangs on no {what}: it is not made of the outputs, or a gradient "
            "ends on the way, as in nn.stop_gradient, nn.argmax, nn.to_float and comparisons"
        )
        raise ModelFileError(msg)


def _check_forward(build: Build, size: Size, at: str, *, trains: bool) -> None:
    """Run a model twice; raise UnsteadyError where the second step would be another one."""
    path = build.__code__.co_filename
    counter = Counter()
    inputs = on_shapes(size.sample.inputs | size.collected, size)
    with told(path, "forward"):
        with noting(path):
            model = build(vocabulary(counter, trains=trains), size)
        counter.is_built = True
        _name(model, counter)
        modules = [(name, part) for name, part in plan.walk(model, "") if isinstance(part, plan.Module)]

        def step() -> None:
            if size.collected:
                _check_collected(model, on_shapes(size.sample.inputs, size), size, counter)
            model(inputs)

        runs = twice(path, step, lambda: kept(build, modules))
    check_same(path, at, runs)


def _check_count(loaded: LoadedWorkload, size: Size, count: int) -> None:
    """Raise ModelFileError for a declared number of parameters that the model does not have."""
    if size.parameters is not None and size.parameters != count:
        msg = (
            f"{loaded.path}: WORKLOAD: a size declares {size.parameters:,} parameters; the model has {count:,} in it. "
            "Mend either, or leave the number out"
        )
        raise ModelFileError(msg)


def _check_groups(loaded: LoadedWorkload, parameters: list[str]) -> None:
    """Raise ModelFileError for a pattern that names no parameter or changes none, or where none is left to be trained.

    A frozen parameter has no decay and no rate, and a rate is that of the first pattern that matches.
    """
    if (optimizer := loaded.workload.optimizer) is None:
        return
    some = ", ".join(parameters[:4]) + (", ..." if len(parameters) > 4 else "")  # noqa: PLR2004 - enough to see
    rates, trained = [one for one, _ in optimizer.rates], trained_of(optimizer, parameters)
    asked: list[tuple[str, str, list[str]]] = [
        (field, pattern, []) for field in ("frozen", "no_decay") for pattern in getattr(optimizer, field)
    ]
    asked += [("rates", pattern, rates[:place]) for place, pattern in enumerate(rates)]
    for field, pattern, earlier in asked:
        named = [name for name in parameters if fnmatchcase(name, pattern)]
        left = named if field == "frozen" else [name for name in named if name in trained]
        if any(not any(fnmatchcase(name, other) for other in earlier) for name in left):
            continue
        fault = "is the name of no parameter; they are called " + some
        if named:
            fault = "names frozen parameters alone" if not left else "names none that an earlier pattern does not"
            fault += ", and changes nothing; take it out, or put it before"
        msg = f"{loaded.path}: WORKLOAD: optimizer.{field} has {pattern!r}, which {fault}"
        raise ModelFileError(msg)
    if parameters and not trained:
        msg = (
            f"{loaded.path}: WORKLOAD: optimizer.frozen names every parameter, so that nothing is trained; leave out "
            f"those that are, of {some}"
        )
        raise ModelFileError(msg)


def forward(build: Build, size: Size, counter: Counter, *, trains: bool, entries: Entries | None = None) -> Any:
    """Return the outputs of a model over shapes, on such a batch; raises whatever the model does."""
    return stepping(build, size, counter, trains=trains, entries=entries)()


@contained()
def stepping(build: Build, size: Size, counter: Counter, *, trains: bool, entries: Entries | None = None) -> Step:
    """Return what runs one model over shapes, on a batch whose sequences have so many `entries`, whenever called."""
    model = build(vocabulary(counter, trains=trains), size)
    counter.is_built, counter.is_cut = True, bool(entries)
    counter.held = frozenset(id(part) for _, part in plan.walk(model, ""))
    if counter.frozen:
        _name(model, counter)
    inputs = size.sample.cut(entries or {}).inputs

    def step() -> Any:
        if size.collected:
            _check_collected(model, on_shapes(inputs, size), size, counter)
        return model(on_shapes(inputs | size.collected, size))

    return contained()(step)


def _name(model: Any, counter: Counter) -> None:
    """Have every layer know what its parameters are called, and every parameter whether it is trained."""
    for name, part in plan.walk(model, ""):
        if isinstance(part, shape_layers.Counted):
            part.path = name
        elif isinstance(part, shape_layers.Parameter):
            part.trained = name not in counter.frozen


def _check_collected(model: Any, inputs: Any, size: Size, counter: Counter) -> None:
    """Run a model's `collect` over shapes; raise LayoutError where it does not return what the size declares."""
    counter.is_collecting = True
    found = model.collect(inputs)
    counter.is_collecting = False
    expected = {name: of_batch(array, size.batch_size) for name, array in size.collected.items()}
    if not isinstance(found, dict) or found.keys() != expected.keys():
        told = ", ".join(found) if isinstance(found, dict) else repr(found)
        msg = f"collect returned {told}; the size declares {', '.join(expected)}: return a dict of these"
        raise LayoutError(msg)
    for name, one in found.items():
        if not isinstance(one, Shape) or (one.dims, one.kind) != (expected[name].dims, expected[name].kind):
            msg = f"collect returned {one!r} as {name!r}; the size declares {expected[name]!r}"
            raise LayoutError(msg)


def on_shapes(arrays: dict[str, ArraySpec], size: Size) -> Shape | dict[str, Shape]:
    """Return a batch's inputs or targets as a model or a loss is called with them."""
    return _one_or_named({name: of_batch(array, size.batch_size) for name, array in arrays.items()})


def vocabulary(counter: Counter, *, trains: bool) -> plan.Vocabulary:
    """Return the vocabulary: layers that count, and functions of shapes."""
    layers: dict[str, Any] = {
        kind.__name__: type(kind.__name__, (_base_of(kind), kind), {"counter": counter}) for kind in _LAYERS
    }
    layers |= {"Module": type("Module", (_Module,), {"counter": counter}), "ModuleList": plan.ModuleList}

    def in_training(module: Any, /) -> bool:
        del module  # the whole model is in one phase
        return trains

    in_training.__qualname__ = "in_training"  # as a mistake in its arguments is told
    more = shape_map_functions.FUNCTIONS | {"scan": shape_recurrent.scan, "in_training": in_training}
    functions = {
        name: noted(name, getattr(Functions(counter), name), _check_places) for name in FUNCTIONS.keys() - more
    }
    losses = {name: noted(name, getattr(Losses(counter), name), _check_places) for name in LOSSES}
    return plan.Vocabulary(**layers, **functions, **more, **losses)


def _check_places(arguments: Any) -> None:
    """Raise LayoutError for an array among these that is used outside of the scan whose step has made it."""
    for one in arguments:
        if isinstance(one, Shape):
            one.check_place()
        elif isinstance(one, tuple | list):
            _check_places(one)


def _one_or_named(arrays: dict[str, Shape]) -> Shape | dict[str, Shape]:
    """Return the array where there is one, else all by name: what a model is called with, and a loss."""
    return next(iter(arrays.values())) if len(arrays) == 1 else _NamedArrays(arrays)


def _forward_at(build: Build, size: Size) -> str:
    """Return the file and the line of a model's own forward, as every mistake in it begins.

    Raises ModelFileError for a forward that does not take the inputs alone.
    """
    model = plan.built(build, vocabulary(Counter(), trains=False), size)
    # A callable that is no function has no line: then it is that of build.
    code = getattr(unwrap(type(model).forward), "__code__", build.__code__)
    at = f"{code.co_filename}:{code.co_firstlineno}: in forward"
    try:
        signature(model.forward).bind("the inputs")
    except TypeError:
        msg = (
            f"{at}: it takes {signature(model.forward)}, and a model is called with its inputs alone: "
            "forward(self, x). Of several inputs each is taken by its name, x['name']; labels reach the loss"
        )
        raise ModelFileError(msg) from None
    return at


def _check_outputs(at: str, outputs: Any, size: Size) -> None:
    """Raise ModelFileError unless the outputs are one array, samples first, whose axes all frameworks have alike."""
    try:
        _check_layout(outputs, size)
    except LayoutError as error:
        msg = f"{at}: {error}"
        raise ModelFileError(msg) from error


def _check_layout(outputs: Any, size: Size) -> None:
    """Raise LayoutError unless the outputs are one array, samples first, whose axes all frameworks have alike."""
    if not isinstance(outputs, Shape):
        more = "more only where nn.in_training(self) is true, of several heads all in one, as by nn.concat(arrays, 1)"
        msg = f"a model returns one array in evaluation, {more}; this one returned {outputs!r}"
        raise LayoutError(msg)
    if outputs.kind == "flat":
        outputs.refuse("is what the model returns")
    if outputs.kind == "array" and outputs.ndim == MAP_AXES:
        msg = f"the model returns {outputs!r}, which would be taken for a feature map; reshape it to three axes"
        raise LayoutError(msg)
    if outputs.dims[:1] != (size.batch_size,):
        msg = f"the model returns {outputs!r} for {size.batch_size} samples; its first axis must count them"
        raise LayoutError(msg)


class _NamedArrays(dict[str, Shape]):
    """The inputs or the targets by name."""

    def __repr__(self) -> str:
        """Return all, or that there are none, as of a size without targets."""
        return super().__repr__() if self else "nothing, since the size declares neither classes nor targets"

    def __missing__(self, name: object) -> NoReturn:
        """Raise LayoutError, which lists the names that there are."""
        msg = f"the size declares no array {name!r} here; it declares {', '.join(self) or self}"
        raise LayoutError(msg)


class _MadeWithTheModel:
    """What every layer is: a model has it before its first step, or nothing trains it."""

    counter: Counter

    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        """Make one while the model is built; raise LayoutError later."""
        if cls.counter.is_built and not issubclass(cls, constant):  # which says what else there is
            msg = (
                f"nn.{cls.__name__} is a layer: make it once, while the model is built, as an attribute "
                f"(self.layer = nn.{cls.__name__}(...) in __init__), and use that in forward"
            )
            raise LayoutError(msg)
        note(cls.__name__, arguments, tuple(named.items()))
        return super().__new__(cls)


class _CalledLayer(_MadeWithTheModel):
    """What a layer is that a model calls."""

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Compute; raise LayoutError where frameworks would not find the layer, or not the array."""
        name = type(self).__name__
        if not arrays:
            msg = f"nn.{name} is called without an array; names of arguments differ by framework: self.layer(x)"
            raise LayoutError(msg)
        self.counter.check_held(self, "called")
        note(f"nn.{name}", getattr(self, "path", ""))
        _check_places((*arrays, *named.values()))
        return super().__call__(*arrays, **named)  # type: ignore[misc]


def _base_of(kind: type) -> type[_MadeWithTheModel]:
    """Return what a layer is beside its kind: a Parameter and a constant are not called."""
    return _CalledLayer if any("__call__" in vars(base) for base in kind.__mro__) else _MadeWithTheModel


class _Module(plan.Module):
    """A model or a part of one, which can be called."""

    counter: Counter
    forward: Callable[..., Any]

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; raise LayoutError for an array of a forward pass, which the next one must not find."""
        every = value if isinstance(value, tuple | list) else (value,)
        if self.counter.is_built and any(isinstance(one, Shape) for one in every):
            msg = (
                f"self.{name} is set to {value!r}: a model keeps no array from one step to the next, and a compiled "
                "step does not set any; take a variable, return it, or hand it on as the state of nn.scan"
            )
            raise LayoutError(msg)
        super().__setattr__(name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the forward pass."""
        return self.forward(*args, **kwargs)
