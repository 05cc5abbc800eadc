from __future__ import annotations

import pytest
from asking import answer


@pytest.mark.by_turns
def test_products_are_convolutions() -> None:
    """The option convolution=products computes what XLA's convolution does, in float64, whatever the shapes."""
    errors = answer("jax", "jax_child.py")
    assert len(errors) == 11
    assert all(error < 1e-12 for error in errors.values()), errors
