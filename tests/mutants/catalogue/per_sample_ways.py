"""Faults in per-sample gradients of TensorFlow, MLX and Jittor, whose ways are not those of PyTorch and JAX."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant
from catalogue.per_sample import CLIPPED, NOISE, NORMS

in_tensorflow = partial(Mutant, "tensorflow", "engine", "per_sample.py")
in_mlx = partial(Mutant, "mlx", "engine", "per_sample.py")
in_jittor = partial(Mutant, "jittor", "engine", "per_sample.py")
in_formulas = partial(Mutant, "jittor", "engine", "closed_form.py")

OF_ROWS = {"imdb-embed/per-sample-gradients": "norms"}

TENSORFLOWS_SUMS = "return losses, norms, [tf.tensordot(factors, one, 1) for one in gradients]"
TENSORFLOWS_OWN = """\
own = [self._factors(tf.sqrt(_squares(one))) for one in gradients]
        return losses, norms, [tf.tensordot(by, one, 1) for by, one in zip(own, gradients)]"""

MLXS_SUM = "return loss, norm, tree_map(lambda sums, one: sums + factor * one, total, gradient)"
MLXS_LATE = """\
added = tree_map(lambda sums, one: sums + one, total, gradient)
        whole = self._factors(mx.sqrt(_total(tree_map(lambda one: mx.square(one).sum(), added))))
        return loss, norm, tree_map(lambda one: one * whole, added)"""

MUTANTS = [
    in_tensorflow(
        "short gradients are made longer",
        [("self._asked.max_norm / tf.maximum(norms, self._asked.max_norm)", "self._asked.max_norm / norms")],
        CLIPPED,
    ),
    in_tensorflow(
        "each array of a sample is clipped by its own norm",
        [(TENSORFLOWS_SUMS, TENSORFLOWS_OWN)],
        CLIPPED,
    ),
    in_tensorflow("the optimiser gets the sum", [("[one / count for one in total]", "total")], CLIPPED),
    in_tensorflow(
        "every step draws the same noise",
        [("dtype=like.dtype.name, seed=self._draws", "dtype=like.dtype.name, seed=1")],
        NOISE,
    ),
    in_mlx(
        "short gradients are made longer",
        [("self._asked.max_norm / mx.maximum(norms, self._asked.max_norm)", "self._asked.max_norm / norms")],
        CLIPPED,
    ),
    in_mlx(
        "a loop stays at its first sample",
        [("one[place : place + 1], (inputs, targets))", "one[:1], (inputs, targets))")],
        NORMS,
    ),
    in_mlx("the sum is clipped, and no sample", [(MLXS_SUM, MLXS_LATE)], CLIPPED),
    in_mlx(
        "the noise is twice what is asked for",
        [("self._asked.deviation / self._replicas.count", "2.0 * self._asked.deviation / self._replicas.count")],
        NOISE,
    ),
    in_mlx(
        "every parameter gets the same noise",
        [("self._keys[0], key = mx.random.split(self._keys[0])", "key = self._keys[0]")],
        NOISE,
    ),
    in_mlx(
        "the step leaves the noise out",
        [
            (
                "optimizers.clipped(self._formula, self._noisy(total, count))",
                "optimizers.clipped(self._formula, tree_map(lambda one: one / count, total))",
            )
        ],
        {"imdb-embed/per-sample-gradients": "update"},
    ),
    in_jittor(
        "short gradients are made longer",
        [("self._asked.max_norm / jt.maximum(norms, self._asked.max_norm)", "self._asked.max_norm / norms")],
        CLIPPED,
    ),
    in_jittor(
        "there is no noise",
        [("(one + self._asked.deviation * drawn) / count", "(one + 0.0 * drawn) / count")],
        NOISE,
    ),
    in_formulas(
        "a bias is left out of the norm",
        [
            (
                "LayerGradients(_squares(weight) if bias is None else _squares(weight) + _squares(bias), sums)",
                "LayerGradients(_squares(weight), sums)",
            )
        ],
        NORMS,
    ),
    in_formulas(
        "a word that a text has twice counts as two words",
        [("jt.sum(jt.reshape(products * same, (products.shape[0], -1)), 1)", "_squares(slope)")],
        OF_ROWS,
    ),
]
