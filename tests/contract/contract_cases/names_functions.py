"""Elementwise functions, comparisons, choices, indices and joints: several in one case, each of which all must hold.

Jittor compiles an operation of every new shape for seconds, so functions of one kind share their shapes. Arguments lie
away from kinks and ties, where every framework has a gradient of its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, CLASSES, Case, gelu, linear, model, random, sigmoid, softmax

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array, Weights

WIDTH = 6
"""Of what the first layer gives."""


def of_linear(names: tuple[str, ...], function: Any, expected: Any, *, scale: float = 1.0) -> Case:
    """Make the case of functions of (batch, 6), which give (batch, 3), behind a Linear."""

    def build(nn: Any) -> Any:
        return model(nn, {"first": nn.Linear(5, WIDTH)}, lambda m, x: function(nn, m.first(x)))

    return Case(
        names=names,
        build=build,
        forward=lambda w, x: expected(linear(w, "first", x)),
        x=(scale * random(BATCH, 5)).astype(np.float32),
    )


# --- Element by element -----------------------------------------------------------------------------------------------


def curves(nn: Any, x: Any) -> Any:
    """Use every smooth function; the weights of the sum tell them apart, and the last ones lie far out."""
    smooth = nn.silu(x) + 2.0 * nn.gelu_tanh(x) - 3.0 * nn.elu(x) + 0.5 * nn.softplus(x)
    far = nn.softplus(x * 30.0) * 0.01 + nn.silu(x * 30.0) * 0.02 + nn.gelu_tanh(x * 30.0) * 0.03
    far = far + nn.elu(x * 30.0 + 100.0) * 0.001  # where exp is infinite in float32
    return (smooth + far)[:, :CLASSES]


def softplus(x: Array) -> Array:
    """Return log(1 + exp(x))."""
    return np.logaddexp(x, 0.0)


def gelu_tanh(x: Array) -> Array:
    """Return the approximation of gelu."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def elu(x: Array) -> Array:
    """Return exp(x) - 1 below 0."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def curves_in_numpy(x: Array) -> Array:
    """Return the same."""
    smooth = x * sigmoid(x) + 2 * gelu_tanh(x) - 3 * elu(x) + 0.5 * softplus(x)
    far = softplus(30 * x) * 0.01 + 30 * x * sigmoid(30 * x) * 0.02 + gelu_tanh(30 * x) * 0.03
    far = far + elu(30 * x + 100) * 0.001
    return (smooth + far)[:, :CLASSES]


def kinks(nn: Any, x: Any) -> Any:
    """Use every function of straight pieces; the slope is none that a library has by default."""
    one = nn.leaky_relu(x, slope=0.15) + 2.0 * nn.hard_sigmoid(x) - nn.hard_swish(x) + 0.5 * nn.abs(x)
    return (one + 3.0 * nn.clip(x, low=-0.7, high=1.2) + nn.clip(x, 0.0, 6.0))[:, :CLASSES]


def kinks_in_numpy(x: Array) -> Array:
    """Return the same."""
    hard = np.clip(x + 3, 0, 6) / 6
    one = np.where(x > 0, x, 0.15 * x) + 2 * hard - x * hard + 0.5 * np.abs(x)
    return (one + 3 * np.clip(x, -0.7, 1.2) + np.clip(x, 0, 6))[:, :CLASSES]


def roots(nn: Any, x: Any) -> Any:
    """Use exponentials, logarithms and roots, each of its own part of x."""
    positive = nn.exp(x)
    one = nn.log(positive + 1.0) + 2.0 * nn.sqrt(positive) - 3.0 * nn.rsqrt(positive + 0.5) + 0.1 * nn.exp(x * 2.0)
    return one[:, :CLASSES]


def roots_in_numpy(x: Array) -> Array:
    """Return the same."""
    positive = np.exp(x)
    one = np.log(positive + 1) + 2 * np.sqrt(positive) - 3 / np.sqrt(positive + 0.5) + 0.1 * np.exp(2 * x)
    return one[:, :CLASSES]


def waves(nn: Any, x: Any) -> Any:
    """Use sines and cosines, of a few turns."""
    a, b = nn.split(x * 4.0, sizes=(CLASSES, CLASSES), axis=1)
    return nn.sin(a) - 0.5 * nn.cos(b) + nn.sin(b * 2.0) * nn.cos(a)


def waves_in_numpy(x: Array) -> Array:
    """Return the same."""
    a, b = 4.0 * x[:, :CLASSES], 4.0 * x[:, CLASSES:]
    return np.sin(a) - 0.5 * np.cos(b) + np.sin(2.0 * b) * np.cos(a)


def straight_through(nn: Any) -> Any:
    """Multiply by what no gradient sees, and add a difference of which it sees one side."""

    def forward(m: Any, x: Any) -> Any:
        a, b = nn.split(m.first(x), sizes=(CLASSES, CLASSES), axis=1)
        return a + a * nn.stop_gradient(nn.tanh(b)) + 2.0 * (b - nn.stop_gradient(b))

    return model(nn, {"first": nn.Linear(5, WIDTH)}, forward)


def straight_through_in_numpy(weights: Weights, seen: Weights, x: Array) -> Array:
    """Return the same, with the parameters that are seen apart."""
    found, constant = linear(weights, "first", x), linear(seen, "first", x)
    a, b, still = found[:, :CLASSES], found[:, CLASSES:], constant[:, CLASSES:]
    return a + a * np.tanh(still) + 2.0 * (b - still)


def choices(nn: Any, x: Any) -> Any:
    """Compare, choose, and take the larger and the smaller, of arrays and of arrays with numbers on either side."""
    a, b = nn.split(x, sizes=(CLASSES, CLASSES), axis=1)
    masks = nn.logical_or(nn.less(a, b), nn.logical_and(nn.less_equal(0.5, a), nn.logical_not(nn.less(b, -0.5))))
    chosen = nn.where(masks, a * 2.0, b * b) + nn.where(nn.less(a, 0.25), 0.75, b) + nn.where(masks, a, -1.5)
    larger = nn.maximum(a, b) - 2.0 * nn.minimum(a, b) + nn.maximum(a, 0.125) + nn.minimum(0.375, b)
    return chosen + larger * (1.0 - nn.to_float(masks))


def choices_in_numpy(x: Array) -> Array:
    """Return the same."""
    a, b = x[:, :CLASSES], x[:, CLASSES:]
    masks = (a < b) | ((a >= 0.5) & ~(b < -0.5))
    chosen = np.where(masks, a * 2, b * b) + np.where(a < 0.25, 0.75, b) + np.where(masks, a, -1.5)
    larger = np.maximum(a, b) - 2 * np.minimum(a, b) + np.maximum(a, 0.125) + np.minimum(0.375, b)
    return chosen + larger * (1 - masks)


# --- Joints and reductions --------------------------------------------------------------------------------------------


def joined(nn: Any, x: Any) -> Any:
    """Split to unequal parts, stack along a new axis in the middle and at the end, and take the largest of axes."""
    a, b, c = nn.split(x, (2, 1, 3), axis=-1)
    middle = nn.stack([a, a * b, c[:, :2]], 1)
    last = nn.stack([c, c * 2.0 - 1.0], -1)
    return nn.max(last, axis=-1) + nn.cumsum(nn.cumsum(middle, 1), 2)[:, :, 1] + nn.max(middle) * c


def joined_in_numpy(x: Array) -> Array:
    """Return the same."""
    a, b, c = x[:, :2], x[:, 2:3], x[:, 3:]
    middle = np.stack([a, a * b, c[:, :2]], 1)
    last = np.stack([c, c * 2 - 1], -1)
    return last.max(-1) + middle.cumsum(1).cumsum(2)[:, :, 1] + middle.max() * c


def moved(nn: Any, x: Any) -> Any:
    """Turn round, roll both ways and pad, each along another axis."""
    x = nn.flip(x, 1) * x + nn.roll(x, shift=2, axis=1) + nn.roll(nn.flip(x, 0), -1, axis=0)
    padded = nn.pad(x, widths=((1, 0), (0, 2)), value=0.5)
    return padded[:BATCH, 5:8] * padded[1:, 0:3]


def moved_in_numpy(x: Array) -> Array:
    """Return the same."""
    x = x[:, ::-1] * x + np.roll(x, 2, 1) + np.roll(x[::-1], -1, 0)
    padded = np.pad(x, ((1, 0), (0, 2)), constant_values=0.5)
    return padded[:BATCH, 5:8] * padded[1:, 0:3]


# --- Parameters -------------------------------------------------------------------------------------------------------


def of_parameters(nn: Any) -> Any:
    """Give parameters to functions as they are: in some frameworks they are no plain arrays."""
    layers = {"first": nn.Linear(5, CLASSES), "mix": nn.Parameter((CLASSES, CLASSES))}
    layers |= {name: nn.Parameter((CLASSES,)) for name in ("gate", "rise")}

    def forward(m: Any, x: Any) -> Any:
        curves = nn.sigmoid(m.gate) + nn.relu(m.rise) + nn.silu(m.gate) * nn.softplus(m.rise)
        curves = curves + nn.tanh(m.rise) * nn.gelu(m.gate)
        chosen = nn.where(nn.less(m.gate, m.rise), m.gate, nn.exp(m.rise))
        shares = nn.softmax(nn.stack([m.gate, m.rise], 0)) * nn.permute_dims(m.mix, (1, 0))[:2]
        joined = nn.sum(nn.concat([m.gate, m.rise], 0), 0) + nn.sum(nn.where(nn.equal(m.gate, m.rise), m.gate, 2.0), 0)
        return nn.matmul(m.first(x), m.mix) * (curves + chosen) + nn.sum(shares, 0) + joined

    return model(nn, layers, forward)


def of_parameters_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    gate, rise, mix = weights["gate"], weights["rise"], weights["mix"]
    curves = sigmoid(gate) + np.maximum(rise, 0) + gate * sigmoid(gate) * softplus(rise) + np.tanh(rise) * gelu(gate)
    chosen = np.where(gate < rise, gate, np.exp(rise))
    shares = softmax(np.stack([gate, rise])) * mix.T[:2]
    joined = gate.sum() + rise.sum() + np.where(gate == rise, gate, 2.0).sum()
    return linear(weights, "first", x) @ mix * (curves + chosen) + shares.sum(0) + joined


# --- Integers ---------------------------------------------------------------------------------------------------------

IDS = np.array([[0, 6, 6], [1, 2, 3], [5, 5, 5], [3, 0, 1]], np.int32)
SEGMENTS = np.array([2, 0, 2, 5, 0])
SHARES = np.linspace(-1.0, 2.3, 5).reshape(5, 1)
MASK = np.array([True, False, True])
COLUMNS = np.array([0, 2, 1, 1, 2, 0, 0, 0, 2, 1, 2, 2]).reshape(BATCH, 3, 1)
ROWS = np.arange(24).reshape(BATCH, 2, 3) * 7 // 4 % 3


def gathered(nn: Any) -> Any:
    """Look rows, columns and elements up, add up by segments, and mark places: by integers of all three origins."""
    layers = {
        "table": nn.Parameter((7, 4)),
        "edges": nn.Parameter((5, CLASSES)),
        "segments": nn.constant(SEGMENTS),
        "shares": nn.constant(SHARES),
        "mask": nn.constant(MASK),
        "columns": nn.constant(COLUMNS),
        "rows": nn.constant(ROWS),
    }

    def forward(m: Any, ids: Any) -> Any:
        some = nn.take(nn.take(m.table, ids), nn.arange(3) + 1, axis=2)
        picked = nn.take_along_axis(some, m.columns, 2)
        chosen = nn.where(m.mask, some, picked)
        sums = nn.matmul(nn.one_hot(ids, n=7), nn.segment_sum(m.edges * m.shares, m.segments, count=7))
        parts = nn.split(nn.take_along_axis(some, m.rows, axis=1), (1, 1), axis=1)
        parts.reverse()  # a list in every framework
        second, first = parts
        others = nn.reshape(first - second * 0.5, (BATCH, 3))
        return nn.sum(chosen * sums, 1) + others + nn.to_float(nn.equal(ids, nn.arange(3)))

    return model(nn, layers, forward)


def gathered_in_numpy(weights: Weights, ids: Array) -> Array:
    """Return the same."""
    ids = ids.astype(int)
    some = weights["table"][ids][:, :, 1:]
    picked = np.take_along_axis(some, COLUMNS, 2)
    segments = np.zeros((7, CLASSES))
    np.add.at(segments, SEGMENTS, weights["edges"] * SHARES)
    first, second = np.moveaxis(np.take_along_axis(some, ROWS, 1), 1, 0)
    others = first - second / 2
    return (np.where(MASK, some, picked) * segments[ids]).sum(1) + others + (ids == np.arange(3))


def bags(nn: Any) -> Any:
    """Add up the rows of one table, and average those of another."""
    layers = {"sums": nn.EmbeddingBag(7, CLASSES, "sum"), "means": nn.EmbeddingBag(7, CLASSES, mode="mean")}
    return model(nn, layers, lambda m, x: m.sums(x) * nn.tanh(m.means(x)))


def bags_in_numpy(weights: Weights, ids: Array) -> Array:
    """Return the same."""
    ids = ids.astype(int)
    return weights["sums.weight"][ids].sum(1) * np.tanh(weights["means.weight"][ids].mean(1))


def noisy(nn: Any) -> Any:
    """Add noise, which there is none of in evaluation."""
    layers = {"first": nn.Linear(5, CLASSES), "noise": nn.RandomNormal()}

    def forward(m: Any, x: Any) -> Any:
        x = m.first(x)
        return x * nn.exp(m.noise(x)) + m.noise(x)

    return model(nn, layers, forward)


CASES: dict[str, Case] = {
    "smooth curves": of_linear(
        ("silu", "gelu_tanh", "elu", "softplus"),
        curves,
        curves_in_numpy,
    ),
    "curves of straight pieces": of_linear(
        ("leaky_relu", "hard_sigmoid", "hard_swish", "abs", "clip"), kinks, kinks_in_numpy, scale=2.0
    ),
    "exponentials and roots": of_linear(("exp", "log", "sqrt", "rsqrt"), roots, roots_in_numpy),
    "sines and cosines": of_linear(("sin", "cos", "split"), waves, waves_in_numpy),
    "gradients that are stopped": Case(
        names=("stop_gradient",),
        build=straight_through,
        forward=lambda w, x: straight_through_in_numpy(w, w, x),
        stopped=straight_through_in_numpy,
        x=random(BATCH, 5),
    ),
    "comparisons and choices": of_linear(
        (
            *("less", "less_equal", "logical_and", "logical_or", "logical_not"),
            *("where", "maximum", "minimum", "to_float", "split"),
        ),
        choices,
        choices_in_numpy,
    ),
    "joints, the largest and sums so far": of_linear(("split", "stack", "max", "cumsum"), joined, joined_in_numpy),
    "flip, roll and pad": of_linear(("flip", "roll", "pad"), moved, moved_in_numpy),
    "functions of parameters": Case(
        names=("Parameter", "sigmoid", "relu"),
        build=of_parameters,
        forward=of_parameters_in_numpy,
        x=random(BATCH, 5),
    ),
    "indices, segments and constants": Case(
        names=(
            *("take", "take_along_axis", "segment_sum", "one_hot"),
            *("arange", "constant", "equal", "where", "to_float"),
        ),
        build=gathered,
        forward=gathered_in_numpy,
        x=IDS,
    ),
    "embedding bags": Case(names=("EmbeddingBag",), build=bags, forward=bags_in_numpy, x=IDS),
    "noise in evaluation": Case(
        names=("RandomNormal",),
        build=noisy,
        forward=lambda w, x: linear(w, "first", x),
        x=random(BATCH, 5),
        deterministic=False,
    ),
}
