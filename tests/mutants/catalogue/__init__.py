"""Every planted fault: a file for each framework; snapshots, sequences, graphs, workloads, certificates, the clock."""

from __future__ import annotations

from catalogue import (
    attention_dropout,
    certificate,
    changed,
    clock,
    cross_entropy,
    explanation,
    graphs,
    groups,
    inference,
    jax,
    jax_steps,
    jittor,
    jittor_steps,
    mlx,
    mlx_steps,
    names,
    per_sample,
    per_sample_ways,
    recipes,
    replicas,
    sequences,
    snapshots,
    streams,
    tensorflow,
    tensorflow_steps,
    torch,
    torch_functions,
    torch_steps,
    waits,
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
        jax_steps,
        tensorflow,
        tensorflow_steps,
        mlx,
        mlx_steps,
        jittor,
        jittor_steps,
        workloads,
        certificate,
        changed,
        clock,
        snapshots,
        recipes,
        groups,
        replicas,
        sequences,
        graphs,
        names,
        attention_dropout,
        cross_entropy,
        per_sample,
        per_sample_ways,
        explanation,
        inference,
        streams,
        waits,
    )
    for mutant in module.MUTANTS
]


def _group(mutant: Mutant) -> str:
    """Return the section of docs/mutants.md that a fault stands in."""
    return mutant.framework or mutant.where


_GROUPS = list(dict.fromkeys(map(_group, _EVERY)))

MUTANTS: dict[str, Mutant] = {
    mutant.id: mutant for mutant in sorted(_EVERY, key=lambda mutant: _GROUPS.index(_group(mutant)))
}
"""By their ids; those of a group stand together."""
