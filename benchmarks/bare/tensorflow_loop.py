"""A training or inference loop in TensorFlow as a user writes it: `python tensorflow_loop.py WORKLOAD BATCH`."""

import sys

import keras
import tensorflow as tf
from keras import layers
from loop import batches, serve

workload, batch_size = sys.argv[1], int(sys.argv[2])


def convolution(channels: int) -> list[keras.Layer]:
    """Two convolutions with ReLU, and a mean over 2 x 2."""
    return [
        layers.Conv2D(channels, 3, padding="same", activation="relu"),
        layers.Conv2D(channels, 3, padding="same", activation="relu"),
        layers.AveragePooling2D(2),
    ]


match workload:
    case "mlp-mnist":
        model = keras.Sequential([keras.Input((784,)), layers.Dense(512, activation="relu"), layers.Dense(10)])
        optimizer = keras.optimizers.Adam(1e-3)
    case "mlp-1024":
        hidden = [layers.Dense(512, activation="relu") for _ in range(3)]
        model = keras.Sequential([keras.Input((1024,)), *hidden, layers.Dense(2)])
    case "cnn-cifar10":
        body = [layer for channels in (32, 64, 128) for layer in convolution(channels)]
        head = [
            layers.Conv2D(256, 3, padding="same", activation="relu"),
            layers.Conv2D(10, 3, padding="same"),
            layers.GlobalAveragePooling2D(),
        ]
        model = keras.Sequential([keras.Input((32, 32, 3)), *body, *head])
        optimizer = keras.optimizers.SGD(0.15)

criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
data = [(tf.constant(x), tf.constant(y)) for x, y in batches(workload, batch_size)]


@tf.function
def train(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Train on one batch."""
    with tf.GradientTape() as tape:
        loss = criterion(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


@tf.function
def infer(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Compute the outputs of one batch."""
    del y
    return model(x, training=False)


serve(infer if workload == "mlp-1024" else train, data, wait=lambda result: result.numpy())
