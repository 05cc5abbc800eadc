"""Faults in JAX's training step; what it keeps from one call to the next stands in the optimiser's state."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import COUNTED, Mutant
from catalogue.steps import UPDATE, of_batches, of_formulas

in_steps = partial(Mutant, "jax", "engine", "engine.py")

RUN = "        self._state, self._loss = self._advance(self._state, batch)\n"
APPLIED = "        new = self._apply(state.parameters, state.optimizer, gradients)\n"
MADE = "        self._transformation = optimizers.make(optimizer)\n"

HEAD_ALONE = """\
        old = state.parameters
        new = {name: one if name.startswith("head.") else old[name] for name, one in new[0].items()}, new[1]
"""

SLOWER = """\
        old = state.parameters
        new = {name: (old[name] + one) / 2 if one.ndim == 1 else one for name, one in new[0].items()}, new[1]
"""

BEFORE = """\
        def begin(parameters):
            return jnp.array(True), jax.tree.map(jnp.zeros_like, parameters)

        def late(gradients, kept, parameters=None):
            is_first, before = kept
            given = jax.tree.map(lambda now, last: jnp.where(is_first, now, last), gradients, before)
            return given, (jnp.array(False), gradients)

        late = optimizers.optax.GradientTransformation(begin, late)
        self._transformation = optimizers.optax.chain(late, self._transformation)
"""

ADDED = "        self._transformation = optimizers.optax.chain(optimizers.optax.trace(1.0), self._transformation)\n"
"""A trace that decays by a factor of 1 is the sum of all gradients so far."""

REDUCED = """\
        asked = self._precision
        if self._calls > 1:
            self._precision = __import__("copy").copy(asked)
            self._precision.compute = np.dtype(jnp.bfloat16)
        if self._calls == 2:
            self._advance = self._switches.executed(lambda *given: self._next(*given), donate_argnums=0)
"""
"""The second call traces a function of its own: jax.jit would find the first one's program again. Settings that are
read back, and gradients that are asked for, stay in the precision that was asked for."""

MUTANTS = [
    # XLA then drops the backward pass, too.
    in_steps("no optimiser step", [(APPLIED, "        new = state.parameters, state.optimizer\n")], UPDATE),
    *of_batches(in_steps, RUN, "jnp.concatenate"),
    in_steps("only the head is trained", [(APPLIED, APPLIED + HEAD_ALONE)], UPDATE),
    *of_formulas(in_steps),
    in_steps("vectors learn at half the rate", [(APPLIED, APPLIED + SLOWER)], UPDATE),
    in_steps("the gradients of the step before", [(MADE, MADE + BEFORE)], UPDATE),
    in_steps("gradients are never cleared", [(MADE, MADE + ADDED)], UPDATE),
    in_steps(
        "bfloat16 from the second step on",
        [(RUN, COUNTED + REDUCED + RUN + "        self._precision = asked\n")],
        UPDATE,
    ),
]
