from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from bakeoff.certify.state import added, check_state
from bakeoff.spec.evidence import Evidence
from bakeoff.spec.verdict import Check

BATCH = 8
COUNT = 4 * BATCH
"""Values of one channel in the batch: maps of four pixels."""
MOMENTUM = 0.1
FEATURES = 16
ALLOWED = 1e-5

_stream = np.random.RandomState(3)
BEFORE = {
    "norm.running_mean": _stream.uniform(-0.5, 0.5, FEATURES),
    "norm.running_variance": _stream.uniform(0.5, 1.5, FEATURES),
}
MEAN, VARIANCE = _stream.standard_normal(FEATURES), _stream.uniform(0.2, 3.0, FEATURES)
SHAPES = dict.fromkeys(BEFORE, (FEATURES,))
OUTPUTS = {"output/0": np.zeros((BATCH, 3))}


def side(
    rule: Any, *, says: Any = None, momentum: Any = (MOMENTUM, MOMENTUM), variance: Any = VARIANCE, shapes: Any = SHAPES
) -> tuple[Evidence, dict[str, Any]]:
    """Give the evidence of a float32 framework that follows a rule, and may say that it follows another."""
    moments = (MEAN, variance * (COUNT / (COUNT - 1) if rule == "unbiased" else 1))
    after = {
        name: ((1 - weight) * before + weight * moment).astype(np.float32)
        for (name, before), weight, moment in zip(BEFORE.items(), momentum, moments, strict=True)
    }
    kept = added(after, BEFORE, dict.fromkeys(BEFORE, MOMENTUM))
    evidence = Evidence(parameter_shapes={}, state_shapes=shapes, running_variance=says or rule)
    return evidence, OUTPUTS | {f"state/{name}": value for name, value in kept}


def judged(contender: Any, reference: Any, *, trained: bool = True, later: float = math.inf) -> Check:
    """Judge a contender's running statistics."""
    return check_state(*contender, *reference, trained=trained, allowed=ALLOWED, later=later)


@pytest.mark.parametrize("mine", ["biased", "unbiased"])
@pytest.mark.parametrize("theirs", ["biased", "unbiased"])
def test_each_rule_is_held_to_what_it_says(mine: str, theirs: str) -> None:
    """A framework that follows the rule that it declares passes against a reference of either rule."""
    check = judged(side(mine), side(theirs))
    assert check.passed, check.detail
    assert check.error < ALLOWED
    assert "32 running statistics in 2 arrays" in check.detail
    assert (f"takes the {mine} one" in check.detail) == (mine != theirs)


@pytest.mark.parametrize("rule", ["biased", "unbiased"])
def test_another_rule_than_declared_is_caught(rule: str) -> None:
    """A variance by the other rule than the declared one, which is also the reference's, fails."""
    other = {"biased": "unbiased", "unbiased": "biased"}[rule]
    assert not judged(side(rule, says=other), side(other)).passed


@pytest.mark.parametrize("momentum", [(0.01, 0.01), (0.9, 0.9), (0.11, 0.1), (0.1, 0.11)])
@pytest.mark.parametrize("rule", ["biased", "unbiased"])
def test_a_wrong_momentum_is_caught(momentum: Any, rule: str) -> None:
    """Another momentum, or the weight of the old value for that of the new, fails; also in one of the two only."""
    assert not judged(side(rule, momentum=momentum), side("unbiased")).passed


@pytest.mark.parametrize("variance", [np.sqrt(VARIANCE), 2 * VARIANCE, 0.5 * VARIANCE, VARIANCE[::-1]])
def test_what_is_no_variance_of_the_batch_is_caught(variance: Any) -> None:
    """A standard deviation, a multiple that no rule explains or permuted channels fail."""
    assert not judged(side("biased", variance=variance), side("unbiased")).passed


