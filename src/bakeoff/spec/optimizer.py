"""The optimisers, each with the one formula that every framework has to compute.

`t` counts steps from 1, `g` is the gradient, `p` the parameter, `lr` the learning rate in step t: `learning_rate` times
the factor of the `schedule` (`bakeoff.spec.schedule`). State starts at zero. Frameworks differ in all of these by
default; `certify` holds each of them against these formulas in float64.

Before anything else, where `clip_norm` is given: g *= min(1, clip_norm / norm), and norm is the L2 norm of all
gradients together. Parameters whose canonical name matches a pattern of `no_decay` have a weight_decay of 0; patterns
are those of file names: "*.bias", "*norm*.scale", "position". A parameter that the loss never uses has a gradient of
zero, and decays as any other.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

import msgspec

from bakeoff.spec.schedule import Schedule, schedule_words


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
    clip_norm: float | None = None
    schedule: Schedule | None = None


Optimizer = SGD | Adam | AdamW | RMSprop

_TOLD = {"momentum", "beta1", "beta2", "decay", "epsilon"}


def decay_of(optimizer: Optimizer, parameter: str) -> float:
    """Return the weight decay of a parameter by its canonical name."""
    return 0.0 if any(fnmatchcase(parameter, one) for one in optimizer.no_decay) else optimizer.weight_decay


def exempt(optimizer: Optimizer, parameters: list[str]) -> list[str]:
    """Return the parameters among these that `no_decay` names, in their order."""
    return [name for name in parameters if any(fnmatchcase(name, pattern) for pattern in optimizer.no_decay)]


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
    if optimizer.schedule is not None:
        parts.append(f"the rate {schedule_words(optimizer.schedule)}")
    if optimizer.clip_norm is not None:
        parts.append(f"gradients clipped to a norm of {optimizer.clip_norm:g}")
    return parts
