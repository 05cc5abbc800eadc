"""The border between canonical weights and Keras' variables: which variable has which canonical name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from bakeoff.frameworks.tensorflow import nn
from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray


def parameters(model: Any) -> dict[str, Any]:
    """Return the trainable Keras variables by canonical name, in the order of construction."""
    return {name: variable for name, variable in _walk(model, "") if variable.trainable}


def state(model: Any) -> dict[str, Any]:
    """Return the running statistics by canonical name."""
    return {name: variable for name, variable in _walk(model, "") if not variable.trainable}


def generators(model: Any) -> list[Any]:
    """Return the state of every generator that a Dropout draws from; Keras has none in one that drops nothing."""
    return list({id(state): state for state in _generators(model)}.values())


def _generators(model: Any) -> list[Any]:
    """Return the same, that of a shared Dropout again for each of its places."""
    if isinstance(model, keras.layers.Layer):
        return [model.seed_generator.state] if hasattr(model, "seed_generator") else []
    modules = [child for _, child in children(model) if not isinstance(child, keras.Variable)]
    return [state for module in modules for state in _generators(module)]


def _walk(module: Any, path: str, seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Go through the variables of a module or layer, each with its first path of attributes."""
    seen = set() if seen is None else seen
    if id(module) in seen:
        return
    seen.add(id(module))
    attributes = getattr(module, "attributes", None)
    if attributes is not None:
        for name, attribute in attributes.items():
            variable = getattr(module, attribute)
            if variable is not None:
                yield f"{path}{name}", variable
        return
    for name, child in children(module):
        if isinstance(child, keras.Variable):
            yield f"{path}{name}", child
        else:
            yield from _walk(child, f"{path}{name}.", seen)


def children(module: Any) -> Iterator[tuple[Any, Any]]:
    """Go through the variables, layers and modules that are attributes of a module, or stand in its list."""
    found: Iterable[tuple[Any, Any]] = enumerate(module) if isinstance(module, nn.ModuleList) else vars(module).items()
    for name, child in found:
        if isinstance(child, (keras.Variable, tf.Module, keras.layers.Layer)):
            yield name, child


def load(model: Any, weights: Mapping[str, NDArray[Any]]) -> None:
    """Set parameters and state from canonical arrays; raise ModelFileError where names or shapes differ."""
    own = parameters(model) | state(model)
    wanted = {(name, tuple(variable.shape)) for name, variable in own.items()}
    given = {(name, weight.shape) for name, weight in weights.items()}
    if differing := sorted({name for name, _ in wanted ^ given}):
        msg = (
            f"the model's parameters and its weights differ in: {', '.join(differing)}; "
            "layers are attributes set in __init__, and lists of layers are nn.ModuleList"
        )
        raise ModelFileError(msg)
    for name, variable in own.items():
        variable.assign(weights[name])
