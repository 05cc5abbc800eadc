"""Faults in the cross-entropy of weighted classes, and of shares of the classes."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch, in_jax, in_tensorflow, in_mlx, in_jittor = (
    partial(Mutant, framework, "vocabulary", "losses.py")
    for framework in ("torch", "jax", "tensorflow", "mlx", "jittor")
)

WEIGHTED = {"case/cross_entropy of weighted classes": "loss and gradients"}
SHARES = {"case/cross_entropy of shares": "loss and gradients"}

MUTANTS = [
    in_torch("weights of classes are ignored", [("weight=None if weight is None else", "weight=None and")], WEIGHTED),
    in_jax(
        "the mean of weighted classes is over the labels",
        [("/ jnp.sum(of_labels)", "/ of_labels.size")],
        WEIGHTED,
    ),
    in_tensorflow(
        "the mean of weighted classes is over the labels that count",
        [("(losses, of_labels))", "(losses, tf.ones_like(losses)))")],
        WEIGHTED,
    ),
    in_mlx(
        "shares of the classes are not smoothed",
        [("(1 - label_smoothing) * labels + label_smoothing / logits.shape[-1]", "labels")],
        SHARES,
    ),
    in_jittor("shares of the classes are not weighted", [("else shares * weight", "else shares")], SHARES),
]
