"""Planted faults are caught by the project's own checks; which are planted in a run, `drawing.py` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catalogue import MUTANTS
from catalogue.mutant import Mutant
from contract_run import LIMIT_S
from drawing import is_all
from judging import OWN_PROCESSES, Finding, arrays, certified, contender, findings
from planting import planted
from tests.drawn import is_named

from bakeoff.spec.scenario import Scenario

pytestmark = pytest.mark.timeout(
    2 * LIMIT_S
)  # Jittor compiles a mutant's operators, and the reference is computed, too


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_fault_is_caught(
    mutant: str, tmp_path: Path, record_property: Any, request: pytest.FixtureRequest
) -> None:
    """Without the fault every check passes, and with it those fail that have to; an equivalent one changes no bit."""
    one, is_whole = MUTANTS[mutant], not (is_all() or is_named(request.config))
    copy = planted(one, tmp_path)
    if one.equivalent:
        _assert_the_same(one, copy)
    caught = {}
    for question, expected in one.asked.items():
        # A run of all tests asks these without a fault in their own place.
        is_asked = question in OWN_PROCESSES or (is_whole and question.startswith("unit/"))
        assert is_asked or not _failed(one, question, None)
        answers = findings(one.framework, question, copy)
        found = [finding for finding in answers if not finding.passed]
        names = [finding.check.removesuffix(" in float64") for finding in found]
        assert not expected or set(expected.split(" or ")) & set(names), f"{question}: {expected} passes: {answers}"
        caught[question] = [(finding.check, finding.amount) for finding in found]
    assert bool(one.equivalent) != any(caught.values())
    record_property("mutant", json.dumps({"id": mutant, "caught": caught}))
    if one.framework:
        record_property("versions", json.dumps({one.framework: _versions(one.framework)}))


@pytest.mark.parametrize(
    ("framework", "workload", "scenario"),
    [
        ("torch", "mlp-mnist", "train"),
        ("torch", "resnet50", "train"),
        ("torch", "mlp-mnist", "infer"),
        ("torch", "resnet50", "infer"),
        ("jax", "mlp-mnist", "train"),
    ],
)
def test_a_faultless_step_is_certified_with_room(framework: str, workload: str, scenario: Scenario) -> None:
    """What a step does, or keeps, is within a tenth of what is allowed: a fault is not needed to come near it."""
    checks = {check.name: check for check in certified(framework, workload, scenario, None).checks}
    assert all(check.passed for check in checks.values())
    held = checks["update" if scenario == "train" else "ran"]
    assert 10 * held.error <= held.allowed


def _failed(mutant: Mutant, question: str, copy: Path | None) -> list[Finding]:
    """Return the checks of a question that fail."""
    return [finding for finding in findings(mutant.framework, question, copy) if not finding.passed]


def _versions(framework: str) -> dict[str, str]:
    """Return the versions of a framework's packages."""
    return {name: str(value) for name, value in contender(framework).of("versions").items()}


def _assert_the_same(mutant: Mutant, copy: Path) -> None:
    """Assert that a fault changes no bit of what is asked."""
    for question in mutant.asked:
        found, honest = arrays(mutant.framework, question, copy), arrays(mutant.framework, question, None)
        assert found.keys() == honest.keys()
        assert not [name for name in honest if not np.array_equal(found[name], honest[name])]
