"""Run in Jittor's interpreter: how far its BatchNorm is from NumPy in float64, and slopes at single places, as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from bakeoff.frameworks.jittor import home

home.settle()

import jittor as jt  # noqa: E402 - reads its settings when it is imported

from bakeoff.frameworks.jittor import nn, normalisation  # noqa: E402

EPSILON = 1e-5


def error(values: Any, way: str) -> float:
    """Return the largest error of a training batch's outputs, relative to the largest of them."""
    normalisation.in_force.choose(way)
    layer = nn.BatchNorm(values.shape[1], epsilon=EPSILON)
    layer.train()
    exact = values.astype(np.float64)
    mean, variance = exact.mean((0, 2, 3), keepdims=True), exact.var((0, 2, 3), keepdims=True)
    expected = (exact - mean) / np.sqrt(variance + EPSILON)
    return float(np.abs(layer(jt.array(values)).numpy() - expected).max() / np.abs(expected).max())


if __name__ == "__main__":
    far = (np.random.default_rng(0).normal(size=(4, 16, 16, 16)) + 30.0).astype(np.float32)
    x = jt.array(np.array([-200.0, 0.0, 200.0], np.float32))
    slopes = jt.grad(jt.sum(nn.tanh(x)), x).numpy().tolist()
    logits = jt.zeros((2,))
    losses = nn.binary_cross_entropy(logits, jt.array(np.array([0.0, 1.0], np.float32)), reduction="sum")
    undecided = jt.grad(losses, logits).numpy().tolist()
    found = {way: error(far, way) for way in ("own", "staged")} | {"slopes": slopes, "undecided": undecided}
    sys.stdout.write(f"\n{json.dumps(found)}\n")
