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


CLASS_WEIGHTS = (0.75, 2.0, 1.25)


def defined(outputs: Array, shares: Array, weight: Any = CLASS_WEIGHTS, smoothing: float = 0.0) -> Array:
    """Return the cross-entropy of shares of the classes by its definition, one for each place."""
    shares = (1 - smoothing) * shares + smoothing / CLASSES
    return -(np.asarray(weight) * shares * log_softmax(outputs)).sum(-1)


def by_class(nn: Any, outputs: Any, targets: Any) -> Any:
    """Add up the cross-entropy of weighted classes in all its forms, with labels that count nowhere."""
    labels = nn.broadcast_to(nn.reshape(targets, (BATCH, 1)), (BATCH, LENGTH))
    each = nn.cross_entropy(outputs, labels, SMOOTHING, IGNORED, "none", CLASS_WEIGHTS)
    return (
        nn.cross_entropy(outputs, labels, weight=CLASS_WEIGHTS)
        + 2.0 * nn.cross_entropy(outputs, labels, SMOOTHING, IGNORED, weight=CLASS_WEIGHTS)
        + 3.0 * nn.cross_entropy(outputs[:, 0], targets, ignore=IGNORED, weight=CLASS_WEIGHTS)
        + 0.1 * nn.cross_entropy(outputs, labels, SMOOTHING, reduction="sum", weight=CLASS_WEIGHTS)
        + nn.sum(each[:, 0]) * 0.3
    )


def by_class_in_numpy(outputs: Array, targets: Array) -> float:
    """Return the same."""
    labels = np.repeat(targets[:, None], LENGTH, 1)
    counted, of_labels = labels != IGNORED, np.asarray(CLASS_WEIGHTS)[labels]
    plain, each = (defined(outputs, np.eye(CLASSES)[labels], smoothing=one) for one in (0.0, SMOOTHING))
    return float(
        plain.sum() / of_labels.sum()
        + 2 * each[counted].sum() / of_labels[counted].sum()
        + 3 * plain[:, 0][counted[:, 0]].sum() / of_labels[:, 0][counted[:, 0]].sum()
        + 0.1 * each.sum()
        + 0.3 * (each * counted)[:, 0].sum()
    )


def soft(nn: Any, outputs: Any, targets: Any) -> Any:
    """Add up the cross-entropy of shares of the classes in all its forms: mixed labels, and shares that are trained."""
    mixed = nn.one_hot(nn.broadcast_to(nn.reshape(targets, (BATCH, 1)), (BATCH, LENGTH)), CLASSES) * 0.7 + 0.1
    each = nn.cross_entropy(outputs, mixed, SMOOTHING, reduction="none", weight=CLASS_WEIGHTS)
    return (
        nn.cross_entropy(outputs, mixed)
        + 2.0 * nn.cross_entropy(outputs, nn.sigmoid(outputs), SMOOTHING)
        + 3.0 * nn.cross_entropy(outputs[:, 0], mixed[:, 0], weight=CLASS_WEIGHTS)
        + 0.1 * nn.cross_entropy(outputs, mixed, reduction="sum")
        + nn.sum(each[:, 0]) * 0.3
    )


def soft_in_numpy(outputs: Array, targets: Array) -> float:
    """Return the same."""
    mixed = np.eye(CLASSES)[np.repeat(targets[:, None], LENGTH, 1)] * 0.7 + 0.1
    return float(
        defined(outputs, mixed, 1.0).mean()
        + 2 * defined(outputs, 1 / (1 + np.exp(-outputs)), 1.0, SMOOTHING).mean()
        + 3 * defined(outputs, mixed)[:, 0].mean()
        + 0.1 * defined(outputs, mixed, 1.0).sum()
        + 0.3 * defined(outputs, mixed, smoothing=SMOOTHING)[:, 0].sum()
    )


def of_maps(nn: Any, outputs: Any, targets: Any) -> Any:
    """Add up the cross-entropy of every pixel, and weighted squares of the same map."""
    labels = nn.broadcast_to(nn.reshape(targets, (BATCH, 1, 1)), (BATCH, 2, 3))
    each = nn.cross_entropy(outputs, labels, label_smoothing=SMOOTHING, reduction="none")
    shares = nn.cross_entropy(outputs, nn.sigmoid(outputs), weight=CLASS_WEIGHTS, reduction="none")
    found = nn.cross_entropy(outputs, labels, ignore=IGNORED) + nn.mean(each[:, 0]) + nn.mse(outputs, outputs * 0.5)
    return found + nn.cross_entropy(outputs, labels, ignore=IGNORED, weight=CLASS_WEIGHTS) + nn.mean(shares[:, 0])


def of_maps_in_numpy(outputs: Array, targets: Array) -> float:
    """Return the same."""
    labels = np.broadcast_to(targets[:, None, None], (BATCH, 2, 3))
    plain, each = smoothed(outputs, labels), smoothed(outputs, labels, SMOOTHING)
    counted, of_labels = labels != IGNORED, np.asarray(CLASS_WEIGHTS)[labels]
    weighed = (plain * of_labels)[counted].sum() / of_labels[counted].sum()
    shares = defined(outputs, 1 / (1 + np.exp(-outputs)))[:, 0].mean()
    return float(plain[counted].mean() + each[:, 0].mean() + ((outputs / 2) ** 2).mean() + weighed + shares)


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
    "cross_entropy of weighted classes": Case(
        names=("cross_entropy",),
        build=lambda nn: model(nn, {"first": nn.Linear(5, CLASSES)}, lambda m, x: m.first(x)),
        forward=lambda w, x: linear(w, "first", x),
        x=random(BATCH, LENGTH, 5),
        loss=by_class,
        expected_loss=by_class_in_numpy,
    ),
    "cross_entropy of shares": Case(
        names=("cross_entropy",),
        build=lambda nn: model(nn, {"first": nn.Linear(5, CLASSES)}, lambda m, x: m.first(x)),
        forward=lambda w, x: linear(w, "first", x),
        x=random(BATCH, LENGTH, 5),
        loss=soft,
        expected_loss=soft_in_numpy,
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
