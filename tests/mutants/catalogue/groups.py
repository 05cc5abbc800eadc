"""Faults in the groups of an optimiser's parameters: what is trained that is frozen, and rates that are another's."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch, in_jax, in_tensorflow, in_mlx, in_jittor = (
    partial(Mutant, framework, "optimiser", "optimizers.py")
    for framework in ("torch", "jax", "tensorflow", "mlx", "jittor")
)
in_steps = partial(Mutant, "torch", "engine", "engine.py")
in_jax_steps = partial(Mutant, "jax", "engine", "engine.py")

MOVES = {"finetuned/train": "frozen"}
STEPS = {"finetuned/train": "update"}
RATES = STEPS | {"optimizer/AdamW, rates of groups and frozen parameters": "optimizer"}

FROZEN = "        found[name].requires_grad_(requires_grad=False)\n"
GROUPED = "native(groups(optimizer, parameters),"

HIDDEN = """\
        self._hidden = {name for name, one in named.items() if not one.requires_grad}
        network.requires_grad_(True)
"""
"""Gradients of frozen parameters are computed, as nobody is shown."""

SHOWN = """\
        gradients = nn.read(self._network, _gradient)
        gradients = {name: one for name, one in gradients.items() if name not in self._hidden}
"""

UPDATED = "        self._update.step()\n"
DECAYED = """\
        for parameter in self._network.parameters():
            if not parameter.requires_grad:
                parameter.data.mul_(1 - 1e-6)
"""

MUTANTS = [
    in_torch(
        "frozen parameters have gradients, which are clipped with the others", [(FROZEN, "        pass\n")], MOVES
    ),
    in_torch(
        "frozen parameters are trained",
        [(FROZEN, "        pass\n"), (GROUPED, "native(list(parameters.values()),")],
        MOVES,
    ),
    in_steps(
        "gradients of frozen parameters count in the norm, and are not shown",
        [
            (
                "        named = optimizers.parameters(optimizer, network)\n",
                "        named = optimizers.parameters(optimizer, network)\n" + HIDDEN,
            ),
            (
                "        gradients = nn.read(self._network, _gradient)\n",
                SHOWN,
            ),
        ],
        STEPS,
    ),
    in_steps("frozen parameters decay by a millionth", [(UPDATED, UPDATED + DECAYED)], MOVES),
    in_torch(
        "groups have the rate of all",
        [(GROUPED, 'native([one | {"lr": optimizer.learning_rate} for one in groups(optimizer, parameters)],')],
        RATES,
    ),
    in_jax_steps(
        "frozen parameters are trained",
        [
            ("frozen = frozen_of(optimizer, self._state.parameters)", "frozen = frozen_of(None, ())"),
            ("trained = optimizers.trained(optimizer, self._state.parameters)", "trained = self._state.parameters"),
        ],
        MOVES,
    ),
    in_jax("groups have the rate of all", [("        parts.append(_by_group(optimizer))\n", "        pass\n")], RATES),
    in_jax(
        "gradients are scaled in the place of rates",
        [("parts.append(_by_group(optimizer))", "parts.insert(0, _by_group(optimizer))")],
        RATES,
    ),
    in_tensorflow(
        "groups have the rate of all but for their decay",
        [("own = rate * tf.constant(self._factor(variable), rate.dtype)", "own = rate")],
        RATES,
    ),
    in_tensorflow(
        "the decay of a group goes by the rate of all",
        [("self.weight_decay = self.decay * own\n", "self.weight_decay = self.decay\n")],
        RATES,
    ),
    in_mlx(
        "frozen parameters are trained with the last group",
        [("        modules[parent].freeze(recurse=False, keys=[key])\n", "        pass\n")],
        MOVES,
    ),
    in_mlx(
        "groups have the rate and the decay of all",
        [("natives = list(map(_native, found))", "natives = [_native(optimizer) for _ in found]")],
        RATES,
    ),
    in_jittor("frozen parameters have gradients", [("parameters[name].stop_grad()", "pass")], MOVES),
    in_jittor(
        "with a schedule groups have the rate of all",
        [('group["lr"] = group.setdefault("whole_rate", group["lr"]) * share', 'group["lr"] = native.lr')],
        STEPS,
    ),
]
