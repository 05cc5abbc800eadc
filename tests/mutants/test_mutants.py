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
from judging import arrays, contender, findings
from planting import planted

pytestmark = pytest.mark.timeout(
    2 * LIMIT_S
)  # a mutant of Jittor compiles its operators anew, and so does the reference


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_fault_is_caught(mutant: str, tmp_path: Path, record_property: Any) -> None:
    """Without the fault every check passes, and with it those fail that are said to; an equivalent one changes no bit."""
    one = MUTANTS[mutant]
    copy = planted(one, tmp_path)
    if one.equivalent:
        _assert_the_same(one, copy)
    caught = {}
    for question, expected in one.asked.items():
        assert [finding for finding in findings(one, question, None) if not finding.passed] == []
        found = {finding.check: finding for finding in findings(one, question, copy) if not finding.passed}
        assert not expected or expected in found, f"{question} is not told by {expected}, but by {list(found)}"
        caught[question] = [(finding.check, finding.amount) for finding in found.values()]
    assert bool(one.equivalent) != any(caught.values())
    record_property("mutant", json.dumps({"id": mutant, "caught": caught}))
    if one.framework:
        record_property("versions", json.dumps({one.framework: versions(one.framework)}))


def versions(framework: str) -> dict[str, str]:
    """Return the versions of a framework's packages."""
    found = contender(framework).of("versions")
    return {name: str(value) for name, value in found.items()}


def _assert_the_same(mutant: Mutant, copy: Path) -> None:
    """Assert that a fault changes no bit of what is asked."""
    for question in mutant.asked:
        found, honest = arrays(mutant, question, copy), arrays(mutant, question, None)
        assert found.keys() == honest.keys()
        assert not [name for name in honest if not np.array_equal(found[name], honest[name], equal_nan=True)]
