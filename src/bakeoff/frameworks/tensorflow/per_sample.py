"""Per-sample gradients in TensorFlow: a step that clips each sample's gradient, and three ways to these gradients.

vmap is tf.vectorized_map over the gradient of one sample, as TensorFlow's users write it; jacobian is tape.jacobian of
the vector of the samples' losses, as TensorFlow Privacy's models have it: its backward passes go through the whole
batch once for each sample, so that its memory grows with the square of the batch; loop is a tf.while_loop that holds
one sample's gradient at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from bakeoff.frameworks.tensorflow import border, engine, nn, phase, snapshots
from bakeoff.frameworks.tensorflow.modes import in_mode
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.options import DEFAULT
from bakeoff.spec.per_sample import OPTION, PerSample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.frameworks.tensorflow.precision import Precision
    from bakeoff.frameworks.tensorflow.replicas import Replicas

VMAP, JACOBIAN, LOOP = "vmap", "jacobian", "loop"


class PerSampleStep(engine.TrainStep):
    """Each sample's gradient, clipped and summed, noise, and the optimiser, all in one function."""

    def __init__(self, model: Model, options: Mapping[str, str], precision: Precision, replicas: Replicas) -> None:
        """Choose the way; raise UnsupportedError where TensorFlow has none to this model's gradients."""
        super().__init__(model, options, precision, replicas)
        if options["precision"] == "float16":
            msg = (
                "precision=float16 scales the loss, and Keras looks for overflows in the sum, where each sample's "
                "gradient is clipped already; choose precision=bfloat16 or float32"
            )
            raise UnsupportedError(msg)
        self._asked = model.per_sample or PerSample()
        self._way = _chosen(options[OPTION], self._net, options["mode"])
        with replicas.scope():
            self._draws = keras.random.SeedGenerator(0)  # the same draws on every replica: noise is added once
        self._changing.append(self._draws.state)
        self._norms = in_mode(replicas.each(self._each), options["mode"])
        self._noisily = in_mode(replicas.each(self._noisy), options["mode"])

    def _train(self, inputs: Any, targets: Any) -> Any:
        """Train on one batch; return the mean loss before it."""
        loss, gradients = self._noisy(inputs, targets)
        self._optimizer.apply(gradients)
        return loss

    def _noisy(self, inputs: Any, targets: Any) -> tuple[Any, list[Any]]:
        """Return the mean loss and the gradients that the optimiser gets."""
        loss, gradients = self._reduced(inputs, targets)
        if not self._asked.is_noisy:
            return loss, gradients
        deviation = self._asked.deviation / (_count(inputs) * self._replicas.count)
        return loss, [one + deviation * self._normal(one) for one in gradients]

    def _normal(self, like: Any) -> Any:
        """Draw from N(0, 1) for each element."""
        return keras.random.normal(like.shape, dtype=like.dtype.name, seed=self._draws)

    def _loss_and_gradients(self, inputs: Any, targets: Any) -> tuple[Any, list[Any]]:
        """Return the mean loss, and the sum of the clipped gradients over the batch size."""
        losses, _, total = self._each(inputs, targets)
        count = _count(inputs)
        return tf.reduce_mean(losses), [one / count for one in total]

    def _each(self, inputs: Any, targets: Any) -> tuple[Any, Any, list[Any]]:
        """Return each sample's loss, the norm of its gradient, and the sum of the clipped gradients."""
        if self._way == LOOP:
            return self._looped(inputs, targets)
        if self._way == VMAP:
            losses, gradients = tf.vectorized_map(lambda sample: self._of_one(*_batch_of(sample)), (inputs, targets))
        else:
            losses, gradients = self._jacobian(inputs, targets)
        norms = tf.sqrt(tf.add_n([_squares(one) for one in gradients]))
        factors = self._factors(norms)
        return losses, norms, [tf.tensordot(factors, one, 1) for one in gradients]

    def _of_one(self, inputs: Any, targets: Any) -> tuple[Any, list[Any]]:
        """Return the loss of a batch of one sample, and its gradient."""
        with phase.training(), tf.GradientTape() as tape:
            loss = self._loss_of(nn, self._precision.called(self._net, inputs), targets, inputs)
        gradients = tape.gradient(loss, self._trained, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return loss, [tf.convert_to_tensor(one) for one in gradients]

    def _jacobian(self, inputs: Any, targets: Any) -> tuple[Any, list[Any]]:
        """Return the samples' losses, from one forward pass, and their gradients."""
        with phase.training(), tf.GradientTape() as tape:
            outputs = self._precision.called(self._net, inputs)
            losses = tf.vectorized_map(lambda sample: self._loss_of(nn, *_batch_of(sample)), (outputs, targets, inputs))
        gradients = tape.jacobian(losses, self._trained, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return losses, [tf.convert_to_tensor(one) for one in gradients]

    def _looped(self, inputs: Any, targets: Any) -> tuple[Any, Any, list[Any]]:
        """Return what `_each` does, one sample after another."""
        count, dtype = _count(inputs), self._variables[0].dtype
        arrays = [tf.TensorArray(dtype, count, element_shape=()) for _ in range(2)]
        zeros = [tf.zeros(variable.shape, variable.dtype) for variable in self._variables]

        def body(place: Any, losses: Any, norms: Any, total: list[Any]) -> tuple[Any, ...]:
            sample = tf.nest.map_structure(lambda array: array[place], (inputs, targets))
            loss, gradients = self._of_one(*_batch_of(sample))
            norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(one)) for one in gradients]))
            factor = self._factors(norm)
            total = [one + factor * gradient for one, gradient in zip(total, gradients, strict=True)]
            return place + 1, losses.write(place, loss), norms.write(place, norm), total

        _, losses, norms, total = tf.while_loop(
            lambda place, *_: place < count, body, (tf.constant(0), *arrays, zeros), maximum_iterations=count
        )
        return losses.stack(), norms.stack(), total

    def _factors(self, norms: Any) -> Any:
        """Return what gradients of these norms are multiplied with: 1 for a norm of 0."""
        return self._asked.max_norm / tf.maximum(norms, self._asked.max_norm)

    def norms(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the norm of each sample's gradient."""
        found = self._replicas.local(self._norms(*batch)[1])
        return np.concatenate([part.numpy() for part in found]).astype(np.float64)

    def noisy_gradients(self, batch: DeviceBatch) -> Arrays:
        """Return the gradients that the next step hands to the optimiser; its noise is drawn again then."""
        before = snapshots.copies([self._draws.state])
        _, gradients = self._noisily(*batch)
        snapshots.put_back([self._draws.state], before)
        first = self._of_first(gradients)
        return {name: one.numpy() for name, one in zip(self._parameters, first, strict=True)}

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with the way to the gradients and how they are clipped."""
        clipping = {"max_norm": self._asked.max_norm, "noise_multiplier": self._asked.noise_multiplier}
        return super().settings() | {OPTION: self._way} | clipping


def _chosen(asked: str, net: Any, mode: str) -> str:
    """Return the way to a model's gradients; raise UnsupportedError where it lacks the one that is asked for."""
    is_recurrent = any(isinstance(module, (nn.LSTM, nn.GRU)) for module in net.submodules)
    if asked == DEFAULT:
        return LOOP if is_recurrent or border.generators(net) else VMAP
    if asked == VMAP and border.generators(net):
        msg = "tf.vectorized_map draws one mask of Dropout for all samples; choose per_sample=loop or jacobian"
        raise UnsupportedError(msg)
    if asked == VMAP and is_recurrent:
        msg = (
            "tf.vectorized_map cannot convert the gradient of the tf.while_loop that nn.LSTM and nn.GRU are (ZerosLike "
            "of a list of tensors); choose per_sample=loop or jacobian"
        )
        raise UnsupportedError(msg)
    if asked == JACOBIAN and is_recurrent and mode == "compiled":
        msg = (
            "XLA cannot compile the Jacobian of the tf.while_loop that nn.LSTM and nn.GRU are (TensorListReserve of a "
            "list of lists); choose per_sample=loop, or mode=graph"
        )
        raise UnsupportedError(msg)
    return asked


def _batch_of(sample: Any) -> Any:
    """Return a sample's arrays with a batch axis of length 1, so that models for batches take it."""
    return tf.nest.map_structure(lambda array: array[tf.newaxis], sample)


def _count(inputs: Any) -> int:
    """Return how many samples a batch has."""
    return int(tf.nest.flatten(inputs)[0].shape[0])


def _squares(gradients: Any) -> Any:
    """Return the sum of squares of each sample's part of (batch, ...)."""
    return tf.reduce_sum(tf.square(gradients), axis=tuple(range(1, len(gradients.shape))))
