"""A model without a framework: its parameters by canonical name, and the weights that every contender starts from.

`build` runs over a vocabulary that only knows shapes, so that a mistake in a user's model is reported with its line
before any framework starts, and so that all frameworks get the same weights under the same names.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, NoReturn

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.vocabulary import FUNCTIONS, LOSSES, GivenNames
from bakeoff.workloads import layers, layers_maps, layers_recurrent
from bakeoff.workloads.layers import Array, Dropout, Layer, Parameter, RandomNormal, constant
from bakeoff.workloads.mistakes import told
from bakeoff.workloads.shapes import LayoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from bakeoff.spec.workload import Size


TAKEN = frozenset(
    (
        *("add_module", "apply", "bfloat16", "buffers", "call_super_init", "children", "clear", "compile", "copy"),
        *("cpu", "cuda", "dfs", "double", "eval", "execute", "extra_repr", "filter_and_map", "float", "float16"),
        *("float32", "float64", "float_auto", "freeze", "fromkeys", "get", "get_parameter", "half", "is_module"),
        *("is_training", "items", "iter_children", "iter_modules", "keys", "leaf_modules", "load", "load_parameters"),
        *("load_weights", "modules", "name", "name_scope", "named_buffers", "named_children", "named_modules"),
        *("named_parameters", "non_trainable_variables", "npu", "parameters", "perturb", "pop", "popitem", "save"),
        *("save_weights", "set_attributes", "set_dtype", "setdefault", "sow", "state", "state_dict", "submodules"),
        *("to", "train", "trainable_parameters", "trainable_variables", "training", "type", "unfreeze", "update"),
        *("update_modules", "values", "variables", "with_name_scope", "xpu", "zero_grad"),
    )
)
"""What a module of one framework or another already has, from `dir` of torch.nn.Module 2.13, nnx.Module 0.12, tf.Module
2.21, mlx.nn.Module 0.32 and jittor.Module 1.3: an attribute of that name fails there, or hides what engines call."""


class Module:
    """Base class of a model and its parts; its attributes may be layers."""

    _ready = False

    def __init__(self) -> None:
        """Allow layers as attributes from now on."""
        self._ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; raise TypeError for layers that not every framework would find, or find under this name."""
        if name in TAKEN:
            msg = f"self.{name}: some framework's modules have something of that name; choose another"
            raise TypeError(msg)
        if _holds_layers(value) and not self._ready:
            msg = f"self.{name} is set before super().__init__() was called"
            raise TypeError(msg)
        if _is_list_of_layers(value):
            raise TypeError(_in_a_list(name, value))
        object.__setattr__(self, name, value)


class ModuleList:
    """Layers in a list; their names are their indices."""

    def __init__(self, modules: Any) -> None:
        """Take an iterable of layers and modules."""
        self.modules = list(modules)
        for place, module in enumerate(self.modules):
            if not _holds_layers(module) or isinstance(module, (Parameter, constant)):
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


def built(build: Callable[[Any, Size], Any], nn: Any, size: Size) -> Any:
    """Return what `build` makes of a vocabulary; raise ModelFileError, with the line, where it fails."""
    with told(build.__code__.co_filename, "build"):
        return build(nn, size)


def drops(build: Callable[[Any, Size], Any], size: Size) -> bool:
    """Return whether a model draws anything in training, so that each framework and process has losses of its own."""
    return any(_draws(part) for _, part in walk(built(build, _VOCABULARY, size), ""))


def as_wide(build: Callable[[Any, Size], Any], size: Size, least: Mapping[str, int]) -> tuple[str, ...]:
    """Return the kinds of a model's layers of which one has at least so many `hidden` units, in their order."""
    every = (part for _, part in walk(built(build, _VOCABULARY, size), ""))
    # A user's own module may have a layer's name.
    parts: list[Any] = [part for part in every if isinstance(part, Layer) and type(part).__name__ in least]
    return tuple(sorted({type(one).__name__ for one in parts if one.hidden >= least[type(one).__name__]}))


def _draws(part: Any) -> bool:
    """Return whether a layer draws random numbers in training."""
    return isinstance(part, RandomNormal) or (isinstance(part, Dropout) and part.rate > 0)


def parameters(build: Callable[[Any, Size], Any], size: Size) -> dict[str, Array]:
    """Return the parameters of a model by canonical name; raise ModelFileError, with the line, where `build` fails."""
    return _arrays(build, size, lambda layer: layer.parameters)


def state(build: Callable[[Any, Size], Any], size: Size) -> dict[str, Array]:
    """Return the arrays that training changes beside the parameters, by canonical name; raise as `parameters` does."""
    return _arrays(build, size, lambda layer: layer.state)


