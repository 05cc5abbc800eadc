"""A training or inference loop in TensorFlow as a user writes it; see frameworks/bare_loop.py.

Not run on a GPU by us.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Read when the device starts: all of a GPU would be taken, and another process has to fit beside it.
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

import keras
import numpy as np
import tensorflow as tf
from keras import layers


def convolution(channels: int) -> list[keras.Layer]:
    """Return two convolutions with ReLU, and a mean over 2 x 2."""
    return [
        layers.Conv2D(channels, 3, padding="same", activation="relu"),
        layers.Conv2D(channels, 3, padding="same", activation="relu"),
        layers.AveragePooling2D(2),
    ]


def model_of(workload: str) -> tuple[keras.Model, Any]:
    """Return a workload's model and its optimiser."""
    if workload == "mlp-mnist":
        dense = [layers.Dense(512, activation="relu"), layers.Dense(10)]
        return keras.Sequential([keras.Input((784,)), *dense]), keras.optimizers.Adam(1e-3)
    if workload == "mlp-1024":
        hidden = [layers.Dense(512, activation="relu") for _ in range(3)]
        return keras.Sequential([keras.Input((1024,)), *hidden, layers.Dense(2)]), None
    body = [layer for channels in (32, 64, 128) for layer in convolution(channels)]
    head = [
        layers.Conv2D(256, 3, padding="same", activation="relu"),
        layers.Conv2D(10, 3, padding="same"),
        layers.GlobalAveragePooling2D(),
    ]
    return keras.Sequential([keras.Input((32, 32, 3)), *body, *head]), keras.optimizers.SGD(0.15)


def make(workload: str, batches: list[tuple[Any, Any]], device: str) -> tuple[Callable[..., Any], list[Any], Any]:
    """Return the step, its batches on the device, and what waits for a result."""
    tf.config.experimental.enable_tensor_float_32_execution(False)  # noqa: FBT003 - its only argument
    if device == "cpu":
        tf.config.set_visible_devices([], "GPU")
    # TensorFlow keeps int32 in the host's memory even on a GPU.
    whole = np.int32 if device == "cpu" else np.int64
    model, optimizer = model_of(workload)
    criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    data = [(tf.identity(tf.constant(x)), tf.identity(tf.constant(y.astype(whole)))) for x, y in batches]

    @tf.function
    def train(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = criterion(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def infer(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        del y
        return model(x, training=False)

    def wait(result: tf.Tensor) -> None:
        if device == "cuda":
            tf.test.experimental.sync_devices()
        else:
            result.numpy()

    return infer if workload == "mlp-1024" else train, data, wait
