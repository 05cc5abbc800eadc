from __future__ import annotations

import pytest
from contract_cases.optimizers import OPTIMIZERS
from contract_run import LIMIT_S, MODES, computed

from bakeoff.certify.optimizer import check_optimizer
from bakeoff.certify.tolerances import OPTIMIZER
from bakeoff.spec.optimizer import Optimizer
from bakeoff.spec.schedule import Schedule

pytestmark = pytest.mark.timeout(LIMIT_S)


def test_every_kind_of_optimizer_is_tried() -> None:
    """An optimiser or a schedule that is added to the vocabulary without a contract fails here."""
    assert {type(optimizer) for optimizer in OPTIMIZERS.values()} == set(Optimizer.__args__)
    assert {type(optimizer.schedule) for optimizer in OPTIMIZERS.values()} - {type(None)} == set(Schedule.__args__)


@pytest.mark.parametrize(("framework", "mode"), MODES)
def test_a_large_gradient_is_clipped_by_its_norm(framework: str, mode: str) -> None:
    """Added one by one into one float32, four million squares make it 2e-3 too large; PyTorch's own norm 8e-5."""
    assert computed(framework, mode).of("clipped")["norm"] == pytest.approx(1.0, abs=2e-4)


@pytest.mark.parametrize(("framework", "mode"), MODES)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_computes_its_formula(framework: str, mode: str, name: str) -> None:
    """What an engine makes computes the one formula; that steps use it is what a certificate's update holds."""
    check = check_optimizer(
        computed(framework, mode).of(f"optimizer/{name}"), OPTIMIZERS[name], precision="float32", allowed=OPTIMIZER
    )
    assert check.passed, check.detail
