"""bakeoff's optimisers as Keras' own; where Keras computes another formula, only `update_step` is replaced."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop


class DecayedSGD(keras.optimizers.SGD):
    """Keras' SGD with weight decay as an L2 term of the gradient; Keras' own decay is decoupled from it."""

    note = "weight decay added to the gradient"

    def __init__(self, decay: float, **options: Any) -> None:
        """Take the decay beside Keras' own options."""
        super().__init__(**options)
        self._decay = decay

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Add the decay and go on as Keras does."""
        super().update_step(tf.convert_to_tensor(gradient) + self._decay * variable, variable, learning_rate)


class _EpsilonAfterCorrection:
    """Keras' Adam with epsilon added after bias correction; Keras adds it before, to the uncorrected root."""

    note = "epsilon after bias correction"

    def update_step(self: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update as Keras does, with epsilon scaled by the root of the second moment's correction."""
        rate = ops.cast(learning_rate, variable.dtype)
        gradient = ops.cast(gradient, variable.dtype)
        step = ops.cast(self.iterations + 1, variable.dtype)
        # tf.constant, because ops.cast would round a plain float to float32 first.
        correction = 1 - ops.power(tf.constant(self.beta_1, variable.dtype), step)
        root = ops.sqrt(1 - ops.power(tf.constant(self.beta_2, variable.dtype), step))
        index = self._get_variable_index(variable)
        m, v = self._momentums[index], self._velocities[index]
        self.assign_add(m, ops.multiply(ops.subtract(gradient, m), 1 - self.beta_1))
        self.assign_add(v, ops.multiply(ops.subtract(ops.square(gradient), v), 1 - self.beta_2))
        denominator = ops.add(ops.sqrt(v), ops.multiply(root, self.epsilon))
        self.assign_sub(variable, ops.divide(ops.multiply(m, rate * root / correction), denominator))


class FormulaAdam(_EpsilonAfterCorrection, keras.optimizers.Adam):
    """Adam by the formula of `bakeoff.spec.optimizer.Adam`."""


class FormulaAdamW(_EpsilonAfterCorrection, keras.optimizers.AdamW):
    """AdamW by the formula of `bakeoff.spec.optimizer.AdamW`; the decay is Keras' own."""


class FormulaRMSprop(keras.optimizers.RMSprop):
    """Keras' RMSprop with epsilon outside the root; Keras adds it inside."""

    note = "epsilon outside the root"

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update as Keras does without momentum, with epsilon outside the root."""
        rate = ops.cast(learning_rate, variable.dtype)
        gradient = ops.cast(gradient, variable.dtype)
        v = self._velocities[self._get_variable_index(variable)]
        self.assign(v, ops.add(ops.multiply(self.rho, v), ops.multiply(1 - self.rho, ops.square(gradient))))
        denominator = ops.add(ops.sqrt(v), self.epsilon)
        self.assign_sub(variable, ops.divide(ops.multiply(rate, gradient), denominator))


def make(optimizer: Optimizer) -> Any:
    """Return the Keras optimiser that computes the formula.

    Keras takes no whole number for a rate. Where it casts a plain float to float64, it rounds it to float32 on the way:
    those are given as NumPy's float64.
    """
    rate = float(optimizer.learning_rate)
    match optimizer:
        case SGD(momentum=momentum, weight_decay=decay):
            options = {"learning_rate": rate, "momentum": np.float64(momentum)}
            return DecayedSGD(decay, **options) if decay else keras.optimizers.SGD(**options)
        case Adam(beta1=beta1, beta2=beta2, epsilon=epsilon):
            return FormulaAdam(learning_rate=rate, beta_1=beta1, beta_2=beta2, epsilon=epsilon)
        case AdamW(beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            moments = {"beta_1": beta1, "beta_2": beta2, "epsilon": epsilon}
            return FormulaAdamW(learning_rate=rate, weight_decay=np.float64(decay), **moments)
        case RMSprop(decay=decay, epsilon=epsilon):
            return FormulaRMSprop(learning_rate=rate, rho=decay, epsilon=epsilon)


def describe(native: Any) -> str:
    """Name Keras' class and what was replaced in it."""
    own = next(base for base in type(native).__mro__ if base.__module__.startswith("keras"))
    note = getattr(native, "note", "")
    return f"keras.optimizers.{own.__name__}" + (f", {note}" if note else "")