def _arrays(build: Callable[[Any, Size], Any], size: Size, of: Callable[[Layer], dict[str, Array]]) -> dict[str, Array]:
    """Return the arrays `of` each layer by canonical name, from a model that is built over shapes."""
    path = build.__code__.co_filename
    model = built(build, _VOCABULARY, size)
    if not isinstance(model, Module):
        msg = f"{path}: build returned {model!r}; it must return an instance of a class derived from nn.Module"
        raise ModelFileError(msg)
    arrays: dict[str, Array] = {}
    names: dict[int, str] = {}
    for name, part in walk(model, ""):
        if id(part) in names:
            msg = (
                f"{path}: {names[id(part)]} and {name} are the same nn.{type(part).__name__}; layers and modules may "
                f"be shared: hold it in one nn.Module, and share that"
            )
            raise ModelFileError(msg)
        names[id(part)] = name
        if isinstance(part, Layer):
            arrays |= {f"{name}.{last}".rstrip("."): array for last, array in of(part).items()}
        elif isinstance(part, Module):
            _check_module(path, part)
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


def _check_module(path: str, part: Module) -> None:
    """Raise ModelFileError for a part without a forward pass, or with a list to which layers were added later."""
    if not callable(getattr(part, "forward", None)):
        msg = f"{path}: class {type(part).__name__} has no method forward(self, x, ...)"
        raise ModelFileError(msg)
    for name, value in vars(part).items():
        if _is_list_of_layers(value):
            code = getattr(vars(type(part)).get("__init__"), "__code__", None)
            line = f":{code.co_firstlineno}" if code is not None and code.co_filename == path else ""
            msg = f"{path}{line}: in build: {_in_a_list(name, value)}"
            raise ModelFileError(msg)


def _in_a_list(name: str, value: Any) -> str:
    """Return what is wrong with layers in a list, in which not every framework finds them."""
    if any(isinstance(one, (Parameter, constant)) for one in _members(value)):  # which a ModuleList does not hold
        one = "an nn.Parameter or nn.constant"
        return f"self.{name} is a {type(value).__name__} that holds {one}; make each an attribute of an nn.Module"
    return f"self.{name} is a {type(value).__name__} that holds layers; hold them in nn.ModuleList([...])"


def _is_list_of_layers(value: Any) -> bool:
    """Return whether a value is a list, or of its kind, with layers in it, however deep."""
    if not isinstance(value, (list, tuple, set, dict)):
        return False
    return any(_holds_layers(one) or _is_list_of_layers(one) for one in _members(value))


def _holds_layers(value: Any) -> bool:
    """Return whether a value is a layer or holds layers."""
    return isinstance(value, (Layer, Module, ModuleList))


def _members(value: Any) -> Any:
    """Return the members of a list, tuple, set or dict."""
    return value.values() if isinstance(value, dict) else value


def walk(part: Any, name: str, seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield a model's parts with their names, from the root down: what is shared once, by its first name.

    Only a Parameter comes again, which not every framework has as an object of its own.
    """
    seen = set() if seen is None else seen
    if id(part) in seen and not isinstance(part, Parameter):
        return
    seen.add(id(part))
    yield name or "the model", part
    children: Any = ()
    if isinstance(part, ModuleList):
        children = ((str(place), child) for place, child in enumerate(part))
    elif isinstance(part, Module):
        children = ((key, child) for key, child in vars(part).items() if _holds_layers(child))
    for key, child in children:
        yield from walk(child, f"{name}.{key}" if name else key, seen)


def _only_in_forward(name: str) -> Callable[..., Any]:
    """Return a function of the vocabulary that a model may keep, but not call while it is built."""

    def function(*_: Any, **__: Any) -> Any:
        msg = f"nn.{name} computes on arrays; call it in forward or in loss, not in build"
        raise TypeError(msg)

    return function


class Vocabulary(GivenNames):
    """What a model is given as `nn`; it stays as it is."""

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        """Raise LayoutError: what a framework computes by would be another thing in each, or in every later model."""
        del value
        msg = f"nn.{name} is set: a model takes the names of nn as they are; what is your own needs a name of its own"
        raise LayoutError(msg)

    def __delattr__(self, name: str) -> NoReturn:
        """Raise LayoutError."""
        msg = f"nn.{name} is deleted: a model takes the names of nn as they are"
        raise LayoutError(msg)


_KINDS = (Module, ModuleList, *layers.LAYERS, *layers_maps.LAYERS, *layers_recurrent.LAYERS)
_LAYERS = {kind.__name__: kind for kind in _KINDS}
_VOCABULARY = Vocabulary(**_LAYERS, **{name: _only_in_forward(name) for name in (*FUNCTIONS, *LOSSES)})
