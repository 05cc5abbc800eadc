"""What only Jittor does: it compiles operation by operation and keeps the results; its own BatchNorm loses digits."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
from asking import answer
from jittor_operators import variables as quicker

from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import variables_of

pytestmark = pytest.mark.timeout(400)  # g++ on one slow processor


def told(child: str, variables: dict[str, str]) -> Any:
    """Return what a file beside this one prints in Jittor's interpreter."""
    declared = variables_of(frameworks()["jittor"].info, {})
    settings = {name: value.format(threads=1) for name, value in declared.items()}
    return answer("jittor", child, **quicker() | settings | variables)


def steps(cache: Path) -> dict[str, Any]:
    """Return what three steps compiled and a trace of more, in a process whose operators lie in this folder."""
    declared = frameworks()["jittor"].info.cache.variables
    return told("jittor_child.py", {one.name: one.value.format(cache=cache) for one in declared})


def test_operations_are_compiled_once_and_kept(tmp_path: Path) -> None:
    """With an empty folder the first step compiles and no later one of any shape does; with that folder none does."""
    first, *later = steps(tmp_path)["steps"]
    assert first["count"] > 0
    assert 0 < first["compile_ns"] <= first["ns"]
    assert [(one["count"], one["compile_ns"]) for one in later] == [(0, 0)] * 2
    found = steps(tmp_path)
    again, *_ = found["steps"]
    assert (again["count"], again["compile_ns"]) == (first["count"], 0)
    assert_traced(found["trace"])


def assert_traced(trace: dict[str, Any]) -> None:
    """Each step's operators are told by kind, stand within it, and are counted; nothing is said of layers."""
    assert trace["level"] == "kinds"
    assert trace["reason"]
    assert len(trace["steps"]) == 3
    for start_ns, end_ns in trace["steps"]:
        host, *operators = [event for event in trace["events"] if start_ns <= event[1] < end_ns]
        assert (host[4], host[1], host[2], host[-1]) == ("host dispatch", start_ns, end_ns, False)
        assert {"matrix product", "reduction", "element-wise"} <= {event[4] for event in operators}
        assert all(event[2] <= end_ns and event[-1] for event in operators)
        assert not any(event[5] or event[6] for event in operators)
    _, *raw = trace["raw"].splitlines()
    assert sum(int(line.split("\t")[1]) for line in raw) == sum(event[-1] for event in trace["events"]) > 3 * 5
    assert trace["facts"]["fused_kernels"] > 5


@functools.cache
def digits() -> Any:
    """Return how exact Jittor's BatchNorm and tanh are, computed once for all tests."""
    return told("jittor_digits_child.py", {})


def test_staged_statistics_keep_the_digits_that_jittors_own_lose() -> None:
    """For channels whose mean is 30 standard deviations, outputs have all digits of float32 by default."""
    found = digits()
    assert found["staged"] < 2e-6
    assert found["own"] > 1e-4  # once this fails, Jittor's own layer may be the default


def test_a_saturated_tanh_has_a_slope() -> None:
    """Far out it is 0, where Jittor's own is not a number, and in the middle 1."""
    assert digits()["slopes"] == pytest.approx([0.0, 1.0, 0.0])


def test_a_logit_of_zero_has_the_slope_between() -> None:
    """Of a cross-entropy: 1/2 - t, where maximum and abs have the slope of one of their sides."""
    assert digits()["undecided"] == pytest.approx([0.5, -0.5])


def test_many_classes_have_the_gradients_of_smoothed_labels() -> None:
    """What sums over all classes round does not go to the class of the largest logit, as in Jittor's log_softmax."""
    errors = told("jittor_losses_child.py", {})
    assert errors.keys() == {"labels", "classes of weights", "shares"}
    assert all(error < 1e-5 for error in errors.values()), errors
