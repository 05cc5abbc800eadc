"""bakeoff's optimisers as MLX's own: with these arguments mlx.optimizers computes each formula as it is declared."""

from __future__ import annotations

from typing import Any, assert_never

import mlx.optimizers

from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop


def make(optimizer: Optimizer) -> Any:
    """Make the native optimiser; MLX leaves out Adam's bias correction unless it is asked for."""
    match optimizer:
        case SGD(learning_rate=rate, momentum=momentum, weight_decay=decay):
            return mlx.optimizers.SGD(rate, momentum=momentum, weight_decay=decay)
        case Adam(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon):
            return mlx.optimizers.Adam(rate, betas=[beta1, beta2], eps=epsilon, bias_correction=True)
        case AdamW(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return mlx.optimizers.AdamW(
                rate, betas=[beta1, beta2], eps=epsilon, weight_decay=decay, bias_correction=True
            )
        case RMSprop(learning_rate=rate, decay=decay, epsilon=epsilon):
            return mlx.optimizers.RMSprop(rate, alpha=decay, eps=epsilon)
    assert_never(optimizer)


def describe(optimizer: Any) -> str:
    """Return the name of an optimiser's class."""
    return f"mlx.optimizers.{type(optimizer).__name__}"
