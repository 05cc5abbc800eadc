"""The losses with their options: labels of any shape, smoothing, what counts nowhere, weights, reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, CLASSES, Case, conv2d, linear, log_softmax, model, random

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array

LENGTH = 2
SMOOTHING = 0.2
IGNORED = 2
"""A label that some samples have."""


def smoothed(logits: Array, labels: Array, smoothing: float = 0.0) -> Array:
    """Return the cross-entropy of each label."""
    log_p = log_softmax(logits)
    taken = np.take_along_axis(log_p, labels[..., None], -1)[..., 0]
    return -(1 - smoothing) * taken - smoothing * log_p.mean(-1)


def sequences(nn: Any, outputs: Any, targets: Any) -> Any:
    """Add up the cross-entropy of sequences in all its forms: (batch, length) labels, one of which counts nowhere."""
    labels = nn.broadcast_to(nn.reshape(targets, (BATCH, 1)), (BATCH, LENGTH))
    each = nn.cross_entropy(outputs, labels, label_smoothing=SMOOTHING, ignore=IGNORED, reduction="none")
    return (
        nn.cross_entropy(outputs, labels, SMOOTHING, IGNORED)
        + 2.0 * nn.cross_entropy(outputs, labels, label_smoothing=SMOOTHING)
        + 3.0 * nn.cross_entropy(outputs[:, 0], targets, ignore=IGNORED)
        + 0.1 * nn.cross_entropy(outputs, labels, reduction="sum")
        + nn.sum(each[:, 0]) * 0.3
    )


def sequences_in_numpy(outputs: Array, targets: Array) -> float:
    """Return the same."""
    labels = np.repeat(targets[:, None], LENGTH, 1)
    counted = labels != IGNORED
    plain, each = smoothed(outputs, labels), smoothed(outputs, labels, SMOOTHING)
    return float(
        each[counted].mean()
        + 2 * each.mean()
        + 3 * plain[:, 0][counted[:, 0]].mean()
        + 0.1 * plain.sum()
        + 0.3 * (each * counted)[:, 0].sum()
    )


def of_maps(nn: Any, outputs: Any, targets: Any) -> Any:
    """Add up the cross-entropy of every pixel, and weighted squares of the same map."""
    labels = nn.broadcast_to(nn.reshape(targets, (BATCH, 1, 1)), (BATCH, 2, 3))
    each = nn.cross_entropy(outputs, labels, label_smoothing=SMOOTHING, reduction="none")
    return nn.cross_entropy(outputs, labels, ignore=IGNORED) + nn.mean(each[:, 0]) + nn.mse(outputs, outputs * 0.5)


def of_maps_in_numpy(outputs: Array, targets: Array) -> float:
    """Return the same."""
    labels = np.broadcast_to(targets[:, None, None], (BATCH, 2, 3))
    plain, each = smoothed(outputs, labels), smoothed(outputs, labels, SMOOTHING)
    return float(plain[labels != IGNORED].mean() + each[:, 0].mean() + ((outputs / 2) ** 2).mean())


def weighted(nn: Any, outputs: Any, targets: Any) -> Any:
    """Add up losses of numbers whose weights are broadcast, in all reductions."""
    weights = nn.reshape(targets, (BATCH, 1))
    wanted = nn.broadcast_to(weights, (BATCH, CLASSES))
    unweighted = nn.binary_cross_entropy(outputs, wanted, reduction="none") + nn.mse(outputs, wanted, reduction="none")
    return (
        nn.mse(outputs, wanted, weights)
        + nn.binary_cross_entropy(outputs, wanted, weights=weights)
        + 0.1 * nn.mse(outputs, wanted, weights, reduction="sum")
        + 0.2 * nn.binary_cross_entropy(outputs, wanted, weights, reduction="sum")
        + 0.3 * nn.mse(outputs, wanted, reduction="sum")
        + 0.4 * nn.binary_cross_entropy(outputs, wanted, reduction="sum")
        + nn.sum(unweighted[1])
        + nn.sum(nn.mse(outputs, wanted, weights, reduction="none")[3])
    )


def weighted_in_numpy(outputs: Array, targets: Array) -> float:
    """Return the same."""
    wanted = np.repeat(targets[:, None], CLASSES, 1).astype(float)
    square = (outputs - wanted) ** 2
    binary = np.maximum(outputs, 0) - outputs * wanted + np.log1p(np.exp(-np.abs(outputs)))
    both, total = square + binary, wanted.sum()
    return float(
        (both * wanted).sum() / total
        + 0.1 * (square * wanted).sum()
        + 0.2 * (binary * wanted).sum()
        + 0.3 * square.sum()
        + 0.4 * binary.sum()
        + both[1].sum()
        + (square * wanted)[3].sum()
    )


MANY = 60_000
"""As many labels as a small image has pixels: added one after another into one float32, they are 5e-4 off."""


def of_many(nn: Any, outputs: Any, targets: Any) -> Any:
    """Add up the means of every loss, and of the outputs' squares, over many elements."""
    labels = nn.broadcast_to(nn.reshape(targets, (BATCH, 1)), (BATCH, MANY))
    wanted = nn.broadcast_to(nn.reshape(targets, (BATCH, 1, 1)), (BATCH, MANY, CLASSES))
    weights = nn.to_float(nn.less(wanted, IGNORED))
    flat = nn.reshape(outputs, (BATCH * MANY, CLASSES)), nn.reshape(labels, (BATCH * MANY,))
    return (
        nn.cross_entropy(outputs, labels)
        + nn.cross_entropy(*flat)
        + nn.cross_entropy(outputs, labels, ignore=IGNORED)
        + nn.mse(outputs, wanted)
        + nn.mse(outputs, wanted, weights)
        + nn.binary_cross_entropy(outputs, wanted)
        + nn.mean(outputs * outputs)
        + nn.sum(outputs * outputs) / (BATCH * MANY)
    )


