"""A training or inference loop in JAX as a user writes it, see loop.py.

python jax_loop.py WORKLOAD BATCH [--device cuda]
"""

from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from loop import asked, batches, missing, serve

workload, batch_size, device = asked()
if device == "cuda":
    try:
        jax.config.update("jax_default_device", jax.devices(device)[0])
    except RuntimeError as error:
        missing(device, str(error))
    jax.config.update("jax_default_matmul_precision", "highest")
rngs = nnx.Rngs(0)


class MLP(nnx.Module):
    """Dense layers with ReLU between them."""

    def __init__(self, *sizes: int) -> None:
        """Take the sizes from the input to the output."""
        self.layers = nnx.List([nnx.Linear(a, b, rngs=rngs) for a, b in pairwise(sizes)])

    def __call__(self, x: jax.Array) -> jax.Array:
        """Take (batch, features), give logits."""
        for layer in self.layers[:-1]:
            x = nnx.relu(layer(x))
        return self.layers[-1](x)


class CNN(nnx.Module):
    """Eight convolutions; the last two without pooling."""

    def __init__(self) -> None:
        """Make the layers."""
        channels = (3, 32, 32, 64, 64, 128, 128, 256, 10)
        self.layers = nnx.List([nnx.Conv(a, b, (3, 3), padding=1, rngs=rngs) for a, b in pairwise(channels)])

    def __call__(self, x: jax.Array) -> jax.Array:
        """Take (batch, height, width, 3), give logits."""
        for index, layer in enumerate(self.layers[:-1]):
            x = nnx.relu(layer(x))
            if index % 2 == 1 and index < 6:
                x = nnx.avg_pool(x, (2, 2), (2, 2))
        return self.layers[-1](x).mean((1, 2))


match workload:
    case "mlp-mnist":
        model, transformation = MLP(784, 512, 10), optax.adam(1e-3)
    case "mlp-1024":
        model, transformation = MLP(1024, 512, 512, 512, 2), optax.identity()
    case "cnn-cifar10":
        model, transformation = CNN(), optax.sgd(0.15)

graph, parameters = nnx.split(model)
state = [parameters, transformation.init(parameters)]
data = [(jnp.array(x), jnp.array(y)) for x, y in batches(workload, batch_size)]


@partial(jax.jit, donate_argnums=(0, 1))
def update(parameters: Any, optimizer_state: Any, x: jax.Array, y: jax.Array) -> tuple[Any, Any, jax.Array]:
    """Train on one batch."""

    def loss_of(parameters: Any) -> jax.Array:
        logits = nnx.merge(graph, parameters)(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, gradients = jax.value_and_grad(loss_of)(parameters)
    updates, optimizer_state = transformation.update(gradients, optimizer_state, parameters)
    return optax.apply_updates(parameters, updates), optimizer_state, loss


@jax.jit
def forward(parameters: Any, x: jax.Array) -> jax.Array:
    """Compute the outputs of one batch."""
    return nnx.merge(graph, parameters)(x)


def train(x: jax.Array, y: jax.Array) -> jax.Array:
    """Train on one batch and keep the state."""
    state[0], state[1], loss = update(state[0], state[1], x, y)
    return loss


def infer(x: jax.Array, y: jax.Array) -> jax.Array:
    """Compute the outputs of one batch."""
    del y
    return forward(parameters, x)


def wait(result: jax.Array) -> None:
    """Wait for the last result and for the state."""
    jax.block_until_ready((result, state))


serve(infer if workload == "mlp-1024" else train, data, wait=wait)
