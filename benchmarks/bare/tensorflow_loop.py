"""A training or inference loop in TensorFlow as a user writes it, see loop.py.

python tensorflow_loop.py WORKLOAD BATCH [--device cuda]
"""

import keras
import tensorflow as tf
from keras import layers
from loop import asked, batches, missing, serve

workload, batch_size, device = asked()
if device == "cuda":
    if not tf.config.list_physical_devices("GPU"):
        missing(device, f"TensorFlow {tf.__version__} finds none")
    tf.config.experimental.enable_tensor_float_32_execution(enabled=False)
else:
    tf.config.set_visible_devices([], "GPU")
LABELS = tf.int64 if device == "cuda" else tf.int32
"""On a GPU int32 would stay in the memory of the host."""


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
data = [(tf.constant(x), tf.constant(y, LABELS)) for x, y in batches(workload, batch_size)]


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


def wait(result: tf.Tensor) -> None:
    """Wait for the last result, on a GPU for all that it was given."""
    if device == "cuda":
        tf.test.experimental.sync_devices()
    else:
        result.numpy()


serve(infer if workload == "mlp-1024" else train, data, wait=wait)
