"""A snapshot put back gives the same training steps again, bit for bit, in every framework, mode and workload."""

from __future__ import annotations

import contract_checks
import pytest
from contract_cases.steady import PASSES
from contract_run import DECLARED, LIMIT_S, MODES, WORKLOADS, computed, computed_by, is_deep

from bakeoff.spec.optimizer import SGD

pytestmark = pytest.mark.timeout(LIMIT_S)

TRAINED = [name for name, loaded in WORKLOADS.items() if "train" in loaded.workload.scenarios]


def subjects() -> list[tuple[str, str, str]]:
    """Return every framework with every workload, in its modes; deep ones in the default mode only."""
    return [
        (framework, mode, workload)
        for framework, mode in MODES
        for workload in TRAINED
        if not is_deep(workload) or DECLARED[framework].info.options["mode"].default == mode
    ]


LOOPS_COMPILED_ANEW = ("jax", "eager", "imdb-lstm")
"""JAX's eager mode makes a new program of a loop's gradient at each call, and compiles it; compiled, a step has one."""


def keeps_arrays(workload: str) -> bool:
    """Return whether a workload's optimiser has a state beside its step count."""
    optimizer = WORKLOADS[workload].workload.optimizer
    return not isinstance(optimizer, SGD) or bool(optimizer.momentum)


@pytest.mark.parametrize(("framework", "mode", "workload"), subjects())
def test_steps_after_a_restore_are_the_same_steps(framework: str, mode: str, workload: str) -> None:
    """Losses, parameters, statistics and the optimiser's arrays repeat, twice, and nothing is compiled for it."""
    found = computed(framework, mode).steady(workload)
    kinds = {name.split("/")[1] for name in found if name.startswith(f"{PASSES[0]}/")}
    assert {"losses", "parameter"} <= kinds
    assert {"optimizer", "optimizer before"} <= kinds or not keeps_arrays(workload)
    failed = [held.what for held in contract_checks.repeats(found) if not held.passed]
    assert failed == (["compiled after a restore"] if (framework, mode, workload) == LOOPS_COMPILED_ANEW else [])


@pytest.mark.parametrize(("framework", "mode"), MODES)
@pytest.mark.by_turns
def test_steps_of_a_schedule_are_the_same_after_a_restore(framework: str, mode: str) -> None:
    """A schedule goes on from the step of the snapshot, with groups, momentum and clipping; nothing is compiled."""
    found = computed(framework, mode).of("scheduled")
    assert not [held for held in contract_checks.repeats(found) if not held.passed]
    moved = [found[f"{PASSES[0]}/parameter/{name}"] for name in ("first.weight", "first.bias")]
    assert all(abs(value).max() > 0 for value in moved)


@pytest.mark.parametrize(
    ("framework", "value"),
    [(name, "float16") for name in DECLARED if "float16" in DECLARED[name].info.options["precision"].values],
)
def test_the_scale_of_the_loss_is_restored(framework: str, value: str) -> None:
    """In float16 the loss's scale is a part of the state: the same steps give the same bits again."""
    found = computed_by(f"{framework}:precision={value}").steady("mlp-mnist")
    assert not [held for held in contract_checks.repeats(found) if not held.passed]
