"""A workload's own metric after the trajectory is held against the reference's, as losses after the first are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.certify.test_certificate import LOSSES, SIZE, WORKLOAD, exhibit, spreads

from bakeoff.certify.certificate import certify
from bakeoff.certify.spread import Results, spread
from bakeoff.certify.tolerances import LATER_ROOM, PROGRAM, ROOM, amplitude
from bakeoff.spec.evidence import Evidence
from bakeoff.spec.metric import Metric
from bakeoff.spec.verdict import Check

METRIC = Metric(name="error", unit="m")


def checked(
    found: float | None,
    expected: float | None = 0.5,
    *,
    declared: Metric | None = METRIC,
    precision: str = "float32",
    version: int = 2,
    scenario: Any = "train",
    **measured: Any,
) -> list[Check]:
    """Give the checks of the metric in a certificate; `measured` is what the reference's metric moves by."""
    sides = []
    for one, version_of, value in ((exhibit("mine"), version, found), (exhibit(), 2, expected)):
        evidence = msgspec.structs.replace(one.evidence, version=version_of, metric=value, spreads=spreads(**measured))
        sides.append(msgspec.structs.replace(one, evidence=evidence))
    contender = msgspec.structs.replace(sides[0], precision=precision)
    size = msgspec.structs.replace(SIZE, metric=declared)
    certificate = certify(contender, sides[1], workload=WORKLOAD, size=size, scenario=scenario, steps=len(LOSSES))
    return [check for check in certificate.checks if check.name == "metric"]


def test_a_metric_within_the_roundings_passes() -> None:
    """What no update magnifies may be off by the room of the precision's roundings, and no more."""
    (check,) = checked(0.5 * (1 + 1e-6))
    assert (check.passed, check.error) == (True, pytest.approx(1e-6, rel=1e-3))
    assert check.allowed == pytest.approx(ROOM * amplitude("float32"))
    (check,) = checked(0.5005)
    assert not check.passed
    assert check.detail == "error, m after 6 steps: 0.5005 against 0.5 (relative 1.0e-03, allowed 3e-05)"


def test_in_float64_it_is_held_as_everything_is() -> None:
    """The program itself has one bound."""
    (check,) = checked(0.5 * (1 + 1e-8), precision="float64")
    assert (check.passed, check.allowed, check.stage) == (False, PROGRAM, "program")


def test_what_the_model_magnifies_is_allowed() -> None:
    """The metric follows updates, so that it has the room of later losses over what the moved reference shows."""
    (check,) = checked(0.504, metric=1e-3)
    assert (check.passed, check.allowed) == (True, pytest.approx(LATER_ROOM * 1e-3))
    (check,) = checked(0.506, metric=1e-3)
    assert not check.passed
    (check,) = checked(7.0, metric=None)
    assert (check.passed, check.allowed) == (True, None)
    assert "not held" in check.detail


@pytest.mark.parametrize(("found", "expected", "whose"), [(None, 0.5, "contender"), (0.5, None, "reference")])
def test_a_metric_that_is_missing_fails(found: float | None, expected: float | None, whose: str) -> None:
    """Without the number, or where it is not finite, nothing is held, on whichever side it lacks."""
    (check,) = checked(found, expected, metric=None)
    assert (check.passed, check.detail) == (False, f"no evidence: the {whose} has no finite error")


def test_nothing_is_asked_of_who_owes_none() -> None:
    """A workload without a metric, evidence from before updates were kept, and inference have no such check."""
    assert checked(None, None, declared=None) == []
    assert checked(None, version=0) == []
    assert checked(None, scenario="infer") == []


def test_the_reference_measures_how_far_its_metric_moves() -> None:
    """The largest relative change of all draws; nothing where there is no metric, infinite where a draw has none."""
    still, losses = Results({}, [1.0], 0.5), [1.0]
    draws = [Results({}, losses, 0.5 * (1 + 1e-4)), Results({}, losses, 0.5)]
    assert spread("float32", still, draws).metric == pytest.approx(1e-4)
    assert spread("float32", Results({}, losses), [Results({}, losses)]).metric == 0.0
    assert spread("float32", still, [Results({}, losses)]).metric is None


def test_evidence_from_before_metrics_is_read() -> None:
    """Records without the field have none, and their spreads none either."""
    spreads_then = {"float32": {"amplitude": 1e-6, "draws": 2, "output": 1e-6}}
    older = msgspec.json.encode({"version": 2, "parameter_shapes": {}, "spreads": spreads_then})
    evidence = msgspec.json.decode(older, type=Evidence)
    assert (evidence.metric, evidence.spreads["float32"].metric) == (None, 0.0)
