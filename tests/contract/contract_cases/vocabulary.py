"""A tiny model for every name of the vocabulary, with what it must give in NumPy float64.

Imported by the tests and, in each framework's own interpreter, by child.py: of what is installed, NumPy only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.spec.batch import INPUT, Batch, labelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Weights = dict[str, Array]
    Pair = int | tuple[int, int]

BATCH = 4
CLASSES = 3


@dataclass(frozen=True)
class Case:
    """One model: what `build` makes of the vocabulary, and what it must compute.

    The gradient of every parameter flows through all that stands behind the first layer.
    """

    names: tuple[str, ...]
    """Of the vocabulary, which this case is there for."""
    build: Callable[[Any], Any]
    forward: Callable[[Weights, Array], Array]
    """In evaluation, from parameters and state."""
    x: Array
    in_training: Callable[[Weights, Array], Array] | None = None
    """None: the same as in evaluation."""
    batch_statistics: Callable[[Weights, Array], dict[str, tuple[Array, Array, int, float]]] | None = None
    """By layer: the batch's mean and biased variance, of how many values a channel, and the layer's momentum."""
    loss: Callable[[Any, Any, Any], Any] | None = None
    """None: cross_entropy."""
    expected_loss: Callable[[Array, Any], float] | None = None
    targets: dict[str, Array] | None = None
    """What the loss takes, by name; None: a label for each sample."""
    stopped: Callable[[Weights, Weights, Array], Array] | None = None
    """What is differentiated, from parameters and from those that `stop_gradient` has seen; None: `forward`."""
    deterministic: bool = True
    """False: its gradients are drawn, and only its outputs in evaluation are held against NumPy."""


def labels(x: Array) -> Array:
    """Return a label for each sample."""
    return (np.arange(len(x)) % CLASSES).astype(np.int32)


def targets_of(case: Case) -> Any:
    """Return what a case's loss is called with: the array where there is one, else all by name."""
    if case.targets is None:
        return labels(case.x)
    return next(iter(case.targets.values())) if len(case.targets) == 1 else case.targets


def batch_of(case: Case) -> Batch:
    """Return a case's batch."""
    return labelled(case.x, labels(case.x)) if case.targets is None else Batch({INPUT: case.x}, case.targets)


def cross_entropy(logits: Array, targets: Array) -> float:
    """Return the mean over the batch of the negative logarithm of the label's probability."""
    return float(-log_softmax(logits)[np.arange(len(logits)), targets].mean())


def expected_loss(case: Case, weights: Weights, seen: Weights | None = None) -> float:
    """Return the loss of a case on its own batch; what `stop_gradient` sees follows from parameters of its own."""
    forward = case.in_training or case.forward
    if case.stopped is not None:
        return cross_entropy(case.stopped(weights, seen or weights, case.x.astype(np.float64)), targets_of(case))
    return (case.expected_loss or cross_entropy)(forward(weights, case.x.astype(np.float64)), targets_of(case))


def expected_state(case: Case, state: Weights, weights: Weights, *, unbiased: bool) -> Weights:
    """Return the running statistics after one training step."""
    assert case.batch_statistics is not None
    moved = {}
    x = case.x.astype(np.float64)
    for layer, (mean, variance, count, momentum) in case.batch_statistics(weights, x).items():
        moments = {"running_mean": mean, "running_variance": variance * (count / (count - 1) if unbiased else 1)}
        for name, new in ((f"{layer}.{last}", moment) for last, moment in moments.items()):
            moved[name] = (1 - momentum) * state[name] + momentum * new
    return moved


def expected_gradients(case: Case, weights: Weights, state: Weights, width: float = 1e-6) -> Weights:
    """Return every parameter's gradient by central differences, exact to about 1e-9 in float64."""
    gradients = {name: np.zeros_like(value) for name, value in weights.items()}
    for name, value in weights.items():
        for index in np.ndindex(value.shape):
            losses = []
            for offset in (width, -width):
                moved = value.copy()
                moved[index] += offset
                losses.append(expected_loss(case, weights | state | {name: moved}, weights | state))
            gradients[name][index] = (losses[0] - losses[1]) / (2 * width)
    return gradients


