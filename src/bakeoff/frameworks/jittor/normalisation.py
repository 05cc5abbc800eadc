"""Batch normalisation by Jittor's own class, or with statistics that keep the digits of float32.

jittor.nn.BatchNorm takes the variance as the mean of squares less the square of the mean, and Jittor sums an array in
one go, element by element. Where a channel's mean is 30 standard deviations, its outputs are off by more than 1e-4 of
the largest; a network with many of them is off by more than its certificate allows. Summed axis by axis and in two
passes it is less than 2e-6 (tests/frameworks/test_jittor.py).
"""

from __future__ import annotations

from typing import Any

import jittor as jt

from bakeoff.frameworks.in_force import InForce

_DEFAULT = "staged"
in_force = InForce(_DEFAULT)
"""The option `batch_norm`, of all layers of this process."""


class BatchNorm(jt.nn.BatchNorm):
    """Jittor's layer; in training with staged statistics, unless its own are asked for."""

    def execute(self, x: Any) -> Any:
        """Normalise; of a sequence Jittor has the features before the length."""
        if x.ndim == 3:  # noqa: PLR2004 - batch, length, features
            return jt.transpose(self._normalised(jt.transpose(x, 0, 2, 1)), 0, 2, 1)
        return self._normalised(x)

    def _normalised(self, x: Any) -> Any:
        """Normalise by the batch in training, and by the running statistics in evaluation."""
        if not self.is_train or in_force.value != _DEFAULT:
            return super().execute(x)
        rest = [0, *range(2, x.ndim)]
        mean = _staged(x)
        centred = x - mean.broadcast(x, rest)
        variance = _staged(centred * centred)
        for running, now in ((self.running_mean, mean), (self.running_var, variance)):
            running.update(running + (now - running) * self.momentum)
        scale = self.weight / jt.sqrt(variance + self.eps)
        return centred * scale.broadcast(x, rest) + self.bias.broadcast(x, rest)


def _staged(x: Any) -> Any:
    """Return each channel's mean: along one axis after the other, so that no sum is long."""
    for axis in range(x.ndim - 1, 1, -1):
        x = jt.mean(x, axis)
    return jt.mean(x, 0)
