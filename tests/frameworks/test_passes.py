"""Passes over a graph that are off: what is read back is what was asked for, so that it is held here."""

from __future__ import annotations

import pytest
from asking import answer

pytestmark = pytest.mark.timeout(300)


def test_inductor_is_asked_for_no_pass_over_the_graph() -> None:
    """By options that the installed PyTorch has, all of them off; by none where passes are on."""
    told = answer("torch", "passes_child.py", "torch")
    given = told["given"]
    assert given["on"] == {}
    assert {"pattern_matcher", "use_post_grad_passes"} <= set(given["off"]["options"]) <= set(told["there"])
    assert not any(given["off"]["options"].values())


def test_xla_is_asked_for_its_lowest_level() -> None:
    """With every jitted function; with passes on, nothing is asked of it."""
    assert answer("jax", "passes_child.py", "jax")["given"] == {
        "on": None,
        "off": {"xla_backend_optimization_level": 0},
    }
