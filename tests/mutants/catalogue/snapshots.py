"""Faults in what a framework's step saves and puts back."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch = partial(Mutant, "torch", "snapshot", "snapshots.py")
in_jax = partial(Mutant, "jax", "snapshot", "engine.py")
in_tensorflow = partial(Mutant, "tensorflow", "snapshot", "engine.py")
in_mlx = partial(Mutant, "mlx", "snapshot", "snapshots.py")
in_jittor = partial(Mutant, "jittor", "snapshot", "snapshots.py")

DIFFER = {"steady/mlp-mnist": "parameter that differ in steps done again"}

STATE = """\
        for parameter, kept in zip(network.parameters(), snapshot.optimizer, strict=True):
            _put_back_state(optimizer.state, parameter, kept)
"""
CHANGING = "        self._changing = [*self._variables, *statistics, *self._optimizer.variables, *draws]  # by steps\n"
RESTORED = "        self._state = snapshots.copied(snapshot)\n"
PARAMETERS = "        self._state = self._state._replace(parameters=snapshots.copied(snapshot.parameters))\n"

MUTANTS = [
    in_torch("parameters alone are restored", [(STATE, "")], DIFFER),
    in_torch(
        "the step count is not restored",
        [
            (
                "    for name, saved in kept.items():\n",
                "    for name, saved in kept.items():\n        if name == 'step': continue\n",
            )
        ],
        DIFFER,
    ),
    in_torch(
        "a snapshot shares its memory with the optimiser",
        [("    return value.clone() if isinstance(value, torch.Tensor) else value\n", "    return value\n")],
        DIFFER,
    ),
    in_torch(
        "Dropout goes on drawing",
        [("    _generator(network).set_state(snapshot.random)\n", "")],
        {"steady/vgg16": "losses that differ in steps done again"},
    ),
    in_jax("parameters alone are restored", [(RESTORED, PARAMETERS)], DIFFER),
    in_tensorflow(
        "parameters alone are restored",
        [(CHANGING, "        self._changing = [*self._variables, *statistics, *draws]\n")],
        DIFFER,
    ),
    in_mlx(
        "parameters alone are restored",
        [("    _put(optimizer, snapshot.optimizer)\n", "")],
        DIFFER,
    ),
    in_jittor("the step count is not restored", [("    optimizer.n_step = snapshot.step\n", "")], DIFFER),
]
