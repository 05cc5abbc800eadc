"""Faults in TensorFlow's training step; what it keeps from one call to the next are variables of its own."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import COUNTED, Mutant
from catalogue.steps import UPDATE, of_batches, of_formulas

in_steps = partial(Mutant, "tensorflow", "engine", "engine.py")

RUN = "        self._last = self._run(*batch)\n"
APPLIED = "        self._optimizer.apply(gradients)\n"
MADE = '        self._run = in_mode(replicas.each(self._train), options["mode"])\n'

HEAD_ALONE = """\
        named = zip(gradients, self._parameters.items(), strict=True)
        heads = [(gradient, variable) for gradient, (name, variable) in named if name.startswith("head.")]
        self._optimizer.apply(*zip(*heads, strict=True))
"""

SLOWER = f"""\
        before = [tf.identity(variable) for variable in self._variables]
{APPLIED}\
        for variable, old in zip(self._variables, before, strict=True):
            if len(variable.shape) == 1:
                variable.assign((variable + old) / 2)
"""

KEPT = """\
        self._kept = [tf.Variable(tf.zeros_like(variable.value)) for variable in self._variables]
        self._is_first = tf.Variable(True)
"""

BEFORE = """\
        fresh = gradients
        gradients = [tf.where(self._is_first, *both) for both in zip(fresh, self._kept, strict=True)]
        self._is_first.assign(False)
        for kept, one in zip(self._kept, fresh, strict=True):
            kept.assign(one)
"""

ADDED = """\
        gradients = [tf.identity(kept.assign_add(one)) for kept, one in zip(self._kept, gradients, strict=True)]
"""

AGAIN = MADE.replace("self._run =", "self._again =").replace("self._train", "lambda *batch: self._train(*batch)")

REDUCED = """\
        asked, policy = self._precision, keras.config.dtype_policy()
        layers = list(self._net._flatten(predicate=lambda one: isinstance(one, keras.layers.Layer)))
        if self._calls > 1:
            self._run, self._precision = self._again, __import__("copy").copy(asked)
            self._precision._compute = "bfloat16"
            for layer in layers:
                layer.dtype_policy = "mixed_bfloat16"
"""
"""The second call traces a function of its own. Settings that are read back, and gradients that are asked for, stay in
the precision that was asked for."""

RESTORED = """\
        self._precision = asked
        for layer in layers:
            layer.dtype_policy = policy
"""

MUTANTS = [
    in_steps("no optimiser step", [(APPLIED, "")], UPDATE),
    *of_batches(in_steps, RUN, "tf.concat"),
    in_steps("only the head is trained", [(APPLIED, HEAD_ALONE)], UPDATE),
    *of_formulas(in_steps),
    in_steps("vectors learn at half the rate", [(APPLIED, SLOWER)], UPDATE),
    in_steps("the gradients of the step before", [(MADE, KEPT + MADE), (APPLIED, BEFORE + APPLIED)], UPDATE),
    in_steps("gradients are never cleared", [(MADE, KEPT + MADE), (APPLIED, ADDED + APPLIED)], UPDATE),
    in_steps(
        "bfloat16 from the second step on",
        [(MADE, MADE + AGAIN), (RUN, COUNTED + REDUCED + RUN + RESTORED)],
        UPDATE,
    ),
]
