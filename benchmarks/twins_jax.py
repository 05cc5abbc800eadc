"""GPT-2, BERT and an LSTM as flax's users write them with nnx: its own attention, its RNN, nnx.Optimizer and nnx.jit.

What is computed is the workload's. flax ships layers and no such models; transformers has none in flax any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

if TYPE_CHECKING:
    from collections.abc import Callable


class Layer(nnx.Module):
    """Attention and a dense part, with LayerNorm before each (GPT-2) or behind (BERT)."""

    def __init__(self, config: Any, rngs: nnx.Rngs, *, before: bool) -> None:
        """Make the layers."""
        features = config["features"]
        wide = config.get("dense", 4 * features)
        self.before = before
        epsilon = 1e-5 if before else 1e-12
        self.attention = nnx.MultiHeadAttention(config["heads"], features, decode=False, rngs=rngs)
        self.wide, self.narrow = nnx.Linear(features, wide, rngs=rngs), nnx.Linear(wide, features, rngs=rngs)
        self.first, self.second = (nnx.LayerNorm(features, epsilon=epsilon, rngs=rngs) for _ in range(2))
        self.drop = nnx.Dropout(config.get("dropout", 0.0), rngs=rngs)

    def __call__(self, x: jax.Array, mask: jax.Array) -> jax.Array:
        """Add both parts."""
        if self.before:
            x = x + self.attention(self.first(x), mask=mask)
            return x + self.narrow(nnx.gelu(self.wide(self.second(x)), approximate=True))
        x = self.first(x + self.drop(self.attention(x, mask=mask)))
        return self.second(x + self.drop(self.narrow(nnx.gelu(self.wide(x), approximate=False))))


class GPT(nnx.Module):
    """Embeddings, layers, and the product with the embeddings."""

    def __init__(self, config: Any, rngs: nnx.Rngs) -> None:
        """Make the layers."""
        features = config["features"]
        self.tokens = nnx.Embed(config["tokens"], features, rngs=rngs)
        self.positions = nnx.Embed(config["positions"], features, rngs=rngs)
        self.layers = nnx.List([Layer(config, rngs, before=True) for _ in range(config["layers"])])
        self.norm = nnx.LayerNorm(features, epsilon=1e-5, rngs=rngs)

    def __call__(self, inputs: dict[str, jax.Array]) -> jax.Array:
        """Return the logits."""
        ids = inputs["ids"]
        x = self.tokens(ids) + self.positions(jnp.arange(ids.shape[1]))
        mask = nnx.make_causal_mask(ids)
        for layer in self.layers:
            x = layer(x, mask)
        return self.tokens.attend(self.norm(x))


class BERT(nnx.Module):
    """Embeddings, layers, and both heads."""

    def __init__(self, config: Any, rngs: nnx.Rngs) -> None:
        """Make the layers."""
        features = config["features"]
        self.tokens = nnx.Embed(config["tokens"], features, rngs=rngs)
        self.positions = nnx.Embed(config["positions"], features, rngs=rngs)
        self.segments = nnx.Embed(2, features, rngs=rngs)
        self.norm, self.head_norm = (nnx.LayerNorm(features, epsilon=1e-12, rngs=rngs) for _ in range(2))
        self.drop = nnx.Dropout(config["dropout"], rngs=rngs)
        self.layers = nnx.List([Layer(config, rngs, before=False) for _ in range(config["layers"])])
        self.transform, self.pooler = (nnx.Linear(features, features, rngs=rngs) for _ in range(2))
        self.bias = nnx.Param(jnp.zeros(config["tokens"]))
        self.next_sentence = nnx.Linear(features, 2, rngs=rngs)

    def __call__(self, inputs: dict[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        """Return the logits of masked tokens and of the next sentence."""
        ids = inputs["ids"]
        x = self.tokens(ids) + self.positions(jnp.arange(ids.shape[1])) + self.segments(inputs["segments"])
        x = self.drop(self.norm(x))
        within = jnp.arange(ids.shape[1]) < inputs["length"][:, None]
        mask = nnx.make_attention_mask(jnp.ones_like(ids), within)
        for layer in self.layers:
            x = layer(x, mask)
        masked = jnp.take_along_axis(x, inputs["masked_positions"][..., None], axis=1)
        masked = self.head_norm(nnx.gelu(self.transform(masked), approximate=False))
        return self.tokens.attend(masked) + self.bias[...], self.next_sentence(jnp.tanh(self.pooler(x[:, 0])))


class Text(nnx.Module):
    """An LSTM on words."""

    def __init__(self, config: Any, rngs: nnx.Rngs) -> None:
        """Make the layers."""
        hidden = config["hidden"]
        self.table = nnx.Embed(config["words"], hidden, rngs=rngs)
        self.recurrent = nnx.RNN(nnx.OptimizedLSTMCell(hidden, hidden, rngs=rngs))
        self.head = nnx.Linear(hidden, 2, rngs=rngs)

    def __call__(self, inputs: dict[str, jax.Array]) -> jax.Array:
        """Return the logits of each text."""
        return self.head(self.recurrent(self.table(inputs["ids"])).mean(1))


class Recurrent(nnx.Module):
    """One recurrent layer, and classes by the mean of what it gives."""

    def __init__(self, cell: type[nnx.Module], rngs: nnx.Rngs, *, both: bool) -> None:
        """Make the layers, as scaled.py has them."""
        ways = [nnx.RNN(cell(128, 256, rngs=rngs)) for _ in range(1 + both)]  # type: ignore[call-arg]
        self.layer = nnx.Bidirectional(*ways) if both else ways[0]
        self.head = nnx.Linear(256 * (1 + both), 10, rngs=rngs)

    def __call__(self, inputs: dict[str, jax.Array]) -> jax.Array:
        """Return the logits."""
        return self.head(self.layer(inputs["x"]).mean(1))


def _loss(outputs: Any, targets: dict[str, jax.Array]) -> jax.Array:
    """Return the sum of the mean cross-entropies."""
    of = optax.softmax_cross_entropy_with_integer_labels
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return sum(of(logits, labels).mean() for logits, labels in zip(outputs, targets.values(), strict=True))


def _optimizer(declared: Any) -> optax.GradientTransformation:
    """Return what an optax user writes for the workload's optimiser."""
    if type(declared).__name__ == "SGD":
        return optax.sgd(declared.learning_rate)
    schedule, rate = declared.schedule, declared.learning_rate
    falling = {
        "Cosine": lambda s: optax.cosine_decay_schedule(rate, s.steps - s.warmup_steps, s.final if s else 0),
        "Linear": lambda s: optax.linear_schedule(rate, rate * s.final, s.steps - s.warmup_steps),
    }[type(schedule).__name__](schedule)
    rising = optax.linear_schedule(0.0, rate, schedule.warmup_steps)
    adamw = optax.adamw(
        optax.join_schedules([rising, falling], [schedule.warmup_steps]),
        b1=declared.beta1,
        b2=declared.beta2,
        eps=declared.epsilon,
        weight_decay=declared.weight_decay,
        mask=lambda parameters: jax.tree.map(lambda one: one.ndim > 1, parameters),
    )
    return optax.chain(optax.clip_by_global_norm(declared.clip_norm), adamw)


