"""Which mutants are planted in one run of the tests: a part that the sources draw (tests/drawn.py), or all of them.

`BAKEOFF_MUTANTS=all` plants all, as `make mutants` does; so does naming a test or `-k`, of what is named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from catalogue import MUTANTS
from catalogue.mutant import Mutant
from judging import OWN_PROCESSES
from tests.drawn import MUTANTS_VARIABLE, first, sources

DRAWN = {
    "torch": 2,
    "jax": 1,
    "tensorflow": 1,
    "mlx": 1,
    "jittor": 1,
    "workload": 1,
    "certificate": 1,
    "clock": 1,
    "feed": 1,
    "explanation": 1,
    "processes": 1,
}
"""How many are drawn of each framework, of the workloads' files, of certificates, of the clock, of how batches are
shared out, of explanations, and of what starts processes of its own. They take a minute of processor time, half of it
for imports and for what is computed without a fault."""


def is_all() -> bool:
    """Return whether all mutants are asked for."""
    return os.environ.get(MUTANTS_VARIABLE) == "all"


def drawn(mutants: Iterable[Mutant] = MUTANTS.values(), seed: str | None = None) -> set[str]:
    """Return the ids of the drawn part; the seed is the sources' hash."""
    groups: dict[str, list[str]] = {}
    for mutant in mutants:
        groups.setdefault(_group(mutant), []).append(mutant.id)
    return set().union(*(first(ids, DRAWN[group], seed or sources()) for group, ids in groups.items()))


def _group(mutant: Mutant) -> str:
    """Return of what a mutant is drawn."""
    if mutant.asked.keys() & set(OWN_PROCESSES):
        return "processes"
    return mutant.framework or mutant.where
