"""bakeoff's optimisers as Keras' own; where Keras computes another formula, only `update_step` is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from bakeoff.frameworks.schedules import factor
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop, exempt, rate_factor, trained_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.spec.schedule import Schedule


class _Decayed:
    """Weight decay as an L2 term of the gradient; Keras' own decay is decoupled from it."""

    def __init__(self: Any, decay: float, **options: Any) -> None:
        """Take the decay beside Keras' own options."""
        super().__init__(**options)
        self._decay = decay

    def update_step(self: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Add the decay, but for excluded variables, and go on as Keras does."""
        if self._decay and self._use_weight_decay(variable):
            gradient = tf.convert_to_tensor(gradient) + self._decay * variable
        super().update_step(gradient, variable, learning_rate)  # type: ignore[misc]


class DecayedSGD(_Decayed, keras.optimizers.SGD):
    """Keras' SGD with weight decay as an L2 term of the gradient."""

    note = "weight decay added to the gradient"


class _RateOutsideMomentum:
    """Keras' SGD with a velocity of gradients; Keras' has each step's rate in it, which a schedule changes."""

    def update_step(self: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update by the formula of `bakeoff.spec.optimizer.SGD`, whose decay is in the gradient already."""
        v = self.momentums[self._get_variable_index(variable)]
        momentum = tf.constant(self.momentum, variable.dtype)
        self.assign(v, ops.add(ops.multiply(momentum, v), gradient))
        moved = ops.add(gradient, ops.multiply(momentum, v)) if self.nesterov else v
        self.assign_sub(variable, ops.multiply(ops.cast(learning_rate, variable.dtype), moved))


class ScheduledSGD(DecayedSGD, _RateOutsideMomentum, keras.optimizers.SGD):
    """SGD with momentum and a schedule."""

    note = "the rate outside of the velocity, weight decay added to the gradient"


class Rate(keras.optimizers.schedules.LearningRateSchedule):
    """A schedule as Keras has them: a function of how many steps were done, within the traced step."""

    def __init__(self, optimizer: Optimizer, schedule: Schedule) -> None:
        """Take the whole rate and how it changes."""
        super().__init__()
        self._optimizer, self._schedule = optimizer, schedule

    def __call__(self, step: Any) -> Any:
        """Return the rate of the step that comes, in the precision of variables."""
        t = tf.cast(tf.convert_to_tensor(step), keras.config.floatx()) + 1.0
        return self._optimizer.learning_rate * factor(self._schedule, t, tf)

    def get_config(self) -> dict[str, Any]:
        """Return nothing: it is never saved."""
        return {}


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


class DecayedAdam(_Decayed, FormulaAdam):
    """The same with weight decay as an L2 term of the gradient."""

    note = "weight decay added to the gradient, epsilon after bias correction"


class FormulaAdamW(_EpsilonAfterCorrection, keras.optimizers.AdamW):
    """AdamW by the formula of `bakeoff.spec.optimizer.AdamW`; the decay is Keras' own."""


class FormulaRMSprop(keras.optimizers.RMSprop):
    """Keras' RMSprop with epsilon outside the root and the rate outside the momentum; Keras has both inside."""

    @property
    def note(self) -> str:
        """Return what is replaced, of what is asked for."""
        return "epsilon outside the root" + (", the rate outside of the velocity" if self.momentum else "")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update by the formula of `bakeoff.spec.optimizer.RMSprop`, whose decay is in the gradient already."""
        rate = ops.cast(learning_rate, variable.dtype)
        gradient = ops.cast(gradient, variable.dtype)
        v = self._velocities[self._get_variable_index(variable)]
        self.assign(v, ops.add(ops.multiply(self.rho, v), ops.multiply(1 - self.rho, ops.square(gradient))))
        denominator = ops.add(ops.sqrt(v), self.epsilon)
        if not self.momentum:
            self.assign_sub(variable, ops.divide(ops.multiply(rate, gradient), denominator))
            return
        m = self._momentums[self._get_variable_index(variable)]
        kept = ops.multiply(tf.constant(self.momentum, variable.dtype), m)
        self.assign(m, ops.add(kept, ops.divide(gradient, denominator)))
        self.assign_sub(variable, ops.multiply(rate, m))


class DecayedRMSprop(_Decayed, FormulaRMSprop):
    """The same with weight decay as an L2 term of the gradient."""

    @property
    def note(self) -> str:
        """Return the same with the decay."""
        return f"weight decay added to the gradient, {super().note}"


class _RatesOfGroups:
    """A Keras optimiser of which each variable has a factor on the rate, that of its decoupled decay with it."""

    factors: list[float]
    """Of the variables that it is built for, in their order."""
    decay: float | None
    """Keras' own `weight_decay`, by the rate of all."""

    def _factor(self: Any, variable: Any) -> float:
        """Return the factor of a variable."""
        found: float = self.factors[self._get_variable_index(variable)]
        return found

    def update_step(self: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update by the group's rate, as Keras does."""
        rate = ops.convert_to_tensor(learning_rate)
        own = rate * tf.constant(self._factor(variable), rate.dtype)
        super().update_step(gradient, variable, own)  # type: ignore[misc]

    def _apply_weight_decay(self: Any, variables: Any) -> None:
        """Decay as Keras does, which multiplies the rate of all by the decay: that of each group by its factor.

        The replicas of a strategy are threads that share this optimiser, and meet within each group.
        """
        for own in dict.fromkeys(self.factors) if self.decay is not None else ():
            self.weight_decay = self.decay * own
            super()._apply_weight_decay([one for one in variables if self._factor(one) == own])  # type: ignore[misc]
        self.weight_decay = self.decay


def trained(optimizer: Optimizer, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables that are trained, by canonical name; the others are not trainable from now on."""
    names = trained_of(optimizer, variables)
    for name in variables.keys() - set(names):
        variables[name].trainable = False
    return {name: variables[name] for name in names}


def make(optimizer: Optimizer, variables: Mapping[str, Any]) -> Any:
    """Return the Keras optimiser that computes the formula for these variables, by canonical name.

    All are trained; it is not built, and is to be built for them in their order.
    """
    native = _native(optimizer)
    if optimizer.rates:
        own = type(native)
        native.__class__ = type(own.__name__, (_RatesOfGroups, own), {})
        native.decay = native.weight_decay
        native.factors = [rate_factor(optimizer, name) for name in variables]
    if spared := exempt(optimizer, list(variables)):
        native.exclude_from_weight_decay(var_list=[variables[name] for name in spared])
    return native


def _native(optimizer: Optimizer) -> Any:
    """Return Keras' optimiser.

    Keras takes no whole number for a rate. Where it casts a plain float to float64, it rounds it to float32 on the way:
    those are given as NumPy's float64.
    """
    schedule = optimizer.schedule
    common: dict[str, Any] = {
        "learning_rate": float(optimizer.learning_rate) if schedule is None else Rate(optimizer, schedule),
        "global_clipnorm": optimizer.clip_norm,
    }
    match optimizer:
        case SGD(momentum=momentum, weight_decay=decay, nesterov=nesterov):
            options = common | {"momentum": np.float64(momentum), "nesterov": nesterov}
            if schedule is not None and momentum:
                return ScheduledSGD(decay, **options)
            return DecayedSGD(decay, **options) if decay else keras.optimizers.SGD(**options)
        case Adam(beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            options = common | {"beta_1": beta1, "beta_2": beta2, "epsilon": epsilon}
            return DecayedAdam(decay, **options) if decay else FormulaAdam(**options)
        case AdamW(beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            moments = {"beta_1": beta1, "beta_2": beta2, "epsilon": epsilon}
            return FormulaAdamW(**common, weight_decay=np.float64(decay), **moments)
        case RMSprop(decay=kept, epsilon=epsilon, momentum=momentum, weight_decay=decay):
            options = common | {"rho": kept, "epsilon": epsilon, "momentum": momentum}
            return DecayedRMSprop(decay, **options) if decay else FormulaRMSprop(**options)


def describe(native: Any) -> str:
    """Name Keras' class and what was replaced in it."""
    own = next(base for base in type(native).__mro__ if base.__module__.startswith("keras"))
    parts = [f"keras.optimizers.{own.__name__}"]
    if note := getattr(native, "note", ""):
        parts.append(note)
    if isinstance(native._learning_rate, Rate):  # noqa: SLF001 - learning_rate is its value
        parts.append("a LearningRateSchedule")
    if getattr(native, "_exclude_from_weight_decay", None):
        parts.append("exclude_from_weight_decay")
    if isinstance(native, _RatesOfGroups):
        parts.append("a factor on the rate of each variable")
    if native.global_clipnorm:
        parts.append("global_clipnorm")
    return ", ".join(parts)
