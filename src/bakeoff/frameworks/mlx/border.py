"""The border between canonical weights and MLX's own, by the paths of attributes that both have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mlx.core as mx
import mlx.nn
import numpy as np
from mlx.utils import tree_flatten

from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays


class Again:
    """A shared module at a later place in a list: called as the module is, and no part of MLX's tree of arrays."""

    def __init__(self, module: Any) -> None:
        """Take the module."""
        self._module = module

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self._module(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Return what the module has under this name."""
        return getattr(self._module, name)


def once(model: Any, seen: set[int] | None = None) -> None:
    """Leave each shared module in MLX's tree at its first place only, where steps then read, differentiate and update.

    MLX's tree has an array for each place; of a shared one, each update would put another value over the one before.
    """
    seen = set() if seen is None else seen
    for name, child in list(model.items() if isinstance(model, dict) else enumerate(model)):
        if not isinstance(child, (mlx.nn.Module, list)):
            continue
        if id(child) not in seen:
            seen.add(id(child))
            once(child, seen)
        elif isinstance(model, list):
            model[name] = Again(child)
        else:
            del model[name]
            object.__setattr__(model, name, child)  # found as an attribute, and not in the module's dict


class Border:
    """Which array of a model has which canonical name and layout; fixed once the model is made."""

    def __init__(self, model: Any) -> None:
        """Note every array by MLX's path to it."""
        layers = {path: type(layer) for path, layer in model.named_modules()}
        self.names = {path: _canonical_name(path, layers) for path, _ in tree_flatten(model.parameters())}
        """The canonical name of each."""
        self._outputs = {path: axis for path in self.names if (axis := _outputs_axis(path, layers)) is not None}
        self._trained = {path for path, _ in tree_flatten(model.trainable_parameters())}

    def load(self, model: Any, weights: Arrays) -> None:
        """Set parameters and state from canonical arrays; raise ModelFileError where they differ from the model's."""
        given = {path: self._to_native(path, weights[name]) for path, name in self.names.items() if name in weights}
        own = {(self.names[path], array.shape) for path, array in tree_flatten(model.parameters())}
        shapes = {(self.names[path], array.shape) for path, array in given.items()}
        unknown = weights.keys() - self.names.values()
        if differing := sorted({name for name, _ in own ^ shapes} | unknown):
            msg = (
                f"the model's parameters and its weights differ in: {', '.join(differing)}; "
                "layers are attributes set in __init__, and lists of layers are nn.ModuleList"
            )
            raise ModelFileError(msg)
        model.load_weights([(path, mx.array(array.astype(np.float32))) for path, array in given.items()])
        mx.eval(model.parameters())

    def parameters(self, tree: Any) -> Arrays:
        """Return the parameters, or their gradients, of a tree as MLX has it, as canonical arrays."""
        return self._export((path, array) for path, array in tree_flatten(tree) if path in self._trained)

    def state(self, tree: Any) -> Arrays:
        """Return the running statistics among them."""
        return self._export((path, array) for path, array in tree_flatten(tree) if path not in self._trained)

    def _export(self, arrays: Iterable[tuple[str, mx.array]]) -> Arrays:
        """Return canonical arrays in float64 that share no memory with MLX's."""
        found = {path: np.array(array, np.float64) for path, array in arrays}
        return {
            self.names[path]: np.moveaxis(array, 0, self._outputs[path]) if path in self._outputs else array
            for path, array in found.items()
        }

    def _to_native(self, path: str, array: NDArray[Any]) -> NDArray[Any]:
        """Bring a canonical array into MLX's order of axes: it has a weight's outputs first."""
        return np.moveaxis(array, self._outputs[path], 0) if path in self._outputs else array


def _canonical_name(path: str, layers: dict[str, type[Any]]) -> str:
    """Return the canonical name of the array at a path: `blocks.0.norm.weight` is `blocks.0.norm.scale`."""
    parent, _, last = path.rpartition(".")
    renamed = getattr(layers.get(parent), "canonical", {}).get(last, last)
    return f"{parent}.{renamed}".removeprefix(".")


def _outputs_axis(path: str, layers: dict[str, type[Any]]) -> int | None:
    """Return the canonical axis of outputs of an array that MLX has them first in; None for any other array."""
    parent, _, last = path.rpartition(".")
    layer = layers.get(parent)
    return getattr(layer, "outputs_axis", -1) if last in getattr(layer, "outputs_first", ()) else None
