"""A training or inference loop in JAX as a user writes it; see frameworks/bare_loop.py.

Not run on a GPU by us.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Read when the backend starts: three quarters of a GPU would be taken, and another process has to fit beside it.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class MLP(nnx.Module):
    """Dense layers with ReLU between them."""

    def __init__(self, *sizes: int) -> None:
        """Take the sizes from the input to the output."""
        rngs = nnx.Rngs(0)
        self.layers = nnx.List([nnx.Linear(a, b, rngs=rngs) for a, b in pairwise(sizes)])

    def __call__(self, x: jax.Array) -> jax.Array:
        """Take (batch, features), return logits."""
        for layer in self.layers[:-1]:
            x = nnx.relu(layer(x))
        return self.layers[-1](x)


class CNN(nnx.Module):
    """Eight convolutions; the last two without pooling."""

    def __init__(self) -> None:
        """Make the layers."""
        channels, rngs = (3, 32, 32, 64, 64, 128, 128, 256, 10), nnx.Rngs(0)
        self.layers = nnx.List([nnx.Conv(a, b, (3, 3), padding=1, rngs=rngs) for a, b in pairwise(channels)])

    def __call__(self, x: jax.Array) -> jax.Array:
        """Take (batch, height, width, 3), return logits."""
        for index, layer in enumerate(self.layers[:-1]):
            x = nnx.relu(layer(x))
            if index % 2 == 1 and index < 6:  # noqa: PLR2004 - after every second of the first six
                x = nnx.avg_pool(x, (2, 2), (2, 2))
        return self.layers[-1](x).mean((1, 2))


def model_of(workload: str) -> tuple[nnx.Module, Any]:
    """Return a workload's model and its optimiser."""
    if workload == "mlp-mnist":
        return MLP(784, 512, 10), optax.adam(1e-3)
    if workload == "mlp-1024":
        return MLP(1024, 512, 512, 512, 2), optax.identity()
    return CNN(), optax.sgd(0.15)


def make(workload: str, batches: list[tuple[Any, Any]], device: str) -> tuple[Callable[..., Any], list[Any], Any]:
    """Return the step, its batches on the device, and what waits for a result."""
    jax.config.update("jax_default_device", jax.devices(device)[0])
    jax.config.update("jax_default_matmul_precision", "highest")
    model, transformation = model_of(workload)
    graph, parameters = nnx.split(model)
    state = [parameters, transformation.init(parameters)]
    data = [(jnp.array(x), jnp.array(y)) for x, y in batches]

    @partial(jax.jit, donate_argnums=(0, 1))
    def update(parameters: Any, optimizer_state: Any, x: jax.Array, y: jax.Array) -> tuple[Any, Any, jax.Array]:
        def loss_of(parameters: Any) -> jax.Array:
            logits = nnx.merge(graph, parameters)(x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

        loss, gradients = jax.value_and_grad(loss_of)(parameters)
        updates, optimizer_state = transformation.update(gradients, optimizer_state, parameters)
        return optax.apply_updates(parameters, updates), optimizer_state, loss

    @jax.jit
    def forward(parameters: Any, x: jax.Array) -> jax.Array:
        return nnx.merge(graph, parameters)(x)

    def train(x: jax.Array, y: jax.Array) -> jax.Array:
        state[0], state[1], loss = update(state[0], state[1], x, y)
        return loss

    def infer(x: jax.Array, y: jax.Array) -> jax.Array:
        del y
        return forward(parameters, x)

    def wait(result: jax.Array) -> None:
        jax.block_until_ready((result, state))

    return infer if workload == "mlp-1024" else train, data, wait
