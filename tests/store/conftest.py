"""Comparisons and records, made by hand."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from bakeoff.spec.comparison import RULES, Comparison, ContenderPlan, Procedure
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.record import Block, Record, Signals
from bakeoff.spec.trial import Inputs, TrialSpec
from bakeoff.workloads.load import load


class Make(Protocol):
    """Makes something, with these fields changed."""

    def __call__(self, **changed: Any) -> Any:
        """Make it."""


@pytest.fixture
def comparison_of() -> Make:
    """Give a function that makes a comparison."""

    def make(**changed: Any) -> Comparison:
        fields: dict[str, Any] = {
            "id": "mlp-mnist-1234",
            "created_at": "2026-01-01T00:00:00.000000+00:00",
            "bakeoff": "0.1.0",
            "workload": load("mlp-mnist").workload,
            "workload_path": "/somewhere/mlp_mnist.py",
            "workload_sha256": "0",
            "scenario": "train",
            "size": "full",
            "batch_size": 32,
            "data": Inputs(source="synthetic", batches=4, sha256="1"),
            "contenders": [],
            "reference": None,
            "procedure": Procedure(rules=RULES),
            "machine": {"processor": "one", "cores": 2},
        }
        return Comparison(**(fields | changed))

    return make


@pytest.fixture
def record_of() -> Make:
    """Give a function that makes the record of a timed trial."""

    def make(**changed: Any) -> Record:
        trial = TrialSpec(
            comparison="mlp-mnist-1234",
            name="r01-fake",
            purpose="time",
            round_number=1,
            contender=parse_contender("fake"),
            framework_path="/somewhere/fake",
            workload_path="/somewhere/mlp_mnist.py",
            workload_name="mlp-mnist",
            scenario="train",
            size="full",
            batch_size=32,
            seed=0,
            inputs_path="/somewhere/inputs",
        )
        block = Block(
            turn=0,
            first_step=24,
            lead_steps=3,
            lead_ns=300,
            steps_ns=[100, 200, 300],
            elapsed_ns=310,
            signals=Signals(wall_ns=700, cpu_ns=600, foreign_share=0.125),
        )
        fields: dict[str, Any] = {
            "trial": trial,
            "outcome": "done",
            "started_at": "2026-01-01T00:00:00+00:00",
            "machine": {"processor": "größer \u2028", "cores": 2, "gpu": None, "clock": 0.1},
            "warm_steps_ns": [110, 100, 2**62],
            "blocks": [block],
        }
        return Record(**(fields | changed))

    return make


@pytest.fixture
def plan_of() -> Make:
    """Give a function that makes the plan of the scripted contender."""

    def make(**changed: Any) -> ContenderPlan:
        fields = {"contender": parse_contender("fake"), "interpreter": "python", "framework_path": "/somewhere/fake"}
        return ContenderPlan(**(fields | changed))

    return make