def of_many_in_numpy(outputs: Array, targets: Array) -> float:
    """Return the same."""
    labels = np.repeat(targets[:, None], MANY, 1)
    wanted = np.broadcast_to(targets[:, None, None], outputs.shape).astype(float)
    plain, square, counted = smoothed(outputs, labels), (outputs - wanted) ** 2, wanted < IGNORED
    binary = np.maximum(outputs, 0) - outputs * wanted + np.log1p(np.exp(-np.abs(outputs)))
    of_labels = 2 * plain.mean() + plain[labels != IGNORED].mean()
    sums = (1 + CLASSES) * (outputs**2).mean()
    return float(of_labels + square.mean() + square[counted].mean() + binary.mean() + sums)


CASES: dict[str, Case] = {
    "losses of many elements": Case(
        names=("cross_entropy", "mse", "binary_cross_entropy", "mean", "sum"),
        build=lambda nn: model(nn, {"first": nn.Linear(2, CLASSES)}, lambda m, x: m.first(x)),
        forward=lambda w, x: linear(w, "first", x),
        x=random(BATCH, MANY, 2),
        loss=of_many,
        expected_loss=of_many_in_numpy,
    ),
    "cross_entropy of sequences": Case(
        names=("cross_entropy",),
        build=lambda nn: model(nn, {"first": nn.Linear(5, CLASSES)}, lambda m, x: m.first(x)),
        forward=lambda w, x: linear(w, "first", x),
        x=random(BATCH, LENGTH, 5),
        loss=sequences,
        expected_loss=sequences_in_numpy,
    ),
    "cross_entropy of maps": Case(
        names=("cross_entropy", "mse"),
        build=lambda nn: model(nn, {"first": nn.Conv2d(2, CLASSES, 1)}, lambda m, x: m.first(x)),
        forward=lambda w, x: conv2d(w, "first", x),
        x=random(BATCH, 2, 3, 2),
        loss=of_maps,
        expected_loss=of_maps_in_numpy,
    ),
    "weighted losses": Case(
        names=("mse", "binary_cross_entropy"),
        build=lambda nn: model(nn, {"first": nn.Linear(5, CLASSES)}, lambda m, x: m.first(x)),
        forward=lambda w, x: linear(w, "first", x),
        x=random(BATCH, 5),
        loss=weighted,
        expected_loss=weighted_in_numpy,
    ),
}
