"""A whole race of a workload with frozen parameters and rates by groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.race.conftest import Race

pytestmark = pytest.mark.slow

MODEL = Path(__file__).parents[1] / "contract" / "contract_cases" / "models" / "finetuned.py"


def test_a_race_ranks_who_leaves_frozen_parameters_alone(race: Race) -> None:
    """What the certificate needs is in the evidence as it is read from disk, and a wrong rate is refused by it."""
    outcome = race("fake", "fake:wrong=rate", workload=str(MODEL), size="reduced", max_rounds=1)
    honest, wrong = outcome.contenders
    assert honest.status == "ranked", honest.reason
    assert {"frozen", "update", "optimizer"} <= {check.name for check in honest.certificate.checks}
    assert wrong.status == "uncertified"
    assert [check.name for check in wrong.certificate.checks if not check.passed and check.stage == "timed"] == [
        "update"
    ]
