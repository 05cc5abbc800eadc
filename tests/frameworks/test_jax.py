from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from asking import answer

from bakeoff.race import remembered
from bakeoff.race.conductor import verify
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.by_turns
def test_a_user_who_stops_at_nan_is_not_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No number that the engine makes for itself is a NaN that JAX is asked to compute."""
    monkeypatch.setenv("JAX_DEBUG_NANS", "1")
    monkeypatch.setattr(remembered, "base", lambda: tmp_path)  # nothing is left in the user's own folder
    asked = {"contenders": ("jax",), "size": "reduced", "threads": 1, "results": str(tmp_path)}
    (certificate,) = verify(Request(workload="mlp-mnist", **asked))
    assert certificate.passed, certificate.reason