def _twin(make: Any) -> Callable[..., Callable[[], None]]:
    """Return what makes the step of a loop by hand for one kind of network."""

    def made(model: Any, scenario: str, batch: Any) -> Callable[[], None]:
        network = make(model.size.config, nnx.Rngs(0))
        inputs, targets = (jax.tree.map(jnp.array, dict(one)) for one in (batch.inputs, batch.targets))
        return _infer(network, inputs) if scenario == "infer" else _train(network, model.optimizer, inputs, targets)

    return made


def _infer(network: Any, inputs: Any) -> Callable[[], None]:
    """Return a jitted forward pass in evaluation mode."""
    network.eval()
    forward = nnx.cached_partial(nnx.jit(lambda net, x: net(x)), network)
    return lambda: jax.block_until_ready(forward(inputs))


def _train(network: Any, declared: Any, inputs: Any, targets: Any) -> Callable[[], None]:
    """Return a jitted training step, its graph cached as flax's guide to performance has it, its state donated."""
    optimizer = nnx.Optimizer(network, _optimizer(declared), wrt=nnx.Param)

    def step(net: Any, update: Any, x: Any, y: Any) -> jax.Array:
        loss, gradients = nnx.value_and_grad(lambda one: _loss(one(x), y))(net)
        update.update(net, gradients)
        return loss

    train = nnx.cached_partial(nnx.jit(step, donate_argnums=(0, 1)), network, optimizer)

    def call() -> None:
        loss = train(inputs, targets)
        jax.block_until_ready((nnx.state(network), nnx.state(optimizer), loss))

    return call


def _recurrent(cell: type[nnx.Module], *, both: bool) -> Callable[..., Callable[[], None]]:
    """Return what makes the step of a loop by hand for one layer."""
    return _twin(lambda _, rngs: Recurrent(cell, rngs, both=both))


TWINS = {
    "gpt2": _twin(GPT),
    "bert-base": _twin(BERT),
    "imdb-lstm": _twin(Text),
    "lstm": _recurrent(nnx.OptimizedLSTMCell, both=False),
    "lstm-both": _recurrent(nnx.OptimizedLSTMCell, both=True),
    "gru": _recurrent(nnx.GRUCell, both=False),
    "gru-both": _recurrent(nnx.GRUCell, both=True),
}
