from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from contract_run import LIMIT_S, REFERENCE, WORKLOADS, computed, computed_by
from test_workloads import CERTIFY_STEPS

from bakeoff.certify.certificate import certify
from bakeoff.spec.contender import parse_contender

if TYPE_CHECKING:
    from bakeoff.spec.workload import Scenario

pytestmark = pytest.mark.timeout(2 * LIMIT_S)  # the reference, too

SUBJECTS: tuple[tuple[str, Scenario], ...] = (("mlp-mnist", "train"), ("cnn-cifar10", "train"))

CONTENDERS = [
    "torch:precision=bfloat16",
    "torch:precision=float16",
    "jax:precision=bfloat16",
    "jax:precision=float16",
    "tensorflow:precision=bfloat16",
    "tensorflow:precision=float16",
]
"""Each value that a framework has on a processor stands in one of them, beside others to save processes."""


@pytest.mark.parametrize("text", CONTENDERS)
@pytest.mark.parametrize(("workload", "scenario"), SUBJECTS)
def test_every_option_computes_the_same(text: str, workload: str, scenario: Scenario) -> None:
    """With every value of every option a framework gets its certificate."""
    loaded = WORKLOADS[workload]
    precision = parse_contender(text).options.get("precision", "float32")
    certificate = certify(
        msgspec.structs.replace(computed_by(text, SUBJECTS).exhibit(text, workload, scenario), precision=precision),
        computed(REFERENCE, None).exhibit(f"{REFERENCE} in float64", workload, scenario),
        workload=loaded.workload,
        size=loaded.size("reduced"),
        scenario=scenario,
        steps=CERTIFY_STEPS + 1,
    )
    assert certificate.passed, certificate.reason


@pytest.mark.parametrize("text", CONTENDERS)
@pytest.mark.parametrize(("workload", "scenario"), SUBJECTS)
def test_every_option_is_read_back(text: str, workload: str, scenario: Scenario) -> None:
    """What was asked is what the framework tells to be in force."""
    read = computed_by(text, SUBJECTS).settings(workload, scenario)
    asked = parse_contender(text).options
    assert {name: str(read[name]) for name in asked} == asked
