"""Faults in dropout on attention's weights: where it acts, what it scales, that each weight has its own draw."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch, in_jax, in_tensorflow, in_mlx, in_jittor = (
    partial(Mutant, framework, "vocabulary", "attention.py")
    for framework in ("torch", "jax", "tensorflow", "mlx", "jittor")
)

EVALUATED = {"attention dropout/0.1": "outputs"}
UNSCALED = {"attention dropout/0.1": "the factor of what is kept"}
CAUSAL = {"case/attention with dropout that is causal, with fewer heads of keys": "loss and gradients"}

MUTANTS = [
    in_torch(
        "attention drops weights in evaluation, too",
        [("if dropout is not None and dropout.training:\n", "if dropout is not None:\n")],
        EVALUATED,
    ),
    in_torch(
        "what attention keeps of its weights is not scaled",
        [("return attended.transpose(1, 2)", 'return attended.transpose(1, 2) * (1 - asked["dropout_p"])')],
        UNSCALED,
    ),
    in_jax(
        "attention drops the weights of all heads alike",
        [("else dropout(weights)", "else weights * dropout(jnp.ones_like(weights[:, :1]))")],
        {"attention dropout/0.1": "of two heads both"},
    ),
    in_jax(
        "attention's weights are not dropped",
        [("weights if dropout is None else dropout(weights)", "weights")],
        {"attention dropout/0.75": "the share of dropped elements"},
    ),
    in_tensorflow(
        "attention drops logits in the place of weights",
        [("tf.nn.softmax(logits)", "tf.nn.softmax(dropout(logits))"), ("dropout(weights), v", "weights, v")],
        {"attention dropout/0.75": "the share of dropped elements"},
    ),
    in_tensorflow(
        "attention that drops weights is not scaled",
        [(" * tf.cast(scale, precise)", "")],
        CAUSAL,
    ),
    in_mlx(
        "what attention keeps of its weights is not scaled",
        [("precise=True)) @ v", "precise=True)) * dropout._p_1 @ v")],
        UNSCALED,
    ),
    in_mlx(
        "attention that drops weights sees what is later",
        [("(mask is not None or is_dropped)", "mask is not None")],
        CAUSAL,
    ),
    in_jittor(
        "attention drops weights in evaluation, too",
        [("if dropout is not None and dropout.is_train else", "if dropout is not None else")],
        EVALUATED,
    ),
]