# --- What the names mean, in NumPy ------------------------------------------------------------------------------------


def linear(weights: Weights, name: str, x: Array) -> Array:
    """Multiply by the weight over the last axis and add the bias."""
    return x @ weights[f"{name}.weight"] + weights.get(f"{name}.bias", 0.0)


def pair(number: Pair) -> tuple[int, int]:
    """Return (vertical, horizontal)."""
    return number if isinstance(number, tuple) else (number, number)


def windows(x: Array, kernel: Pair, stride: int, padding: Pair, fill: float) -> Array:
    """Return (batch, height, width, channels, kernel height, kernel width): each window of a padded map."""
    padded = np.pad(x, ((0, 0), *((side, side) for side in pair(padding)), (0, 0)), constant_values=fill)
    return np.lib.stride_tricks.sliding_window_view(padded, pair(kernel), axis=(1, 2))[:, ::stride, ::stride]


def conv2d(weights: Weights, name: str, x: Array, stride: int = 1, padding: Pair = 0) -> Array:
    """Cross-correlation with zero padding."""
    weight = weights[f"{name}.weight"]
    seen = windows(x, weight.shape[:2], stride, padding, 0.0)
    return np.einsum("bhwcij,ijco->bhwo", seen, weight) + weights.get(f"{name}.bias", 0.0)


def max_pool2d(x: Array, kernel: int, stride: int, padding: int = 0) -> Array:
    """Largest of each window; padding never wins."""
    return windows(x, kernel, stride, padding, -np.inf).max((-1, -2))


def avg_pool2d(x: Array, kernel: int, stride: int, padding: int = 0) -> Array:
    """Mean of each window, without the padded zeros."""
    count = windows(np.ones_like(x), kernel, stride, padding, 0.0).sum((-1, -2))
    return windows(x, kernel, stride, padding, 0.0).sum((-1, -2)) / count


def layer_norm(weights: Weights, name: str, x: Array, epsilon: float) -> Array:
    """Over the last axis, by the biased variance."""
    centred = x - x.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)
    return normal * weights[f"{name}.scale"] + weights.get(f"{name}.bias", 0.0)


def batch_norm(weights: Weights, name: str, x: Array, epsilon: float, *, training: bool) -> Array:
    """Over all axes but the last: in training by the batch's mean and biased variance."""
    axes = tuple(range(x.ndim - 1))
    mean = x.mean(axes) if training else weights[f"{name}.running_mean"]
    variance = x.var(axes) if training else weights[f"{name}.running_variance"]
    return (x - mean) / np.sqrt(variance + epsilon) * weights[f"{name}.scale"] + weights[f"{name}.bias"]


def softmax(x: Array) -> Array:
    """Over the last axis."""
    return np.exp(log_softmax(x))


def log_softmax(x: Array) -> Array:
    """Over the last axis."""
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def sigmoid(x: Array) -> Array:
    """1 / (1 + e^-x)."""
    return 1 / (1 + np.exp(-x))


def gelu(x: Array) -> Array:
    """Return x times the normal distribution's cumulative probability at x, by the error function."""
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


# --- Cases ------------------------------------------------------------------------------------------------------------


def random(*shape: int) -> Array:
    """Return float32 inputs, the same on every machine."""
    return np.random.RandomState(sum(shape)).standard_normal(shape).astype(np.float32)


def model(nn: Any, layers: dict[str, Any], forward: Callable[[Any, Any], Any]) -> Any:
    """Make a Module with these layers as attributes."""

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, layer in layers.items():
                setattr(self, name, layer)

        def forward(self, x: Any) -> Any:
            return forward(self, x)

    return Model()


def after_linear(name: str, function: Callable[[Any, Any], Any], expected: Callable[[Array], Array]) -> Case:
    """Make the case of a function from (batch, 3) to (batch, 3), behind a Linear."""
    return Case(
        names=(name,),
        build=lambda nn: model(nn, {"first": nn.Linear(5, CLASSES)}, lambda m, x: function(nn, m.first(x))),
        forward=lambda w, x: expected(linear(w, "first", x)),
        x=3 * random(BATCH, 5),
    )


