"""Pools of PyTorch in compiled mode."""

from __future__ import annotations

import pytest
from asking import answer


@pytest.mark.slow
@pytest.mark.by_turns
def test_a_cut_window_has_the_same_gradient_compiled() -> None:
    """Inductor's own divides by the whole window where the padding counts: it was off by 0.06 here."""
    assert answer("torch", "torch_pools_child.py") < 1e-6
