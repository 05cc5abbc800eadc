"""Run in Jittor's interpreter: how far a bias' gradient of smoothed labels is off, as JSON.

There are as many classes as GNMT has words, and one class has the largest logit in most rows, as early in training.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any

import numpy as np

from bakeoff.frameworks.jittor.engine import Engine  # noqa: F401  # it settles where Jittor looks for its parts
from bakeoff.frameworks.jittor.losses import cross_entropy

import jittor as jt  # isort: skip

ROWS, CLASSES, SMOOTHING = 200, 32_320, 0.1


def exact(logits: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the sum over rows of each logit's gradient, in float64."""
    shares = np.exp(logits.astype(np.float64))
    shares /= shares.sum(1, keepdims=True)
    wanted = (1 - SMOOTHING) * np.bincount(labels, minlength=CLASSES)
    return np.asarray(shares.sum(0) - wanted - SMOOTHING * ROWS / CLASSES)


def main() -> None:
    """Print the largest error of each way to state the same labels, of the largest magnitude."""
    rng = np.random.default_rng(0)
    logits = (0.1 * rng.normal(size=(ROWS, CLASSES))).astype(np.float32)
    logits[:, 7] += 0.6
    labels = rng.integers(10, CLASSES, ROWS).astype(np.int32)
    alike = (1.0,) * CLASSES
    ways = {
        "labels": partial(cross_entropy, labels=jt.array(labels)),
        "classes of weights": partial(cross_entropy, labels=jt.array(labels), weight=alike),
        "shares": partial(cross_entropy, labels=jt.array(np.eye(CLASSES, dtype=np.float32)[labels])),
    }
    errors = {}
    for name, way in ways.items():
        bias = jt.zeros((CLASSES,))
        loss = way(jt.array(logits) + bias, label_smoothing=SMOOTHING, reduction="sum")
        gradient = jt.grad(loss, bias).numpy().astype(np.float64)
        errors[name] = float(np.abs(gradient - exact(logits, labels)).max() / np.abs(exact(logits, labels)).max())
    sys.stdout.write(json.dumps(errors) + "\n")


main()
