"""Per-sample gradients in JAX: vmap of grad, or a scan over the samples, in the one function that a step is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

from bakeoff.frameworks.jax import border
from bakeoff.frameworks.jax.engine import InferStep, State, TrainStep
from bakeoff.frameworks.jax.replicas import AXIS
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.per_sample import OPTION, PerSample

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.jax.precision import Precision
    from bakeoff.frameworks.jax.replicas import Replicas
    from bakeoff.frameworks.jax.switches import Switches
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.scenario import Scenario

Parameters = dict[str, jax.Array]

SAMPLES = "samples"
"""The name of the axis that is vectorised."""


class Found(NamedTuple):
    """What a batch's samples give."""

    loss: jax.Array
    """The mean of their losses; on several devices (devices,), of each device's own samples."""
    norms: jax.Array
    """(batch,), of their gradients before clipping."""
    sums: Parameters
    """Of their clipped gradients."""


class PerSampleStep(TrainStep):
    """Each sample's gradient, clipped; their sum with noise, divided by the batch size; and the optimiser.

    `vmap` is jax.vmap of jax.value_and_grad; `loop` is jax.lax.scan over the samples, which carries the sum, and in
    mode eager a loop in Python.
    """

    def __init__(self, model: Model, precision: Precision, switches: Switches, replicas: Replicas) -> None:
        """Make the state and the functions; raise UnsupportedError for float16."""
        self._asked = model.per_sample or PerSample()
        self._way = switches.per_sample
        super().__init__(model, precision, switches, replicas)
        if self._state.scale is not None:
            msg = "per-sample gradients have no precision=float16: a scaled loss has scaled norms; choose bfloat16"
            raise UnsupportedError(msg)
        self._draws = self._state.key is not None
        key = jax.random.key(0) if self._draws or self._asked.is_noisy else None
        self._state = self._state._replace(key=replicas.replicated(key))
        ways = {"vmap": self._vectorised, "loop": self._scanned if switches.is_compiled else self._looped}
        self._clipped: Callable[..., Found] = _on_each_device(ways[self._way], replicas)
        self._found = switches.executed(self._clipped)
        self._given = switches.executed(self._given_next)

    def _one(self, parameters: Parameters, key: jax.Array | None, sample: Any) -> tuple[jax.Array, Parameters]:
        """Return the loss of one sample, as a batch of one, and its gradient."""
        batch = jax.tree.map(lambda one: one[None], sample)
        (loss, _), gradients = jax.value_and_grad(self._compute_loss, has_aux=True)(parameters, {}, key, batch)
        return loss, gradients

    def _vectorised(self, parameters: Parameters, keys: jax.Array | None, batch: DeviceBatch) -> Found:
        """Vectorise over the samples; with keys, each draws for itself.

        Norms and sums are taken where the samples are still vectorised: outside, every gradient is transposed first, so
        that samples come first. And it is divided, as users of optax do it: XLA takes a factor into the product before,
        which made steps of cnn-cifar10 on a processor a quarter shorter and those of mnist-cnn 1.7 times as long.
        """

        def clipped(key: jax.Array | None, sample: Any) -> tuple[jax.Array, jax.Array, Parameters]:
            loss, gradients = self._one(parameters, key, sample)
            norm = _norm(gradients)
            divisor = jnp.maximum(norm / self._asked.max_norm, 1.0)
            return loss, norm, jax.tree.map(lambda one: jax.lax.psum(one / divisor, SAMPLES), gradients)

        each = jax.vmap(clipped, in_axes=(None if keys is None else 0, 0), out_axes=(0, 0, None), axis_name=SAMPLES)
        losses, norms, sums = each(keys, batch)
        return Found(losses.mean(), norms, sums)

    def _scanned(self, parameters: Parameters, keys: jax.Array | None, batch: DeviceBatch) -> Found:
        """Take one sample after another in one loop of XLA's."""

        def add(sums: Parameters, taken: Any) -> tuple[Parameters, Any]:
            sums, *found = self._added(parameters, sums, *taken)
            return sums, found

        sums, (losses, norms) = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, parameters), (keys, batch))
        return Found(losses.mean(), norms, sums)

    def _looped(self, parameters: Parameters, keys: jax.Array | None, batch: DeviceBatch) -> Found:
        """Take one sample after another in Python."""
        sums, losses, norms = jax.tree.map(jnp.zeros_like, parameters), [], []
        for place in range(len(jax.tree.leaves(batch)[0])):
            key, sample = jax.tree.map(lambda one, at=place: one[at], (keys, batch))
            sums, loss, norm = self._added(parameters, sums, key, sample)
            losses.append(loss)
            norms.append(norm)
        return Found(jnp.stack(losses).mean(), jnp.stack(norms), sums)

    def _added(
        self, parameters: Parameters, sums: Parameters, key: jax.Array | None, sample: Any
    ) -> tuple[Parameters, jax.Array, jax.Array]:
        """Return the sums with one more sample's clipped gradient, its loss and its norm."""
        loss, gradients = self._one(parameters, key, sample)
        norm = _norm(gradients)
        factor = self._factor(norm)
        return jax.tree.map(lambda total, one: total + factor * one, sums, gradients), loss, norm

    def _factor(self, norm: jax.Array) -> jax.Array:
        """Return what gradients of such norms are multiplied by."""
        return self._asked.max_norm / jnp.maximum(norm, self._asked.max_norm)

    def _given_by(
        self, parameters: Parameters, draw: jax.Array | None, batch: DeviceBatch
    ) -> tuple[jax.Array, Parameters]:
        """Return the loss, and what the optimiser is given."""
        count = len(jax.tree.leaves(batch)[0])
        dropping, adding = (None, None) if draw is None else jax.random.split(draw)
        keys = jax.random.split(dropping, count) if self._draws and dropping is not None else None
        found = self._clipped(parameters, keys, batch)
        sums = found.sums
        if self._asked.is_noisy and adding is not None:
            each = dict(zip(sums, jax.random.split(adding, len(sums)), strict=True))
            deviation = self._asked.deviation
            sums = {
                name: one + deviation * jax.random.normal(each[name], one.shape, one.dtype)
                for name, one in sums.items()
            }
        return found.loss, jax.tree.map(lambda one: one / count, sums)

    def _next(self, state: State, batch: DeviceBatch) -> tuple[State, jax.Array]:
        """Return the state after one step, and the loss before it."""
        key, draw = (None, None) if state.key is None else jax.random.split(state.key)
        loss, gradients = self._given_by(state.parameters, draw, batch)
        parameters, optimizer = self._apply(state.parameters, state.optimizer, gradients)
        new = state._replace(parameters=parameters, optimizer=optimizer, key=key)
        return self._replicas.settled(new), loss

    def _given_next(self, parameters: Parameters, key: jax.Array, batch: DeviceBatch) -> Parameters:
        """Return what the next step gives to the optimiser."""
        _, draw = jax.random.split(key)
        given: Parameters = self._replicas.settled(self._given_by(parameters, draw, batch)[1])
        return given

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Return the mean of the clipped gradients in float64, without dropout and noise."""
        found = self._found(self._state.parameters, None, batch)
        return border.export(jax.tree.map(lambda one: one / len(found.norms), found.sums))

    def noisy_gradients(self, batch: DeviceBatch) -> Arrays:
        """Return what the next step is given, with the noise that it will draw."""
        return border.export(self._given(self._state.parameters, self._state.key, batch))

    def norms(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the norm of the gradient of each sample of this process."""
        shards = self._found(self._state.parameters, None, batch).norms.addressable_shards
        ordered = sorted(shards, key=lambda shard: shard.index[0].start or 0)
        return np.concatenate([np.array(shard.data, np.float64) for shard in ordered])

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with how gradients are clipped."""
        asked = {"max_norm": self._asked.max_norm, "noise_multiplier": self._asked.noise_multiplier}
        apart = {"partitioning": "jax.shard_map, jax.lax.psum"} if self._replicas.mesh is not None else {}
        return super().settings() | apart | {OPTION: self._way} | asked


def _on_each_device(clipped: Callable[..., Found], replicas: Replicas) -> Callable[..., Found]:
    """Return a function in which each device clips its own samples, and the sums are added over all devices."""
    if replicas.mesh is None:
        return clipped

    def each(parameters: Parameters, keys: jax.Array | None, batch: DeviceBatch) -> Found:
        found = clipped(parameters, keys, batch)
        return Found(found.loss[None], found.norms, jax.lax.psum(found.sums, AXIS))

    own = PartitionSpec(AXIS)
    return replicas.mapped(each, Found(own, own, PartitionSpec()))


def _norm(gradients: Parameters) -> jax.Array:
    """Return the L2 norm of one sample's gradient over all parameters."""
    return jnp.sqrt(sum(jnp.sum(jnp.square(one)) for one in gradients.values()))


STEPS: dict[Scenario, type[TrainStep | InferStep]] = {
    "train": TrainStep,
    "infer": InferStep,
    "per-sample-gradients": PerSampleStep,
}
"""The step of each scenario."""
