"""One layer or part of a model as a workload of its own, on inputs of the shapes that it has in the whole.

Its time is its own: parts that were raced alone do not add up to the whole, in which a compiler fuses across them, and
where neighbours find their inputs in the cache.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.errors import ModelFileError, UnknownNameError, UsageError
from bakeoff.spec.workload import Size, Workload
from bakeoff.workloads import plan
from bakeoff.workloads.interpreter import on_shapes, vocabulary
from bakeoff.workloads.load import load
from bakeoff.workloads.shape_functions import Counter
from bakeoff.workloads.shapes import MAP_AXES, Shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.workloads.load import LoadedWorkload

WHOLE_SIZE = "size_of_the_whole"
"""The key in a size's config that names the size of the whole model."""

OUTPUT = "y"

SCALE_STD = 0.1
"""Of the number that inputs are multiplied by: any that is not zero makes their gradient part of the step."""


class PartCall(NamedTuple):
    """How a model calls one of its parts."""

    arguments: list[Any]
    """Arrays as shapes; anything else as it is."""
    named: dict[str, Any]
    result: Any

    @property
    def inputs(self) -> dict[str, Shape]:
        """Return the arrays by names: x0, x1 in their order, and those that are named by their own."""
        placed = {f"x{place}": one for place, one in enumerate(self.arguments)}
        return {name: one for name, one in (placed | self.named).items() if isinstance(one, Shape)}

    @property
    def output(self) -> Any:
        """Return what it gives, the first where that is several."""
        return self.result[0] if isinstance(self.result, tuple) else self.result


def text_of(loaded: LoadedWorkload, path: str) -> str:
    """Return the workload's file of the part at a path, such as "stages.2.first"; raise where it cannot be alone."""
    layer_alone(str(loaded.path), path, loaded.sha256)  # raises for a path that is none
    return (
        f'"""{path} of {loaded.workload.name}, alone."""\n\n'
        "from bakeoff.workloads.alone import layer_alone\n\n"
        f"WORKLOAD, build, loss = layer_alone(\n    {str(loaded.path)!r},\n    {path!r},\n    {loaded.sha256!r},\n)\n"
    )


def layer_alone(
    whole: str, path: str, sha256: str
) -> tuple[Workload, Callable[[Any, Size], Any], Callable[[Any, Any, Any], Any]]:
    """Return WORKLOAD, build and loss of the part at a path of the workload in a file.

    Raises ModelFileError where that file is not the one that it was made of, UnknownNameError for a path that is none,
    UsageError for a part that cannot be run alone.
    """
    loaded = load(whole)
    if loaded.sha256 != sha256:
        msg = (
            f"{whole} has changed since {path} was taken from it: name the layer again, bakeoff run ... --layer {path}"
        )
        raise ModelFileError(msg)
    calls = {name: call_of(loaded, name, path) for name in loaded.workload.sizes}
    sizes = {name: _size(loaded.workload.sizes[name], name, call) for name, call in calls.items()}
    flat = {name for name, one in next(iter(calls.values())).inputs.items() if one.kind == "flat"}
    trained = {name for name, one in next(iter(calls.values())).inputs.items() if one.trained}
    alone = msgspec.structs.replace(
        loaded.workload,
        name=name_of(loaded, path),
        summary=f"{path} of {loaded.workload.name}, alone",
        sizes=sizes,
        scenarios=tuple(one for one in loaded.workload.scenarios if one in ("train", "infer")),
        data=("synthetic",),
        learning_steps=0,
        optimizer=_without_patterns(loaded.workload.optimizer),
    )
    return alone, _build(loaded, path, flat, trained), _loss


def name_of(loaded: LoadedWorkload, path: str) -> str:
    """Return the name of the part at a path as a workload."""
    return "-".join([loaded.workload.name, *re.findall("[a-z0-9]+", path.lower())])


def call_of(loaded: LoadedWorkload, size_name: str, path: str) -> PartCall:
    """Return how a model of this size calls the part at a path the first time, over shapes; raise as `layer_alone`."""
    size, counter = loaded.size(size_name), Counter()
    model = plan.built(loaded.build, vocabulary(counter, trains=True), size)
    parts = dict(plan.walk(model, ""))
    if path not in parts or parts[path] is model:
        kind = f"layer of {loaded.workload.name}"
        raise UnknownNameError(kind, path, [name for name, part in parts.items() if _can_be_called(part, model)])
    calls: list[PartCall] = []
    _noting(parts[path], calls)
    counter.is_built = True
    model(on_shapes(size.sample.inputs, size))
    if not calls:
        msg = f"{loaded.workload.name} does not call {path} in its forward pass; name a layer that it calls"
        raise UsageError(msg)
    _check(calls[0], path, size)
    return calls[0]


