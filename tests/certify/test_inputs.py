from __future__ import annotations

from typing import Any

import pytest

from bakeoff.certify.inputs import check_inputs
from bakeoff.spec.evidence import InputPass


@pytest.mark.parametrize(
    ("seen", "passes"),
    [
        ({"mode": "pipeline", "in_order": False}, True),
        ({"mode": "per-step"}, True),
        ({"mode": "per-step", "in_order": False}, False),
        ({"mode": "pipeline", "missing": 1}, False),
        ({"mode": "pipeline", "unexpected": 1}, False),
        ({"mode": "per-step", "missing": 1, "unexpected": 1}, False),
    ],
)
def test_each_sample_has_to_come_once_and_in_order_but_for_a_loader_that_shuffles(seen: Any, passes: Any) -> None:
    """A single sample that is left out, or comes a second time, is a failure by itself."""
    whole = {"samples": 40, "missing": 0, "unexpected": 0, "in_order": True}
    assert check_inputs(InputPass(**whole | seen)).passed == passes
