"""Models that users write, in more of the vocabulary than the shipped workloads take, get their certificates."""

from __future__ import annotations

import pytest
from certified import certificate_of
from contract_run import DECLARED, LIMIT_S, MODELS, computed, computed_by, program

from bakeoff.spec.contender import parse_contender

pytestmark = pytest.mark.timeout(2 * LIMIT_S)  # the reference, too


@pytest.mark.parametrize("framework", DECLARED)
@pytest.mark.parametrize("model", MODELS)
def test_a_model_of_a_users_own_gets_its_certificate(framework: str, model: str) -> None:
    """A step is the reference's, in float64 and in the timed precision, without a tolerance in the file."""
    scenario = MODELS[model].workload.scenarios[0]
    in_float64 = program(framework)
    certificate = certificate_of(
        computed(framework).exhibit(framework, model, scenario),
        model,
        scenario,
        program=in_float64.exhibit(framework, model, scenario) if in_float64 else None,
    )
    assert certificate.passed, certificate.reason


@pytest.mark.parametrize("framework", DECLARED)
def test_a_parameter_that_the_loss_never_uses_decays_in_every_framework(framework: str) -> None:
    """PyTorch would leave it as it is; each step is held to the formula, whose gradient is zero."""
    certificate = certificate_of(computed(framework).exhibit(framework, "unused", "train"), "unused", "train")
    assert certificate.passed, certificate.reason
    (update,) = (check for check in certificate.checks if check.name == "update")
    assert "not held" not in update.detail


@pytest.mark.parametrize("text", ["torch:layout=nhwc", "tensorflow:onednn=off"])
def test_other_layouts_and_kernels_compute_the_same(text: str) -> None:
    """Grouped, depthwise and dilated convolutions do in PyTorch's other layout, and in TensorFlow without oneDNN."""
    contender = computed_by(text)
    certificate = certificate_of(contender.exhibit(text, "mobile", "train"), "mobile", "train")
    assert certificate.passed, certificate.reason
    read, asked = contender.settings("mobile", "train"), parse_contender(text).options
    assert {name: str(read[name]) for name in asked} == asked
