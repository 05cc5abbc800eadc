"""The border between canonical weights and flax's own, and a model taken apart into what a pure function is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from bakeoff.spec.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Arrays

Path = tuple[str | int, ...]


class Split:
    """A model taken apart: the graph and paths are fixed, parameters and statistics are arrays that a step is given.

    They are plain dicts by canonical name: jax.jit takes them apart in C++, an nnx.State in Python at every call.
    """

    def __init__(self, model: nnx.Module) -> None:
        """Take the model apart; it is not used afterwards."""
        modules = dict(nnx.iter_modules(model))
        names = _first_paths(model)
        layers = {path: (names[id(module)], type(module)) for path, module in modules.items()}
        self._graph, *states, self._constants = nnx.split(model, nnx.Param, nnx.BatchStat, ...)
        parameters, statistics = ({_canonical_name(path, layers): path for path, _ in flat(state)} for state in states)
        self._paths: dict[str, Path] = parameters | statistics
        self._statistics = set(statistics)
        self._modules = {type(module) for module in modules.values()}
        arrays = {path: array for state in states for path, array in flat(state)}
        self.shapes: dict[str, tuple[int, ...]] = {name: arrays[path].shape for name, path in self._paths.items()}

    def has(self, *layers: type[nnx.Module]) -> bool:
        """Return whether a layer of one of these classes, or of one that is made of them, is somewhere in the model."""
        return any(issubclass(kind, layers) for kind in self._modules)

    def part(self, arrays: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters among the model's arrays, and the running statistics."""
        parameters = {name: array for name, array in arrays.items() if name not in self._statistics}
        return parameters, {name: arrays[name] for name in arrays if name in self._statistics}

    def merge(self, parameters: Mapping[str, jax.Array], statistics: Mapping[str, jax.Array]) -> Any:
        """Put the model together, around arrays that may be traced.

        A copy: flax refuses to change a running statistic within a gradient that the model's own array came from.
        """
        arrays = {**parameters, **statistics}
        state = nnx.from_flat_state({path: arrays[name] for name, path in self._paths.items()})
        return nnx.merge(self._graph, state, self._constants, copy=True)

    def statistics(self, model: Any) -> dict[str, jax.Array]:
        """Return the running statistics of a model that was put together here, as it has left them."""
        found = dict(flat(nnx.state(model, nnx.BatchStat)))
        return {name: found[self._paths[name]][...] for name in sorted(self._statistics)}


def flat(state: Any) -> Any:
    """Return a state's variables, each with its path of attributes."""
    return nnx.to_flat_state(state)


def _first_paths(model: nnx.Module) -> dict[int, Path]:
    """Return each module's first path in the order of attributes: flax sorts them, and may take another first."""
    found: dict[int, Path] = {}

    def walk(module: Any, path: Path) -> None:
        if id(module) in found:
            return
        found[id(module)] = path
        children = enumerate(module) if isinstance(module, nnx.List) else vars(module).items()
        for name, child in children:
            if isinstance(child, nnx.Module):
                walk(child, (*path, name))

    walk(model, ())
    return found


def _canonical_name(path: Path, layers: Mapping[Path, tuple[Path, type[nnx.Module]]]) -> str:
    """Return the canonical name of the array at one of flax's paths of attributes: `blocks.0.conv.weight`."""
    *parents, last = path
    first, kind = layers[tuple(parents)]
    last = getattr(kind, "canonical", {}).get(str(last), last)
    return ".".join(map(str, (*first, last)))


def load(split: Split, weights: Arrays, dtype: np.dtype[Any]) -> dict[str, jax.Array]:
    """Return the model's arrays in a precision, from canonical ones; raise ModelFileError where shapes differ."""
    given = {(name, weight.shape) for name, weight in weights.items()}
    if differing := sorted({name for name, _ in given ^ set(split.shapes.items())}):
        msg = (
            f"the model's parameters and its weights differ in: {', '.join(differing)}; "
            "layers are attributes set in __init__, and lists of layers are nn.ModuleList"
        )
        raise ModelFileError(msg)
    return {name: jnp.array(weights[name], dtype) for name in split.shapes}


def export(arrays: Mapping[str, jax.Array]) -> Arrays:
    """Return parameters or gradients as canonical arrays, copied: the step may donate the memory that they are in."""
    return {name: np.array(array, np.float64) for name, array in arrays.items()}
