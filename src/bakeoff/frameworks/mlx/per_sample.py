"""Per-sample gradients in MLX: a step that clips each sample's gradient, and two ways to these gradients.

vmap is mx.vmap over mx.value_and_grad of one sample, as MLX's documents have it ("Function Transforms"); loop takes one
sample after another, and holds one sample's gradient at a time. In mode compiled the loop's body is one compiled
function: a loop inside of it would be unrolled over the batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mlx.core as mx
import mlx.nn
import numpy as np
from mlx.utils import tree_map, tree_reduce

from bakeoff.frameworks.mlx import engine, functions, nn, optimizers, snapshots
from bakeoff.frameworks.mlx.compilation import executed
from bakeoff.frameworks.steps import training_parts
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.options import DEFAULT
from bakeoff.spec.per_sample import OPTION, PerSample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.mlx.replicas import Replicas
    from bakeoff.frameworks.steps import DeviceBatch

VMAP, LOOP = "vmap", "loop"

_WITHOUT_RULE = (mlx.nn.Conv1d, mlx.nn.Conv2d, mlx.nn.ConvTranspose2d)
"""Layers whose gradient by the weight mx.vmap has no rule for."""

_DRAWING = (mlx.nn.Dropout, nn.StochasticDepth, functions.RandomNormal)


class PerSampleStep(engine.TrainStep):
    """Each sample's gradient, clipped and summed, noise, and the optimiser."""

    def __init__(self, model: Model, options: Mapping[str, str], replicas: Replicas) -> None:
        """Choose the way; raise UnsupportedError where MLX has none to this model's gradients."""
        super().__init__(model, options, replicas)
        self._asked = model.per_sample or PerSample()
        self._way = _chosen(options[OPTION], self._model)
        self._keys = [mx.random.key(0)]
        """Of the noise: MLX takes a seed for the generator that Dropout draws from, and gives no state back."""
        self._state = [*self._state, self._keys]
        loss, _ = training_parts(model)
        self._value_and_grad = mx.value_and_grad(
            lambda parameters, inputs, targets: loss(nn, self._with(parameters)(inputs), targets, inputs)
        )

        def in_mode(function: Callable[..., Any]) -> Callable[..., Any]:
            return executed(function, options["mode"], reads=self._state, writes=self._state)

        self._vmapped = in_mode(self._by_vmap)
        self._added = in_mode(self._add)
        self._noised = in_mode(self._noisy)
        self._updated = in_mode(self._update)
        self._advance = self._train if self._way == LOOP else in_mode(self._train)

    def _with(self, parameters: Any) -> Any:
        """Return the model with these parameters, as nn.value_and_grad makes it."""
        self._model.update(parameters)
        return self._model

    def _train(self, inputs: Any, targets: Any) -> mx.array:
        """Train on one batch; return the mean loss before it."""
        if self._way == LOOP:
            losses, _, total = self._by_loop(inputs, targets)
            self._updated(total, _count(inputs))
        else:
            losses, _, total = self._by_vmap(inputs, targets)
            self._update(total, _count(inputs))
        return losses.mean()

    def _update(self, total: Any, count: int) -> None:
        """Make the optimiser's step on a sum of clipped gradients."""
        self._optimizer.update(self._model, optimizers.clipped(self._formula, self._noisy(total, count)))

    def _noisy(self, total: Any, count: int) -> Any:
        """Return the gradients that the optimiser gets: of a group the mean of its sums, with one noise for all."""
        total = self._replicas.mean(total)
        if not self._asked.is_noisy:
            return tree_map(lambda one: one / count, total)

        def with_noise(one: mx.array) -> mx.array:
            self._keys[0], key = mx.random.split(self._keys[0])
            return (one + self._asked.deviation / self._replicas.count * mx.random.normal(one.shape, key=key)) / count

        return tree_map(with_noise, total)

    def _by_vmap(self, inputs: Any, targets: Any) -> tuple[mx.array, mx.array, Any]:
        """Return each sample's loss, the norm of its gradient, and the sum of the clipped gradients."""

        def of_one(parameters: Any, inputs: Any, targets: Any) -> Any:
            return self._value_and_grad(parameters, *tree_map(lambda one: one[None], (inputs, targets)))

        before = self._model.trainable_parameters()
        try:
            losses, gradients = mx.vmap(of_one, in_axes=(None, 0, 0))(before, inputs, targets)
        except ValueError as error:
            if "Primitive::vmap" not in str(error):
                raise
            msg = f"mx.vmap has no rule for a primitive of this model ({error}); choose per_sample=loop"
            raise UnsupportedError(msg) from error
        finally:
            self._model.update(before)
        norms = mx.sqrt(_total(tree_map(_squares, gradients)))
        factors = self._factors(norms)
        return losses, norms, tree_map(lambda one: mx.tensordot(factors, one, 1), gradients)

    def _by_loop(self, inputs: Any, targets: Any) -> tuple[mx.array, mx.array, Any]:
        """Return the same, one sample after another: each is started before the next is noted."""
        total = tree_map(mx.zeros_like, self._model.trainable_parameters())
        losses, norms = [], []
        for place in range(_count(inputs)):
            sample = tree_map(lambda one, place=place: one[place : place + 1], (inputs, targets))
            loss, norm, total = self._added(total, *sample)
            mx.async_eval(loss, norm, total)
            losses.append(loss)
            norms.append(norm)
        return mx.stack(losses), mx.stack(norms), total

    def _add(self, total: Any, inputs: Any, targets: Any) -> tuple[mx.array, mx.array, Any]:
        """Return a sample's loss and norm, and a sum with its clipped gradient."""
        before = self._model.trainable_parameters()
        loss, gradient = self._value_and_grad(before, inputs, targets)
        self._model.update(before)
        norm = mx.sqrt(_total(tree_map(optimizers.squares, gradient)))
        factor = self._factors(norm)
        return loss, norm, tree_map(lambda sums, one: sums + factor * one, total, gradient)

    def _factors(self, norms: mx.array) -> mx.array:
        """Return what gradients of these norms are multiplied with: 1 for a norm of 0."""
        return self._asked.max_norm / mx.maximum(norms, self._asked.max_norm)

    def _each(self, batch: DeviceBatch) -> tuple[mx.array, mx.array, Any]:
        """Return losses, norms and the sum by the functions that training runs."""
        found: tuple[mx.array, mx.array, Any] = (self._by_loop if self._way == LOOP else self._vmapped)(*batch)
        return found

    def norms(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the norm of each sample's gradient."""
        return np.array(self._each(batch)[1], np.float64)

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Return the sum of the clipped gradients over the batch size."""
        *_, total = self._each(batch)
        total = self._replicas.mean(total)
        return self._border.parameters(tree_map(lambda one: one / _count(batch[0]), total))

    def noisy_gradients(self, batch: DeviceBatch) -> Arrays:
        """Return the gradients that the next step hands to the optimiser; its noise is drawn again then."""
        *_, total = self._each(batch)
        key = self._keys[0]
        found = self._border.parameters(self._noised(total, _count(batch[0])))
        self._keys[0] = key
        return found

    def snapshot(self) -> tuple[snapshots.Snapshot, mx.array]:  # type: ignore[override]
        """Return references to all arrays, that of the noise's key too."""
        return super().snapshot(), self._keys[0]

    def restore(self, snapshot: tuple[snapshots.Snapshot, mx.array]) -> None:  # type: ignore[override]
        """Put them back."""
        before, self._keys[0] = snapshot
        super().restore(before)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with the way to the gradients and how they are clipped."""
        clipping = {"max_norm": self._asked.max_norm, "noise_multiplier": self._asked.noise_multiplier}
        return super().settings() | {OPTION: self._way} | clipping


def _chosen(asked: str, model: Any) -> str:
    """Return the way to a model's gradients; raise UnsupportedError where MLX lacks the one that is asked for."""
    if asked == LOOP:
        return LOOP
    layers = [layer for _, layer in model.named_modules()]
    if convolution := next((type(one).__name__ for one in layers if isinstance(one, _WITHOUT_RULE)), ""):
        reason = f"mx.vmap has no rule for the gradient of a convolution by its kernel (AsStrided), as in {convolution}"
    elif drawing := next((type(one).__name__ for one in layers if isinstance(one, _DRAWING)), ""):
        reason = f"mx.vmap draws the same numbers for all samples, as in {drawing}"
    else:
        return VMAP
    if asked == DEFAULT:
        return LOOP
    msg = f"{reason}; choose per_sample=loop"
    raise UnsupportedError(msg)


def _count(inputs: Any) -> int:
    """Return how many samples a batch has."""
    return int((next(iter(inputs.values())) if isinstance(inputs, dict) else inputs).shape[0])


def _squares(gradients: mx.array) -> mx.array:
    """Return the sum of squares of each sample's part of (batch, ...), row by row as `optimizers.squares` is."""
    found = mx.square(gradients)
    return (found.sum(-1) if found.ndim > 1 else found).reshape(len(found), -1).sum(1)


def _total(tree: Any) -> mx.array:
    """Return the sum of a tree's arrays."""
    return tree_reduce(lambda total, one: total + one, tree, mx.array(0.0))