def on_maps(
    names: tuple[str, ...], function: Callable[[Any, Any], Any], expected: Callable[[Array], Array], *, side: int = 6
) -> Case:
    """Make the case of a function of feature maps, behind a Conv2d and before the mean over height and width."""
    return Case(
        names=names,
        build=lambda nn: model(
            nn, {"first": nn.Conv2d(2, CLASSES, 1)}, lambda m, x: nn.global_avg_pool2d(function(nn, m.first(x)))
        ),
        forward=lambda w, x: expected(conv2d(w, "first", x)).mean((1, 2)),
        x=random(BATCH, side, side, 2),
    )


def convolution(kernel: Pair, stride: int, padding: Pair, *, side: int, bias: bool = True) -> Case:
    """Make the case of a Conv2d of a map of this side."""
    return Case(
        names=("Conv2d", "global_avg_pool2d"),
        build=lambda nn: model(
            nn,
            {"first": nn.Conv2d(2, CLASSES, kernel, stride=stride, padding=padding, bias=bias)},
            lambda m, x: nn.global_avg_pool2d(nn.tanh(m.first(x))),
        ),
        forward=lambda w, x: np.tanh(conv2d(w, "first", x, stride, padding)).mean((1, 2)),
        x=random(BATCH, side, side, 2),
    )


def flattened(*, conv_first: bool) -> Case:
    """Make the case of a Linear behind a flattened map that is neither square nor has as many channels as rows."""

    def build(nn: Any) -> Any:
        layers = {"head": nn.Linear((2, 3, 4) if conv_first else [2, 3, 2], CLASSES)}
        if conv_first:
            layers["first"] = nn.Conv2d(2, 4, 1)
        return model(nn, layers, lambda m, x: m.head(nn.flatten(m.first(x) if conv_first else x)))

    def forward(weights: Weights, x: Array) -> Array:
        x = conv2d(weights, "first", x) if conv_first else x
        return linear(weights, "head", x.reshape(len(x), -1))

    return Case(names=("Linear", "flatten"), build=build, forward=forward, x=random(BATCH, 2, 3, 2))


def normalised(*, maps: bool, epsilon: float, momentum: float, scale: float) -> Case:
    """Make the case of two BatchNorms, the second with the default momentum and epsilon, on maps or on vectors."""

    def build(nn: Any) -> Any:
        layers = {
            "first": nn.Conv2d(2, CLASSES, 3, stride=2, padding=1) if maps else nn.Linear(5, CLASSES),
            "norm": nn.BatchNorm(CLASSES, momentum=momentum, epsilon=epsilon),
            "last": nn.BatchNorm(CLASSES),
        }

        def forward(m: Any, x: Any) -> Any:
            x = m.last(nn.tanh(m.norm(m.first(x))) * scale)
            return nn.global_avg_pool2d(nn.sigmoid(x)) if maps else x

        return model(nn, layers, forward)

    def inner(weights: Weights, x: Array, *, training: bool) -> tuple[Array, Array]:
        first = conv2d(weights, "first", x, 2, 1) if maps else linear(weights, "first", x)
        return first, scale * np.tanh(batch_norm(weights, "norm", first, epsilon, training=training))

    def outer(weights: Weights, x: Array, *, training: bool) -> Array:
        x = batch_norm(weights, "last", inner(weights, x, training=training)[1], 1e-5, training=training)
        return sigmoid(x).mean((1, 2)) if maps else x

    def statistics(weights: Weights, x: Array) -> dict[str, tuple[Array, Array, int, float]]:
        found = {}
        for name, seen, weight in zip(("norm", "last"), inner(weights, x, training=True), (momentum, 0.1), strict=True):
            axes = tuple(range(seen.ndim - 1))
            found[name] = (seen.mean(axes), seen.var(axes), seen[..., 0].size, weight)
        return found

    return Case(
        names=("BatchNorm",),
        build=build,
        forward=lambda w, x: outer(w, x, training=False),
        in_training=lambda w, x: outer(w, x, training=True),
        batch_statistics=statistics,
        x=random(BATCH, 6, 6, 2) if maps else random(BATCH, 5),
    )


