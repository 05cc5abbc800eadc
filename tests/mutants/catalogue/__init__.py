"""Every planted fault: a file for each framework, one each for snapshots, sequences, workloads and the clock."""

from __future__ import annotations

from catalogue import (
    clock,
    jax,
    jittor,
    mlx,
    recipes,
    sequences,
    snapshots,
    tensorflow,
    torch,
    torch_functions,
    torch_steps,
    workloads,
)
from catalogue.mutant import Mutant

_EVERY: list[Mutant] = [
    mutant
    for module in (
        torch,
        torch_functions,
        torch_steps,
        jax,
        tensorflow,
        mlx,
        jittor,
        workloads,
        clock,
        snapshots,
        recipes,
        sequences,
    )
    for mutant in module.MUTANTS
]

_FRAMEWORKS = list(dict.fromkeys(mutant.framework for mutant in _EVERY))

MUTANTS: dict[str, Mutant] = {
    mutant.id: mutant for mutant in sorted(_EVERY, key=lambda mutant: _FRAMEWORKS.index(mutant.framework))
}
"""By their ids; those of a framework stand together."""
