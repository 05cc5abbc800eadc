from __future__ import annotations

import numpy as np
import pytest
from contract_cases import attention_dropout, dropout
from contract_cases.cases import CASES
from contract_cases.vocabulary import expected_gradients
from contract_checks import (
    dropped,
    dropped_by_sample,
    evaluated,
    loss_and_gradients,
    normal_draws,
    outputs,
    running_statistics,
    state_of,
    weights_dropped,
    weights_of,
)
from contract_run import DECLARED, LIMIT_S, computed, program

from bakeoff.spec.vocabulary import VOCABULARY

FRAMEWORKS = pytest.mark.parametrize("framework", DECLARED)

OWN_FORMS = [
    ("torch", "curves of straight pieces"),
    ("jax", "attention with mask, bias and scale"),
    ("tensorflow", "sizes of maps"),
    ("tensorflow", "convolutions in groups"),
    ("tensorflow", "smooth curves"),
    ("tensorflow", "curves of straight pieces"),
    ("tensorflow", "ctc"),
]
"""Cases of names that a framework computes in another way in float64, as certificates have it first."""

IN_FLOAT64 = 1e-11
"""How far outputs in float64 may be off: a number that is held in float32 on the way shows from 1e-8 on."""

pytestmark = pytest.mark.timeout(LIMIT_S)


def test_every_name_has_a_case() -> None:
    """A name of the vocabulary that no case tries fails here."""
    assert {name for case in CASES.values() for name in case.names} == VOCABULARY.keys()


@pytest.mark.parametrize("case", [name for name in CASES if CASES[name].deterministic])
def test_numpy_forms_are_the_functions_of_their_gradients(case: str) -> None:
    """Central differences of two widths agree, so the expected gradients are those of the expected loss."""
    wide, narrow = (expected_gradients(CASES[case], weights_of(case), state_of(case), width) for width in (1e-5, 1e-6))
    for name, gradient in narrow.items():
        np.testing.assert_allclose(wide[name], gradient, rtol=1e-5, atol=1e-6)


@FRAMEWORKS
def test_vocabulary_is_complete_and_has_nothing_else(framework: str) -> None:
    """Every framework's nn.py provides exactly the names of the vocabulary."""
    names = computed(framework).of("names")
    assert list(names["lacking"]) == []
    assert list(names["beyond"]) == []


@FRAMEWORKS
@pytest.mark.parametrize("case", CASES)
def test_outputs(framework: str, case: str) -> None:
    """Every name computes what it computes in NumPy in float64, within the rounding of float32."""
    found = computed(framework).of(f"case/{case}")
    assert found["outputs"].dtype == np.float64
    assert [held for held in outputs(case, found) if not held.passed] == []


@pytest.mark.parametrize(("framework", "case"), OWN_FORMS)
def test_a_form_for_float64_alone_computes_the_same(framework: str, case: str) -> None:
    """What a framework computes in another way in float64 is the same function, to float64's precision."""
    in_float64 = program(framework)
    assert in_float64 is not None
    found = in_float64.of(f"case/{case}")
    assert [held for held in outputs(case, found) if not held.error <= IN_FLOAT64] == []
    assert [held for held in loss_and_gradients(case, found) if not held.passed] == []


@pytest.mark.parametrize("case", ["curves of straight pieces", "attention with dropout, mask, bias and scale"])
def test_gradients_in_float64_agree(case: str) -> None:
    """PyTorch and JAX give the same gradients in float64, far closer than central differences could tell."""
    by_torch, by_jax = (in_float64.of(f"case/{case}") for name in ("torch", "jax") if (in_float64 := program(name)))
    gradients = [name for name in by_torch if name.startswith("gradient/")]
    assert gradients
    for name in gradients:
        np.testing.assert_allclose(by_torch[name], by_jax[name], rtol=0, atol=IN_FLOAT64 * np.abs(by_jax[name]).max())


@FRAMEWORKS
@pytest.mark.parametrize("case", [name for name in CASES if CASES[name].deterministic])
def test_loss_and_gradients(framework: str, case: str) -> None:
    """Every name passes gradients on as its closed form does, to every parameter, in canonical layout."""
    found = computed(framework).of(f"case/{case}")
    assert [held for held in loss_and_gradients(case, found) if not held.passed] == []


@FRAMEWORKS
@pytest.mark.parametrize("case", [name for name in CASES if CASES[name].batch_statistics])
def test_running_statistics(framework: str, case: str) -> None:
    """Asking for gradients moves no running statistic; a step moves each by its momentum and the framework's rule."""
    found = computed(framework).of(f"case/{case}")
    assert [held for held in running_statistics(case, found) if not held.passed] == []


@FRAMEWORKS
@pytest.mark.parametrize("rate", dropout.RATES)
def test_dropout_in_training_drops_and_scales(framework: str, rate: float) -> None:
    """In training each element is dropped by itself at `rate`, anew in every step, and others are over 1 - rate."""
    found = computed(framework).of(f"dropout/{rate}")
    assert [held for held in dropped(rate, found) if not held.passed] == []


@FRAMEWORKS
@pytest.mark.parametrize("rate", dropout.RATES)
def test_dropout_does_nothing_in_evaluation(framework: str, rate: float) -> None:
    """In evaluation nothing is dropped, and nothing scaled."""
    found = computed(framework).of(f"dropout/{rate}")
    assert [held for held in evaluated(rate, found) if not held.passed] == []


@FRAMEWORKS
@pytest.mark.parametrize("rate", attention_dropout.RATES)
def test_dropout_on_attentions_weights_drops_and_scales(framework: str, rate: float) -> None:
    """In training each weight of each call is dropped by itself, anew in every step; in evaluation none is."""
    found = computed(framework).of(f"attention dropout/{rate}")
    assert [held for held in weights_dropped(rate, found) if not held.passed] == []


@FRAMEWORKS
def test_noise_is_drawn_anew_in_every_step_and_layer(framework: str) -> None:
    """RandomNormal draws independent numbers of the standard normal distribution, and gives zeros in evaluation."""
    assert [held for held in normal_draws(computed(framework).of("normal")) if not held.passed] == []


@FRAMEWORKS
@pytest.mark.parametrize("rate", dropout.BY_SAMPLE)
def test_stochastic_depth_in_training_drops_whole_samples(framework: str, rate: float) -> None:
    """In training each sample is dropped as a whole at `rate`, anew in every step; in evaluation none is."""
    found = computed(framework).of(f"stochastic/{rate}")
    held = [*dropped_by_sample(rate, found), *evaluated(rate, found)]
    assert [one for one in held if not one.passed] == []


@FRAMEWORKS
def test_dropout_in_a_scan_draws_anew_in_every_step(framework: str) -> None:
    """A loop that is traced once drops as one that is written out; in evaluation it drops nothing."""
    found = computed(framework).of("dropout in a scan")
    held = [*dropped(dropout.IN_SCAN, found), *evaluated(dropout.IN_SCAN, found)]
    assert [one for one in held if not one.passed] == []
