"""Faults in Jittor's training step."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import COUNTED, Mutant
from catalogue.steps import UPDATE, of_batches, of_formulas

in_steps = partial(Mutant, "jittor", "engine", "engine.py")

TAKEN = "        inputs, targets = batch\n        self._loss = "
COMPUTED = "        self._loss = self._loss_of(nn, self._network(inputs), targets, inputs)\n"
STEPPED = "        optimizers.step(self._optimizer, self._formula, self._loss)\n"
MADE = "        self._formula, self._optimizer = optimizer, optimizers.make(optimizer, named)\n"

HEAD_ALONE = '        named = {name: array for name, array in named.items() if name.startswith("head.")}\n'

SLOWER = """\
        for group in list(self._optimizer.param_groups):
            is_flat = [len(array.shape) == 1 for array in group["params"]]
            lists = {key: list(zip(is_flat, value)) for key, value in group.items() if isinstance(value, list)}
            flat = {key: [one for is_one, one in value if is_one] for key, value in lists.items()}
            group.update({key: [one for is_one, one in value if not is_one] for key, value in lists.items()})
            self._optimizer.param_groups.append(group | flat | {"lr": 0.5 * optimizer.learning_rate})
"""
"""Each list of a group has an array for each of its parameters."""

BEFORE = """\
        self._optimizer.backward(self._loss)
        gradients = [one for group in self._optimizer.param_groups for one in group['grads']]
        now = [one.clone().stop_grad() for one in gradients]
        for one, before in zip(gradients, getattr(self, '_before', now)):
            one.update(before)
        self._before = now
        self._optimizer.step()
"""

REDUCED = f"""\
        trained = {{id(array) for array, _ in nn.parameters(self._network).values()}}
        each = [(layer, name, array) for layer in self._network.modules() for name, array in vars(layer).items()]
        held = [one for one in each if id(one[2]) in trained and self._calls > 1]
        for layer, name, array in held:
            setattr(layer, name, array.bfloat16())
        inputs = inputs.bfloat16() if held else inputs
{COMPUTED.replace("(inputs),", "(inputs).float32(),")}\
        for layer, name, array in held:
            setattr(layer, name, array)
"""
"""Only the network is called in bfloat16. On a processor Jittor cuts the bits off, and adds up in bfloat16, too: its
results are farther off than those of other frameworks."""

MUTANTS = [
    in_steps("no optimiser step", [(STEPPED, "")], UPDATE),
    *of_batches(in_steps, TAKEN, "jt.concat"),
    in_steps("only the head is trained", [(MADE, HEAD_ALONE + MADE)], UPDATE),
    *of_formulas(in_steps),
    in_steps("vectors learn at half the rate", [(MADE, MADE + SLOWER)], UPDATE),
    in_steps("the gradients of the step before", [(STEPPED, BEFORE)], UPDATE),
    in_steps(
        "one array follows its gradient of the step before",
        [(STEPPED, BEFORE.replace("for one in group['grads']]", "for one in group['grads'][:1]]"))],
        UPDATE | {"resnet50-cifar10/train": "update"},
    ),
    in_steps(
        "gradients are never cleared",
        [(STEPPED, "        self._optimizer.zero_grad = lambda: None\n" + STEPPED)],
        UPDATE,
    ),
    in_steps("bfloat16 from the second step on", [(TAKEN, COUNTED + TAKEN), (COMPUTED, REDUCED)], UPDATE),
]