def with_tokens(nn: Any) -> Any:
    """Put a class token before the tokens of a map that is not square, and embeddings of positions on all of them."""
    layers = {
        "first": nn.Conv2d(2, 4, 1),
        "class_token": nn.Parameter((1, 1, 4)),
        "kernel": nn.Parameter((7, 4)),  # a name that a framework gives to its own arrays
        "head": nn.Linear(4, CLASSES),
    }

    def forward(m: Any, x: Any) -> Any:
        x = nn.tokens(m.first(x))
        x = nn.concat([nn.broadcast_to(m.class_token, (x.shape[0], 1, 4)), x], axis=1) * m.kernel
        return m.head(x[:, 0] + x[:, 3] * m.class_token[0])

    return model(nn, layers, forward)


def with_tokens_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    x = conv2d(weights, "first", x).reshape(len(x), 6, 4)
    x = np.concatenate([np.broadcast_to(weights["class_token"], (len(x), 1, 4)), x], 1) * weights["kernel"]
    return linear(weights, "head", x[:, 0] + x[:, 3] * weights["class_token"][0])


def second_head(nn: Any) -> Any:
    """Return two outputs in training, and the first alone in evaluation."""
    layers = {"first": nn.Linear(5, CLASSES), "second": nn.Linear(5, CLASSES)}

    def forward(m: Any, x: Any) -> Any:
        return (m.first(x), nn.tanh(m.second(x))) if nn.in_training(m) else m.first(x)

    return model(nn, layers, forward)


def heads(nn: Any) -> Any:
    """Attend with two heads of three features, where keys and values are longer than the queries."""
    layers = {"first": nn.Linear(4, 18), "head": nn.Linear(6, CLASSES)}

    def forward(m: Any, x: Any) -> Any:
        x = nn.reshape(m.first(x), (-1, 5, 3, 2, 3))
        attended = nn.attention(x[:, :2, 0], x[:, :, 1], x[:, :, 2])
        return m.head(nn.mean(nn.reshape(attended, (-1, 2, 6)) * 2.0, 1))

    return model(nn, layers, forward)


def heads_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    x = linear(weights, "first", x).reshape(len(x), 5, 3, 2, 3).transpose(2, 0, 3, 1, 4)
    q, k, v = x[0][:, :, :2], x[1], x[2]
    attended = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(3)) @ v
    return linear(weights, "head", 2 * attended.transpose(0, 2, 1, 3).reshape(len(attended), 2, 6).mean(1))


def list_of_layers(nn: Any) -> Any:
    """Use a ModuleList by iteration, by index and by length."""

    def forward(m: Any, x: Any) -> Any:
        for layer in m.layers:
            x = nn.tanh(layer(x))
        return m.layers[len(m.layers) - 1](x)

    return model(nn, {"layers": nn.ModuleList([nn.Linear(5, 4), nn.Linear(4, 4)])}, forward)


def list_of_layers_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    x = np.tanh(linear(weights, "layers.0", x))
    return linear(weights, "layers.1", np.tanh(linear(weights, "layers.1", x)))


def nested(nn: Any) -> Any:
    """Put modules into modules."""
    inner = model(nn, {"deep": nn.Linear(5, CLASSES, bias=False)}, lambda m, x: m.deep(x))
    return model(nn, {"outer": inner, "blocks": nn.ModuleList([inner_of(nn)])}, lambda m, x: m.blocks[0](m.outer(x)))


def inner_of(nn: Any) -> Any:
    """Make a module that is held in a list."""
    return model(nn, {"head": nn.Linear(CLASSES, CLASSES)}, lambda m, x: nn.relu(m.head(x)))


def attention(nn: Any) -> Any:
    """Reorder, multiply and join the axes of sequences (batch, 3, 4)."""

    def forward(m: Any, x: Any) -> Any:
        x = m.first(x)
        scores = nn.softmax(nn.matmul(x, nn.permute_dims(x, (0, 2, 1))))
        joined = nn.concat([nn.matmul(scores, x), x], 2)
        return m.head(nn.mean(nn.reshape(joined, (-1, 3, 8)), 1))

    return model(nn, {"first": nn.Linear(4, 4), "head": nn.Linear(8, CLASSES)}, forward)