def test_the_rules_of_shards_are_told_apart_by_the_samples_of_one() -> None:
    """A shard of two samples may have two values of a channel, whose unbiased variance is twice the biased one."""
    evidence, arrays = side("biased")
    shared = msgspec.structs.replace(evidence, shards=BATCH // 2)
    twice = side("biased", says="unbiased", variance=2 * VARIANCE)
    assert judged(twice, (shared, arrays)).passed
    assert not judged(side("biased", says="unbiased", variance=3 * VARIANCE), (shared, arrays)).passed


def test_statistics_that_do_not_move_are_caught() -> None:
    """A contender that never updates its running statistics fails."""
    assert not judged(side("biased", momentum=(0.0, 0.0)), side("unbiased")).passed


def test_missing_statistics_are_caught() -> None:
    """A contender without running statistics, or without evidence of them, fails; so does NaN."""
    assert "norm.running_mean" in judged(side("biased", shapes={}), side("biased")).detail
    evidence, arrays = side("biased")
    assert "no evidence" in judged((evidence, OUTPUTS), side("biased")).detail
    broken = arrays | {"state/norm.running_variance": np.full(FEATURES, np.nan)}
    assert not judged((evidence, broken), side("unbiased")).passed


def test_inference_holds_names_and_shapes() -> None:
    """Where nothing is trained, names and shapes are held against the reference's; the outputs tell of the values."""
    assert judged((side("biased")[0], OUTPUTS), side("unbiased"), trained=False).passed
    assert not judged(side("biased", shapes={"norm.running_mean": (4,)}), side("unbiased"), trained=False).passed


LATER_STEPS = 4
"""After the first; all of them on the same batch, so that each adds the same."""


def with_later(side: Any, *, steps: int = LATER_STEPS, version: int = 3) -> Any:
    """Give a side's evidence with what later steps add, of which a fault may leave out some."""
    evidence, arrays = side
    kept = 1 - (1 - MOMENTUM) ** LATER_STEPS
    moved = sum(MOMENTUM * (1 - MOMENTUM) ** (LATER_STEPS - 1 - step) for step in range(steps)) / kept
    later = {f"later/{name}": moved * kept / MOMENTUM * arrays[f"state/{name}"] for name in BEFORE}
    return msgspec.structs.replace(evidence, version=version), arrays | later


def test_statistics_that_move_in_the_first_step_alone_are_caught() -> None:
    """What all later steps add is held where that is asked, and both sides have kept it."""
    honest, stopped = with_later(side("biased")), with_later(side("biased"), steps=0)
    assert judged(honest, honest, later=ALLOWED).passed
    found = judged(stopped, honest, later=ALLOWED)
    assert not found.passed
    assert "what all steps after it add in later/norm.running_" in found.detail
    assert judged(stopped, honest).passed
    assert judged(with_later(side("biased"), steps=0, version=2), honest, later=ALLOWED).passed
    assert not judged(stopped, with_later(side("unbiased")), later=ALLOWED).passed
    assert judged(with_later(side("biased")), with_later(side("unbiased")), later=ALLOWED).passed


def test_each_array_is_held_to_its_own_bound() -> None:
    """What later steps add may be off by more, and hides no smaller error of what the first adds beyond its bound."""
    honest, (evidence, arrays) = with_later(side("biased")), with_later(side("biased"))
    off = {"state/norm.running_mean": 1 + 20 * ALLOWED, "later/norm.running_mean": 1 + 100 * ALLOWED}
    moved = arrays | {name: factor * arrays[name] for name, factor in off.items()}
    found = judged((evidence, moved), honest, later=1000 * ALLOWED)
    assert not found.passed
    assert "what a step adds in state/norm.running_mean" in found.detail


def test_a_reference_without_outputs_fails() -> None:
    """A stranger's evidence may lack what the rules of the variance are told apart by."""
    evidence, arrays = side("biased")
    alone = {name: value for name, value in arrays.items() if name != "output/0"}
    assert judged((evidence, arrays), (evidence, alone)).detail == "no evidence: output/0"
