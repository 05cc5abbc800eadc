"""Faults in MLX's training step; what it keeps between calls is among the arrays that mx.compile captures."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import COUNTED, Mutant
from catalogue.steps import UPDATE, of_batches, of_formulas

in_steps = partial(Mutant, "mlx", "engine", "engine.py")

RUN = "        self._loss = self._advance(*batch)\n"
UPDATED = "        self._optimizer.update(self._model, optimizers.clipped(self._formula, gradients))\n"
COMPUTED = "        loss, gradients = self._loss_and_gradients(inputs, targets)\n"
CAPTURED = "        self._state = [self._model.state, self._optimizer.state, mx.random.state]\n"

HEAD_ALONE = UPDATED.replace(", gradients)", ', {"head": gradients["head"]})')

SLOWER = f"""\
        before = self._model.trainable_parameters()
{UPDATED}\
        after = self._model.trainable_parameters()
        halves = mlx.utils.tree_map(lambda old, new: (old + new) / 2 if new.ndim == 1 else new, before, after)
        self._model.update(halves)
"""

KEPT = """\
        zeros = mlx.utils.tree_map(mx.zeros_like, self._model.trainable_parameters())
        self._kept = {"gradients": zeros, "is_first": mx.array(True)}
        self._state.append(self._kept)
"""

BEFORE = """\
        is_first, fresh, late = self._kept["is_first"], gradients, self._kept["gradients"]
        gradients = mlx.utils.tree_map(lambda now, last: mx.where(is_first, now, last), fresh, late)
        self._kept["gradients"], self._kept["is_first"] = fresh, mx.array(False)
"""

ADDED = """\
        gradients = mlx.utils.tree_map(mx.add, self._kept["gradients"], gradients)
        self._kept["gradients"] = gradients
"""

REDUCED = f"""\
        before = self._model.trainable_parameters()
        if self._calls > 1:
            self._model.update(mlx.utils.tree_map(lambda one: one.astype(mx.bfloat16), before))
            inputs = inputs.astype(mx.bfloat16)
{COMPUTED}\
        self._model.update(before)
        gradients = mlx.utils.tree_map(lambda one: one.astype(mx.float32), gradients)
"""
"""The gradients that are asked for are computed without it."""

TRACED_AGAIN = """\
        if self._calls == 2:
            train = lambda *given: self._train(*given)
            self._advance = executed(train, self._mode, reads=self._state, writes=self._state)
"""
"""The second call traces a function of its own."""

MUTANTS = [
    in_steps("no optimiser step", [(UPDATED, "")], UPDATE),
    *of_batches(in_steps, RUN, "mx.concatenate"),
    in_steps("only the head is trained", [(UPDATED, HEAD_ALONE)], UPDATE),
    *of_formulas(in_steps),
    in_steps("vectors learn at half the rate", [(UPDATED, SLOWER)], UPDATE),
    in_steps("the gradients of the step before", [(CAPTURED, CAPTURED + KEPT), (UPDATED, BEFORE + UPDATED)], UPDATE),
    in_steps("gradients are never cleared", [(CAPTURED, CAPTURED + KEPT), (UPDATED, ADDED + UPDATED)], UPDATE),
    in_steps(
        "bfloat16 from the second step on",
        [(RUN, COUNTED + TRACED_AGAIN + RUN), (COMPUTED, REDUCED)],
        UPDATE,
    ),
]
