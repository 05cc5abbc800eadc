from __future__ import annotations

import numpy as np
import pytest
from contract_run import LIMIT_S, MODES, computed

pytestmark = pytest.mark.timeout(LIMIT_S)


@pytest.mark.parametrize(("framework", "mode"), MODES)
@pytest.mark.by_turns
def test_products_and_sums_are_what_they_should_be(framework: str, mode: str) -> None:
    """What the machine's peaks are measured by is computed: a product of matrices, and each sum onto the one before."""
    found = computed(framework, mode).of("peaks")
    assert np.allclose(found["product"], found["expected"], rtol=1e-5, atol=1e-5)
    assert found["sum"] == 3
