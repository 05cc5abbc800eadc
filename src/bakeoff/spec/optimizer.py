"""The optimisers, each with the one formula that every framework has to compute.

`t` counts steps from 1, `g` is the gradient, `p` the parameter, `lr` the learning rate. State starts at zero.
Frameworks differ in all of these by default; `certify` holds each of them against these formulas in float64.
"""

from __future__ import annotations

import msgspec


class SGD(msgspec.Struct, frozen=True, tag="sgd", kw_only=True):
    """Stochastic gradient descent with momentum, without Nesterov and without dampening.

    g += weight_decay * p;  v = momentum * v + g;  p -= lr * v
    """

    learning_rate: float
    momentum: float = 0.0
    weight_decay: float = 0.0


class Adam(msgspec.Struct, frozen=True, tag="adam", kw_only=True):
    """Adam with epsilon added after bias correction, outside the root (Kingma and Ba 2015, algorithm 1).

    m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g * g
    p -= lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
    """

    learning_rate: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8


class AdamW(msgspec.Struct, frozen=True, tag="adamw", kw_only=True):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2, schedule 1).

    p -= lr * weight_decay * p, with p from before the step, and then the step of Adam.
    """

    learning_rate: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01


class RMSprop(msgspec.Struct, frozen=True, tag="rmsprop", kw_only=True):
    """RMSprop with epsilon outside the root, no momentum, no centring.

    v = decay * v + (1 - decay) * g * g;  p -= lr * g / (sqrt(v) + epsilon)
    """

    learning_rate: float
    decay: float = 0.99
    epsilon: float = 1e-8


Optimizer = SGD | Adam | AdamW | RMSprop
