"""A snapshot put back gives the same training steps again, bit for bit, in every framework, mode and workload."""

from __future__ import annotations

import contract_checks
import pytest
from contract_cases.steady import PASSES
from contract_run import DECLARED, LIMIT_S, MODES, WORKLOADS, computed, is_deep

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


@pytest.mark.parametrize(("framework", "mode", "workload"), subjects())
def test_steps_after_a_restore_are_the_same_steps(framework: str, mode: str, workload: str) -> None:
    """Losses, parameters, statistics and the optimiser's arrays repeat, twice, and nothing is compiled for it."""
    found = computed(framework, mode).steady(workload)
    kinds = {name.split("/")[1] for name in found if name.startswith(f"{PASSES[0]}/")}
    assert {"losses", "parameter", "optimizer", "optimizer before"} <= kinds
    assert not [held for held in contract_checks.repeats(found) if not held.passed]
