"""The optimisers, each with the one formula that every framework has to compute.

`t` counts steps from 1, `g` is the gradient, `p` the parameter, `lr` the learning rate in step t: `learning_rate` times
the factor of the `schedule` (`bakeoff.spec.schedule`). State starts at zero. Frameworks differ in all of these by
default; `certify` holds each of them against these formulas in float64.

Before anything else, where `clip_norm` is given: g *= min(1, clip_norm / norm), and norm is the L2 norm of all
gradients together. A parameter that the loss never uses has a gradient of zero, and decays as any other.

Parameters are named by patterns of their canonical names, as of files: "*.bias", "*norm*.scale", "position".
no_decay  these have a weight_decay of 0
frozen    these are not trained: no step changes them, nothing is kept for them, and their gradients, which nobody
          computes, are not in the norm
rates     (pattern, factor): these have factor * lr for lr, in the whole formula; the first pattern that matches counts
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.schedule import Schedule, schedule_words

if TYPE_CHECKING:
    from collections.abc import Iterable


class SGD(msgspec.Struct, frozen=True, tag="sgd", kw_only=True):
    """Stochastic gradient descent with momentum, without dampening, as Nesterov's or without (Sutskever et al. 2013).

    g += weight_decay * p;  v = momentum * v + g;  p -= lr * v
    With nesterov: p -= lr * (g + momentum * v), with v from after the step.
    """

    learning_rate: float
    momentum: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False
    no_decay: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    rates: tuple[tuple[str, float], ...] = ()
    clip_norm: float | None = None
    schedule: Schedule | None = None


class Adam(msgspec.Struct, frozen=True, tag="adam", kw_only=True):
    """Adam with epsilon added after bias correction, outside the root (Kingma and Ba 2015, algorithm 1).

    g += weight_decay * p, which is not AdamW's decay;
    m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g * g
    p -= lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
    """

    learning_rate: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    no_decay: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    rates: tuple[tuple[str, float], ...] = ()
    clip_norm: float | None = None
    schedule: Schedule | None = None


class AdamW(msgspec.Struct, frozen=True, tag="adamw", kw_only=True):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2, with lr for alpha * eta).

    p -= lr * weight_decay * p, with p from before the step, and then the step of Adam.
    """

    learning_rate: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01
    no_decay: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    rates: tuple[tuple[str, float], ...] = ()
    clip_norm: float | None = None
    schedule: Schedule | None = None


class RMSprop(msgspec.Struct, frozen=True, tag="rmsprop", kw_only=True):
    """RMSprop with epsilon outside the root, without centring, and its step's momentum as PyTorch has it.

    g += weight_decay * p;  v = decay * v + (1 - decay) * g * g
    m = momentum * m + g / (sqrt(v) + epsilon);  p -= lr * m
    """

    learning_rate: float
    decay: float = 0.99
    epsilon: float = 1e-8
    momentum: float = 0.0
    weight_decay: float = 0.0
    no_decay: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    rates: tuple[tuple[str, float], ...] = ()
    clip_norm: float | None = None
    schedule: Schedule | None = None


Optimizer = SGD | Adam | AdamW | RMSprop

_TOLD = {"momentum", "beta1", "beta2", "decay", "epsilon"}


def _matches(parameter: str, patterns: Iterable[str]) -> bool:
    """Return whether one of the patterns is that of a parameter's canonical name."""
    return any(fnmatchcase(parameter, pattern) for pattern in patterns)


def decay_of(optimizer: Optimizer, parameter: str) -> float:
    """Return the weight decay of a parameter by its canonical name."""
    return 0.0 if _matches(parameter, optimizer.no_decay) else optimizer.weight_decay


def exempt(optimizer: Optimizer, parameters: Iterable[str]) -> list[str]:
    """Return the parameters among these that `no_decay` names, in their order."""
    return [name for name in parameters if _matches(name, optimizer.no_decay)]


def frozen_of(optimizer: Optimizer | None, parameters: Iterable[str]) -> list[str]:
    """Return the parameters among these that are not trained, in their order."""
    return [] if optimizer is None else [name for name in parameters if _matches(name, optimizer.frozen)]


def trained_of(optimizer: Optimizer | None, parameters: Iterable[str]) -> list[str]:
    """Return the parameters among these that are trained, in their order."""
    names = list(parameters)
    frozen = set(frozen_of(optimizer, names))
    return [name for name in names if name not in frozen]


def rate_factor(optimizer: Optimizer, parameter: str) -> float:
    """Return what the learning rate of a parameter is multiplied by: of the first pattern that matches."""
    return next((factor for pattern, factor in optimizer.rates if fnmatchcase(parameter, pattern)), 1.0)


def of_parameter(optimizer: Optimizer, parameter: str) -> Optimizer:
    """Return the optimiser of one parameter that is trained, with its own rate and decay in the place of patterns."""
    return msgspec.structs.replace(
        optimizer,
        learning_rate=optimizer.learning_rate * rate_factor(optimizer, parameter),
        weight_decay=decay_of(optimizer, parameter),
        no_decay=(),
        frozen=(),
        rates=(),
    )


def groups_of(optimizer: Optimizer, parameters: Iterable[str]) -> dict[Optimizer, list[str]]:
    """Return the parameters that are trained by the optimiser that each has, as `of_parameter` gives it."""
    found: dict[Optimizer, list[str]] = {}
    for name in trained_of(optimizer, parameters):
        found.setdefault(of_parameter(optimizer, name), []).append(name)
    return found


def describe(optimizer: Optimizer) -> str:
    """Return it in words: "AdamW of rate 0.0006, beta2 0.95, weight decay 0.1, no decay of *.bias".

    Of momentum, betas, RMSprop's decay and epsilon what is not the default.
    """
    parts = [f"{type(optimizer).__name__} of rate {optimizer.learning_rate:g}"]
    told = [field for field in msgspec.structs.fields(optimizer) if field.name in _TOLD]
    values = [(field.name, getattr(optimizer, field.name), field.default) for field in told]
    parts += [f"{name} {value:g}" for name, value, default in values if value != default]
    if optimizer.weight_decay:
        parts.append(f"weight decay {optimizer.weight_decay:g}")
    return ", ".join([*parts, *beside(optimizer)])


def beside(optimizer: Optimizer) -> list[str]:
    """Return in words what an optimiser has beside its plain formula, each a piece."""
    parts = ["as Nesterov's"] if getattr(optimizer, "nesterov", False) else []
    if optimizer.no_decay:
        parts.append(f"no decay of {' '.join(optimizer.no_decay)}")
    if optimizer.frozen:
        parts.append(f"without training {' '.join(optimizer.frozen)}")
    parts += [f"{factor:g} times the rate for {pattern}" for pattern, factor in optimizer.rates]
    if optimizer.schedule is not None:
        parts.append(f"the rate {schedule_words(optimizer.schedule)}")
    if optimizer.clip_norm is not None:
        parts.append(f"gradients clipped to a norm of {optimizer.clip_norm:g}")
    return parts
