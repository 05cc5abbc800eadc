"""The planted causes of benchmarks/planted_causes.py: each can be planted, and has the switch that takes it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import script

from bakeoff.environments import declared
from bakeoff.environments.options import resolve_options
from bakeoff.judge.switches import turned_for
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.explained import OperationKind
from bakeoff.workloads import plan
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bakeoff.spec.contender import Contender


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Any]:
    """Load the benchmark, with its own frameworks declared for as long as the test."""
    module = script("planted_causes")
    with module.declare(tmp_path):
        yield module


def resolved(text: str) -> Contender:
    """Return a contender with a value for every option; raises for one that it cannot have."""
    contender = parse_contender(text)
    options = resolve_options(declared.framework(contender.framework).info, contender, {}, 1)
    return type(contender)(framework=contender.framework, label=text, options=options)


def test_every_cause_is_checked_by_what_it_was_planted_with(planted: Any) -> None:
    """Of the rows that it may be, each has the switch that takes it out again."""
    for case in planted.CASES:
        quick, slow = resolved(case.quick), resolved(case.slow)
        info = declared.framework(slow.framework).info
        kinds: frozenset[OperationKind] = case.kinds
        assert {turned_for(kind, info, quick, slow) for kind in kinds} == {case.switch}, case.name


def test_every_cause_has_its_layer_in_its_workload(planted: Any) -> None:
    """What is planted in one layer names one that the model has parameters in."""
    for case in planted.CASES:
        loaded = load(case.workload)
        names = plan.parameters(loaded.build, loaded.size(case.size))
        assert not case.layer or any(name.startswith(f"{case.layer}.") for name in names), case.name


def test_all_eight_causes_are_planted_somewhere(planted: Any) -> None:
    """Where one cannot be planted, there is a reason."""
    assert {case.name for case in planted.CASES} == {
        *("sleep in a layer", "float64 in a layer", "transposed input", "unfused optimiser"),
        *("unfused LSTM", "attention by hand", "copied batch", "denormals"),
    }
    assert all(planted.NOT_PLANTED.values())
