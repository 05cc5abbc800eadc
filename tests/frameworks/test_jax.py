from __future__ import annotations

import pytest
from asking import answer


@pytest.mark.by_turns
def test_other_ways_are_convolutions() -> None:
    """Products, and a program's gradients of strides, are what XLA gives in float64, whatever the shapes."""
    found = answer("jax", "jax_child.py")
    assert found["purposes"] == ["reference", "program"]
    told = found["errors"]
    for way, errors in told.items():
        assert all(error < 1e-12 for error in errors.values()), (way, errors)
    assert told["plain"] == {}  # what is timed
    assert len(told["products"]) == 6
    assert told["program"].keys() - told["products"].keys() == {
        "a sequence",
        "strides, dilated, padded unlike",
        "a kernel larger than its stride reaches",
    }
    assert told["products"].keys() < told["program"].keys()
