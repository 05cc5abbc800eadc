from __future__ import annotations

import pytest
from contract_cases.optimizers import OPTIMIZERS
from contract_run import LIMIT_S, MODES, computed

from bakeoff.certify.optimizer import check_optimizer
from bakeoff.certify.tolerances import OPTIMIZER
from bakeoff.spec.optimizer import Optimizer

pytestmark = pytest.mark.timeout(LIMIT_S)


def test_every_kind_of_optimizer_is_tried() -> None:
    """An optimiser that is added to the vocabulary without a contract fails here."""
    assert {type(optimizer) for optimizer in OPTIMIZERS.values()} == set(Optimizer.__args__)


@pytest.mark.parametrize(("framework", "mode"), MODES)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_computes_its_formula(framework: str, mode: str, name: str) -> None:
    """The optimiser that a step really uses computes the one formula, whatever the framework's own defaults are."""
    check = check_optimizer(
        computed(framework, mode).of(f"optimizer/{name}"), OPTIMIZERS[name], precision="float32", allowed=OPTIMIZER
    )
    assert check.passed, check.detail
