"""Recurrent layers as Keras' users call them, with a training loop of their own in a tf.function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable


def _network(kind: type[keras.layers.Layer], shape: Any, *, both: bool) -> Any:
    """Return one recurrent layer, and classes by the mean of what it gives, as scaled.py has them."""
    layer = kind(256, return_sequences=True)
    parts = [keras.layers.Bidirectional(layer) if both else layer, keras.layers.GlobalAveragePooling1D()]
    network = keras.Sequential([*parts, keras.layers.Dense(10)])
    network.build(shape)
    return network


def _recurrent(kind: type[keras.layers.Layer], *, both: bool) -> Callable[..., Callable[[], None]]:
    """Return what makes the step of a loop by hand for one layer."""

    def made(model: Any, scenario: str, batch: Any) -> Callable[[], None]:
        x, labels = (tf.constant(one) for one in batch.arrays.values())
        network = _network(kind, x.shape, both=both)
        if scenario == "infer":
            forward = tf.function(lambda: network(x, training=False))
            return lambda: forward().numpy()
        optimizer = keras.optimizers.SGD(model.optimizer.learning_rate)
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        @tf.function
        def train() -> Any:
            with tf.GradientTape() as tape:
                loss = loss_of(labels, network(x, training=True))
            variables = network.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        return lambda: train().numpy()

    return made


TWINS = {
    "lstm": _recurrent(keras.layers.LSTM, both=False),
    "lstm-both": _recurrent(keras.layers.LSTM, both=True),
    "gru": _recurrent(keras.layers.GRU, both=False),
    "gru-both": _recurrent(keras.layers.GRU, both=True),
}