def attention_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    x = linear(weights, "first", x)
    attended = softmax(x @ x.transpose(0, 2, 1)) @ x
    return linear(weights, "head", np.concatenate([attended, x], 2).mean(1))


def reshaped(nn: Any) -> Any:
    """Bring (batch, 12) to sequences and back, with the batch axis named."""

    def forward(m: Any, x: Any) -> Any:
        return nn.reshape(nn.sum(nn.reshape(m.first(x), (BATCH, 2, 2, CLASSES)), axis=(1, 2)), (BATCH, CLASSES))

    return model(nn, {"first": nn.Linear(5, 4 * CLASSES)}, forward)


def mean_of_everything(nn: Any, outputs: Any, targets: Any) -> Any:
    """Use mean and sum without an axis as a loss."""
    del targets
    return nn.mean(outputs * outputs) + nn.sum(outputs)


def one_output(nn: Any) -> Any:
    """Return one number a sample, for losses of numbers; large ones, of which a sigmoid would be rounded to 0 or 1."""
    return model(nn, {"first": nn.Linear(5, 1)}, lambda m, x: nn.reshape(m.first(x) * 30.0, (-1,)))


CASES: dict[str, Case] = {
    "linear": Case(
        names=("Module", "Linear"),
        build=lambda nn: model(nn, {"first": nn.Linear(5, CLASSES)}, lambda m, x: m.first(x)),
        forward=lambda w, x: linear(w, "first", x),
        x=random(BATCH, 5),
    ),
    "linear of sequences": Case(
        names=("Linear", "mean"),
        build=lambda nn: model(
            nn, {"first": nn.Linear(5, CLASSES, bias=False)}, lambda m, x: nn.mean(nn.tanh(m.first(x)), axis=1)
        ),
        forward=lambda w, x: np.tanh(linear(w, "first", x)).mean(1),
        x=random(BATCH, 2, 5),
    ),
    "list of layers": Case(
        names=("ModuleList",), build=list_of_layers, forward=list_of_layers_in_numpy, x=random(BATCH, 5)
    ),
    "nested modules": Case(
        names=("Module", "ModuleList", "relu"),
        build=nested,
        forward=lambda w, x: np.maximum(linear(w, "blocks.0.head", linear(w, "outer.deep", x)), 0),
        x=random(BATCH, 5),
    ),
    "conv2d": convolution(3, 1, 1, side=5),
    "conv2d with stride on an even side": convolution(3, 2, 1, side=6),
    "conv2d without padding": convolution(2, 1, 0, side=5, bias=False),
    "conv2d with more padding than the kernel's half": convolution(3, 2, 2, side=5),
    "conv2d that is wide": convolution((1, 3), 1, (0, 1), side=5),
    "conv2d that is tall": convolution((5, 2), 2, (1, 0), side=6),
    "a second head in training": Case(
        names=("in_training",),
        build=second_head,
        forward=lambda w, x: linear(w, "first", x),
        in_training=lambda w, x: linear(w, "first", x) + 0.25 * np.tanh(linear(w, "second", x)),
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs[0] + 0.25 * outputs[1], targets),
        x=random(BATCH, 5),
    ),
    "max_pool2d": on_maps(("max_pool2d",), lambda nn, x: nn.max_pool2d(x, 2), lambda x: max_pool2d(x, 2, 2)),
    "max_pool2d of negative maps with padding": on_maps(
        ("max_pool2d",), lambda nn, x: nn.max_pool2d(x - 9.0, 3, 2, 1), lambda x: max_pool2d(x - 9.0, 3, 2, 1)
    ),
    "max_pool2d that leaves a rest": on_maps(
        ("max_pool2d",), lambda nn, x: nn.max_pool2d(x, 3, stride=2), lambda x: max_pool2d(x, 3, 2)
    ),
    "avg_pool2d": on_maps(
        ("avg_pool2d",), lambda nn, x: nn.avg_pool2d(nn.tanh(x), 2), lambda x: avg_pool2d(np.tanh(x), 2, 2), side=5
    ),
    "avg_pool2d with padding": on_maps(
        ("avg_pool2d",),
        lambda nn, x: nn.avg_pool2d(nn.tanh(x), 3, 2, 1),
        lambda x: avg_pool2d(np.tanh(x), 3, 2, 1),
    ),
    "avg_pool2d with overlap": on_maps(
        ("avg_pool2d",),
        lambda nn, x: nn.avg_pool2d(nn.tanh(x), 3, stride=1, padding=1),
        lambda x: avg_pool2d(np.tanh(x), 3, 1, 1),
    ),
    "flatten of a convolution": flattened(conv_first=True),
    "flatten of the batch itself": flattened(conv_first=False),
    "flatten of sequences": Case(
        names=("flatten",),
        build=lambda nn: model(nn, {"first": nn.Linear(10, CLASSES)}, lambda m, x: m.first(nn.flatten(x))),
        forward=lambda w, x: linear(w, "first", x.reshape(len(x), -1)),
        x=random(BATCH, 2, 5),
    ),
    "layer norm": Case(
        names=("LayerNorm",),
        build=lambda nn: model(
            nn, {"first": nn.Linear(5, 6), "norm": nn.LayerNorm(6)}, lambda m, x: m.norm(m.first(x))
        ),
        forward=lambda w, x: layer_norm(w, "norm", linear(w, "first", x), 1e-5),
        # So small that the default epsilon is not small against the variance.
        x=random(BATCH, 5) / 200,
    ),
    "layer norm with a small epsilon": Case(
        names=("LayerNorm",),
        build=lambda nn: model(
            nn, {"first": nn.Linear(5, 6), "norm": nn.LayerNorm(6, epsilon=1e-6)}, lambda m, x: m.norm(m.first(x))
        ),
        forward=lambda w, x: layer_norm(w, "norm", linear(w, "first", x), 1e-6),
        # So small that it is not small against the variance, and the default epsilon is another.
        x=random(BATCH, 5) / 600,
    ),
    "layer norm with an epsilon": Case(
        names=("LayerNorm",),
        build=lambda nn: model(nn, {"norm": nn.LayerNorm(5, epsilon=0.5)}, lambda m, x: nn.mean(m.norm(x), 1)),
        forward=lambda w, x: layer_norm(w, "norm", x, 0.5).mean(1),
        x=random(BATCH, 2, 5),
    ),
    "layer norm without a bias": Case(
        names=("LayerNorm",),
        build=lambda nn: model(
            nn, {"first": nn.Linear(5, 6), "norm": nn.LayerNorm(6, bias=False)}, lambda m, x: m.norm(m.first(x))
        ),
        forward=lambda w, x: layer_norm(w, "norm", linear(w, "first", x), 1e-5),
        x=random(BATCH, 5),
    ),
    "batch norm of vectors": normalised(maps=False, epsilon=0.5, momentum=0.25, scale=1.0),
    # So small, in the end, that the default epsilon is not small against the variance.
    "batch norm of maps": normalised(maps=True, epsilon=1e-3, momentum=0.01, scale=0.01),
    "tokens and parameters": Case(
        names=("Parameter", "tokens", "broadcast_to", "concat"),
        build=with_tokens,
        forward=with_tokens_in_numpy,
        x=random(BATCH, 2, 3, 2),
    ),
    "attention of heads": Case(names=("attention",), build=heads, forward=heads_in_numpy, x=random(BATCH, 5, 4)),
    "concat of channels": Case(
        names=("concat_channels",),
        build=lambda nn: model(
            nn,
            {"first": nn.Conv2d(2, 1, 1), "second": nn.Conv2d(2, 2, 3, padding=1)},
            lambda m, x: nn.global_avg_pool2d(nn.tanh(nn.concat_channels(one(x) for one in (m.first, m.second)))),
        ),
        forward=lambda w, x: np.tanh(
            np.concatenate([conv2d(w, "first", x), conv2d(w, "second", x, padding=1)], 3)
        ).mean((1, 2)),
        x=random(BATCH, 4, 4, 2),
    ),
    "embedding": Case(
        names=("Embedding",),
        build=lambda nn: model(nn, {"table": nn.Embedding(7, CLASSES)}, lambda m, x: nn.mean(nn.tanh(m.table(x)), 1)),
        forward=lambda w, x: np.tanh(w["table.weight"][x.astype(int)]).mean(1),
        x=np.array([[0, 6, 6], [1, 2, 3], [5, 5, 5], [3, 0, 1]], np.int32),
    ),
    "relu": after_linear("relu", lambda nn, x: nn.relu(x), lambda x: np.maximum(x, 0)),
    "gelu": after_linear("gelu", lambda nn, x: nn.gelu(x), gelu),
    "tanh": after_linear("tanh", lambda nn, x: nn.tanh(x), np.tanh),
    "sigmoid": after_linear("sigmoid", lambda nn, x: nn.sigmoid(x), sigmoid),
    "softmax": after_linear("softmax", lambda nn, x: nn.softmax(x), softmax),
    "log_softmax": after_linear(
        "log_softmax", lambda nn, x: nn.log_softmax(x) * nn.sigmoid(x), lambda x: log_softmax(x) * sigmoid(x)
    ),
    "attention": Case(
        names=("matmul", "permute_dims", "concat", "softmax", "reshape", "mean"),
        build=attention,
        forward=attention_in_numpy,
        x=random(BATCH, 3, 4),
    ),
    "reshape and sum": Case(
        names=("reshape", "sum"),
        build=reshaped,
        forward=lambda w, x: linear(w, "first", x).reshape(BATCH, 4, CLASSES).sum(1),
        x=random(BATCH, 5),
    ),
    "concat of batches": Case(
        names=("concat",),
        build=lambda nn: model(
            nn,
            {"first": nn.Linear(5, CLASSES)},
            lambda m, x: nn.sum(
                nn.reshape(nn.concat((m.first(x * times) for times in (1.0, 2.0)), axis=0), (2, BATCH, CLASSES)), 0
            ),
        ),
        forward=lambda w, x: linear(w, "first", x) + linear(w, "first", x * 2.0),
        x=random(BATCH, 5),
    ),
    "cross_entropy of large logits": Case(
        names=("cross_entropy",),
        build=lambda nn: model(nn, {"first": nn.Linear(5, CLASSES)}, lambda m, x: m.first(x) * 100.0),
        forward=lambda w, x: linear(w, "first", x) * 100.0,
        x=random(BATCH, 5),
    ),
    "mean and sum of everything": Case(
        names=("mean", "sum"),
        build=lambda nn: model(nn, {"first": nn.Linear(5, CLASSES)}, lambda m, x: m.first(x)),
        forward=lambda w, x: linear(w, "first", x),
        x=random(BATCH, 5),
        loss=mean_of_everything,
        expected_loss=lambda outputs, _: float((outputs**2).mean() + outputs.sum()),
    ),
    "mse": Case(
        names=("mse",),
        build=one_output,
        forward=lambda w, x: 30 * linear(w, "first", x)[:, 0],
        x=random(BATCH, 5),
        loss=lambda nn, outputs, targets: nn.mse(outputs, targets),
        expected_loss=lambda outputs, targets: float(((outputs - targets) ** 2).mean()),
    ),
    "binary_cross_entropy": Case(
        names=("binary_cross_entropy",),
        build=one_output,
        forward=lambda w, x: 30 * linear(w, "first", x)[:, 0],
        x=random(BATCH, 5),
        loss=lambda nn, outputs, targets: nn.binary_cross_entropy(outputs, targets),
        expected_loss=lambda outputs, targets: float(
            (np.maximum(outputs, 0) - outputs * targets + np.log1p(np.exp(-np.abs(outputs)))).mean()
        ),
    ),
    "dropout in evaluation": Case(
        names=("Dropout",),
        build=lambda nn: model(
            nn, {"drop": nn.Dropout(0.5), "first": nn.Linear(5, CLASSES)}, lambda m, x: m.drop(m.first(x))
        ),
        forward=lambda w, x: linear(w, "first", x),
        x=random(BATCH, 5),
        deterministic=False,
    ),
}