def _can_be_called(part: Any, model: Any) -> bool:
    """Return whether a part is a layer or a module with a forward pass, and not the whole."""
    return part is not model and callable(part)


def _noting(part: Any, calls: list[PartCall]) -> None:
    """Have a part note how it is called, in every way a call is made."""
    kind = type(part)
    if not callable(part):
        msg = f"nn.{kind.__name__} is no layer that a model calls; name one that has a forward pass"
        raise UsageError(msg)

    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        result = kind.__call__(self, *arguments, **named)
        calls.append(PartCall(list(arguments), named, result))
        return result

    part.__class__ = type(kind.__name__, (kind,), {"__call__": called})


def _check(call: PartCall, path: str, size: Size) -> None:
    """Raise UsageError for a part whose inputs cannot be drawn, or whose output is no array."""
    output = call.output
    for what, one in ({"what it gives": output} | call.inputs).items():
        why = _why_not(one, size)
        if why:
            msg = f"{path} cannot be raced alone: {what} is {one!r}, {why}; name a layer around or within it"
            raise UsageError(msg)
    if not call.inputs or output.integer or output.boolean:
        msg = f"{path} cannot be raced alone: it makes no real numbers of arrays; name a layer around or within it"
        raise UsageError(msg)


def _why_not(one: Any, size: Size) -> str:
    """Return why an array cannot be one of a batch; empty where it can."""
    if not isinstance(one, Shape):
        return "no array"
    if one.dims[:1] != (size.batch_size,):
        return "whose first axis does not count the samples"
    if one.boolean:
        return "booleans, which no data source draws with a meaning"
    if one.integer and one.high is None:
        return "integers of which nobody knows the range"
    if one.kind == "array" and one.ndim == MAP_AXES:
        return "which would be taken for a feature map"
    return ""


def _size(whole: Size, name: str, call: PartCall) -> Size:
    """Return the size of a part in a size of the whole."""
    return Size(
        batch_size=whole.batch_size,
        inputs={one: _spec(shape) for one, shape in call.inputs.items()},
        targets={OUTPUT: _spec(call.output)},
        config=whole.config | {WHOLE_SIZE: name},
    )


def _spec(shape: Shape) -> ArraySpec:
    """Return an array of a batch as a data source draws it: of a flattened map, the map."""
    own = shape.unfolded if shape.kind == "flat" else shape.dims[1:]
    if shape.integer:
        return ArraySpec(shape=own, dtype="int32", low=shape.low, high=shape.high)
    return ArraySpec(shape=own)


def _without_patterns(optimizer: Any) -> Any:
    """Return an optimiser without patterns of parameters' names, which a part need not have."""
    return None if optimizer is None else msgspec.structs.replace(optimizer, no_decay=(), frozen=(), rates=())


def _build(loaded: LoadedWorkload, path: str, flat: set[str], trained: set[str]) -> Callable[[Any, Size], Any]:
    """Return the function that builds the part alone, by building the whole and taking it out.

    Inputs that depend on parameters in the whole are multiplied by one here, so that their gradients are computed, too.
    """

    def build(nn: Any, size: Size) -> Any:
        whole_size = loaded.size(str(size.config[WHOLE_SIZE]))
        call = call_of(loaded, str(size.config[WHOLE_SIZE]), path)
        whole = loaded.build(nn, msgspec.structs.replace(whole_size, batch_size=size.batch_size))
        found = _part(whole, path)

        class Alone(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = found
                if trained:
                    self.input_scale = nn.Parameter((1,), std=SCALE_STD)

            def forward(self, arrays: Any) -> Any:
                given = arrays if len(call.inputs) > 1 else {next(iter(call.inputs)): arrays}

                def taken(name: str, one: Any) -> Any:
                    if name not in call.inputs:
                        return one
                    scaled = given[name] * (1.0 + self.input_scale) if name in trained else given[name]
                    return nn.flatten(scaled) if name in flat else scaled

                arguments = [taken(f"x{place}", one) for place, one in enumerate(call.arguments)]
                result = self.layer(*arguments, **{name: taken(name, one) for name, one in call.named.items()})
                return result[0] if isinstance(call.result, tuple) else result

        return Alone()

    return build


def _part(module: Any, path: str) -> Any:
    """Return the part of a framework's model at a path."""
    for name in path.split("."):
        module = module[int(name)] if name.isdigit() else getattr(module, name)
    return module


def _loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean of the squared differences."""
    return nn.mse(outputs, targets)
