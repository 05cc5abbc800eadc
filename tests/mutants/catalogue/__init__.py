"""Every planted fault: a file for each framework, one for workloads and one for the clock."""

from __future__ import annotations

from catalogue import clock, jax, jittor, mlx, snapshots, tensorflow, torch, torch_steps, workloads
from catalogue.mutant import Mutant

MUTANTS: dict[str, Mutant] = {
    mutant.id: mutant
    for module in (torch, torch_steps, jax, tensorflow, mlx, jittor, snapshots, workloads, clock)
    for mutant in module.MUTANTS
}
"""By their ids."""
