from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract_cases import dropout
from contract_cases.vocabulary import CASES, expected_gradients, expected_loss, expected_state
from contract_run import DECLARED, LIMIT_S, computed

from bakeoff.certify.sample import distance
from bakeoff.spec.vocabulary import VOCABULARY
from bakeoff.spec.workload import Size
from bakeoff.workloads import plan

SIZE = Size(batch_size=4, input_shape=(5,), classes=3)
FRAMEWORKS = pytest.mark.parametrize("framework", DECLARED)

pytestmark = pytest.mark.timeout(LIMIT_S)


def _weights(name: str) -> Any:
    """Return the weights that every framework starts a case from."""
    return plan.weights(lambda nn, size: CASES[name].build(nn), SIZE, 0)


def _state(name: str) -> Any:
    """Return the running statistics that every framework starts a case from."""
    return plan.state_values(lambda nn, size: CASES[name].build(nn), SIZE, 0)


def test_every_name_has_a_case() -> None:
    """A name of the vocabulary that no case tries fails here."""
    assert {name for case in CASES.values() for name in case.names} == VOCABULARY.keys()


@pytest.mark.parametrize("case", [name for name in CASES if CASES[name].deterministic])
def test_numpy_forms_are_the_functions_of_their_gradients(case: str) -> None:
    """Central differences of two widths agree, so the expected gradients are those of the expected loss."""
    wide, narrow = (expected_gradients(CASES[case], _weights(case), _state(case), width) for width in (1e-5, 1e-6))
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
    expected = CASES[case].forward(_weights(case) | _state(case), CASES[case].x.astype(np.float64))
    found = computed(framework).of(f"case/{case}")["outputs"]
    assert found.shape == expected.shape
    assert found.dtype == np.float64
    assert distance(found, expected) < 1e-5


@FRAMEWORKS
@pytest.mark.parametrize("case", [name for name in CASES if CASES[name].deterministic])
def test_loss_and_gradients(framework: str, case: str) -> None:
    """Every name passes gradients on as its closed form does, to every parameter, in canonical layout."""
    found = computed(framework).of(f"case/{case}")
    expected = expected_gradients(CASES[case], _weights(case), _state(case))
    assert found["loss"] == pytest.approx(expected_loss(CASES[case], _weights(case) | _state(case)), rel=1e-5)
    assert {name for name in found if name.startswith("gradient/")} == {f"gradient/{name}" for name in expected}
    largest = max(np.abs(gradient).max() for gradient in expected.values())
    for name, gradient in expected.items():
        assert found[f"gradient/{name}"].shape == gradient.shape, name
        assert distance(found[f"gradient/{name}"].astype(np.float64), gradient, floor=1e-2 * largest) < 1e-4, name


@FRAMEWORKS
@pytest.mark.parametrize("case", [name for name in CASES if CASES[name].batch_statistics])
def test_running_statistics(framework: str, case: str) -> None:
    """Asking for gradients moves no running statistic; a step moves each by its momentum and the framework's rule."""
    found, before = computed(framework).of(f"case/{case}"), _state(case)
    after = expected_state(CASES[case], before, _weights(case), unbiased=bool(found["unbiased"]))
    for moment, expected in (("before", before), ("after", after)):
        assert {name for name in found if name.startswith(moment)} == {f"{moment}/{name}" for name in expected}
        for name, value in expected.items():
            np.testing.assert_allclose(found[f"{moment}/{name}"], value, rtol=1e-5, atol=1e-6, err_msg=name)


@FRAMEWORKS
def test_dropout_in_training_drops_and_scales(framework: str) -> None:
    """In training a share of about `rate` is dropped, and what is kept is multiplied by 1 / (1 - rate)."""
    kept = computed(framework).of("dropout")["moved"] * (1 - dropout.RATE)
    np.testing.assert_allclose(kept, kept.round(), atol=1e-3)
    # Four standard deviations of the share that is kept, over all outputs.
    outputs = dropout.BATCH * dropout.FEATURES
    deviation = (dropout.RATE * (1 - dropout.RATE) / outputs) ** 0.5
    assert kept.sum() / outputs == pytest.approx(1 - dropout.RATE, abs=4 * deviation)
    assert len(set(kept.round())) > 1


@FRAMEWORKS
def test_dropout_draws_anew_at_every_step(framework: str) -> None:
    """Steps on the same batch with the same parameters differ by what they drop."""
    assert len(set(computed(framework).of("dropout")["losses"])) == dropout.STEPS


@FRAMEWORKS
def test_dropout_does_nothing_in_evaluation(framework: str) -> None:
    """In evaluation every sample of a constant batch has the same outputs: the bias."""
    outputs = computed(framework).of("dropout")["outputs"]
    bias = plan.weights(dropout.build, SIZE, 0)["first.bias"]
    np.testing.assert_allclose(outputs, np.broadcast_to(bias, outputs.shape), rtol=1e-6)
