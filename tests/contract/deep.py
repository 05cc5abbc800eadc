"""Which deep workloads are computed by which framework in one run of the tests, where computing all takes minutes.

Shallow workloads are computed by all frameworks in every run. Deep ones, whose compilers work for up to a minute each,
are all certified in the frameworks that are quick with them; of the others a part is drawn, in which there is always
one that convolves, and one that does not: a recurrent one, or one of attention.

In a mode that is not a framework's default one value of an option is drawn, where all are tried in the default one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from contract_cases.holes import HOLES
from contract_cases.optimizers import OPTIMIZERS
from contract_run import DECLARED, KNOWN, MODELS, WORKLOADS, is_deep
from tests.drawn import first, sources

from bakeoff.workloads import plan

CERTIFIED = {"tensorflow": 2, "jax": 1, "jittor": 1}
"""How many of each kind are drawn for certificates. Torch and MLX take a second or two for each, and compute all."""

OTHERWISE = 1
"""How many of each kind, among those for certificates, are asked for anything else, in every framework."""

BESIDE = 5
"""How many kinds of optimiser are tried in a mode that is not a framework's default; in that one all are."""

WHOLE = 8
"""How many workloads are held at full size against their independent implementation; at a small one all are."""

CERTIFICATES = ("test_every_framework_computes_the_same", "test_a_model_of_a_users_own_gets_its_certificate")
"""The tests that certify workloads."""

AT_FULL_SIZE = "test_a_workload_computes_what_it_is_called"
"""The test that holds what a workload computes at full size against its independent implementation."""

VALUES_OF = dict.fromkeys(
    ("test_what_is_asked_is_in_force_in_all_threads", "test_the_certificate_passes_with_every_value"), "denormals"
)
"""Tests of each value of an option in each mode: a process each, and in torch Inductor for some 20 s."""


def kinds(names: Iterable[str] = WORKLOADS) -> tuple[set[str], set[str]]:
    """Return the deep ones among workloads that mostly convolve, and the others."""
    deep = {name for name in names if is_deep(name)}
    convolving = {name for name in deep if _is_convolving(name)}
    return convolving, deep - convolving


def drawn(framework: str, count: int, seed: str | None = None, names: Iterable[str] = WORKLOADS) -> set[str]:
    """Return the deep ones among workloads that a framework computes: so many of each kind, drawn by the seed.

    What it refuses as a known hole is done at once, and stands for nothing.
    """
    holes = {work.partition("/")[0] for work in HOLES.get(framework, ())} & set(names)
    seed = f"{seed or sources()} {framework}"
    return holes.union(*(first(kind - holes, count, seed) for kind in kinds(names)))


def is_drawn(test: str, asked: Mapping[str, Any]) -> bool:
    """Return whether a test is a part of this run, by its name and parameters."""
    framework, workload = asked.get("framework"), asked.get("workload", asked.get("model"))
    if test == "test_optimizer_computes_its_formula":
        is_default = asked["mode"] == DECLARED[asked["framework"]].info.options["mode"].default
        return is_default or asked["name"] in first(OPTIMIZERS, BESIDE, f"{sources()} {framework} {asked['mode']}")
    if test == AT_FULL_SIZE:
        return asked["name"] in first(WORKLOADS, WHOLE, sources())
    if test in VALUES_OF and asked["mode"] != DECLARED[asked["framework"]].info.options["mode"].default:
        values = DECLARED[asked["framework"]].info.options[VALUES_OF[test]].values
        return asked["value"] in first(values, 1, f"{sources()} {framework}")
    if framework not in DECLARED or workload not in KNOWN or not is_deep(workload):
        return True
    count = CERTIFIED.get(framework, len(KNOWN)) if test in CERTIFICATES else OTHERWISE
    return workload in drawn(framework, count, names=WORKLOADS if workload in WORKLOADS else MODELS)


def words() -> str:
    """Return what was drawn for certificates."""
    parts = (f"{name}: {', '.join(sorted(drawn(name, count)))}" for name, count in CERTIFIED.items())
    return "; ".join(parts)


def _is_convolving(workload: str) -> bool:
    """Return whether more of a workload's arrays are kernels over maps than are matrices."""
    loaded = KNOWN[workload]
    axes = [len(array.shape) for array in plan.parameters(loaded.build, loaded.size("reduced")).values()]
    return axes.count(4) > axes.count(2)
