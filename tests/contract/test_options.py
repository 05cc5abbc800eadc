from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from certified import certificate_of
from contract_cases.cases import CASES
from contract_cases.mixed import MIXED, RECURRENT
from contract_checks import loss_and_gradients, outputs
from contract_run import (
    DECLARED,
    IN_EVERY_PRECISION,
    LIMIT_S,
    WITH_ATTENTION,
    Computed,
    computed,
    computed_by,
)

from bakeoff.environments.options import resolve_options
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.spec.scenario import Scenario

pytestmark = pytest.mark.timeout(2 * LIMIT_S)  # the reference, too

OPTIONS = (
    "precision",
    "layout",
    "optimizer_kernel",
    "conv_algorithm",
    "attention",
    "graph_optimization",
    "onednn",
    "lstm",
    "lengths",
    "aggregate",
)

PADDED = ["torch:lengths=packed", "torch:lengths=masked"]
"""Each value of `lengths` that is no framework's default."""

SPARSE = ["torch:aggregate=sparse", "jax:aggregate=sparse", "tensorflow:aggregate=sparse"]
"""Each value of `aggregate` that is no framework's default."""

VALUES = [
    (framework, option, value)
    for framework, declared in DECLARED.items()
    for option in OPTIONS
    for value in declared.info.options[option].values
    if value not in (declared.info.options[option].default, "float64")
]


WITH_LENGTHS = "deepspeech2"
"""Its LSTMs go both ways within lengths, from no state that is given."""

ATTENDING = [text for text in MIXED if "attention" in text]

SUBJECTS: list[tuple[str, str, Scenario]] = [
    *((text, name, "train") for name in IN_EVERY_PRECISION for text in MIXED),
    *((text, WITH_ATTENTION, "train") for text in ATTENDING),
    *((text, "gcn-cora", "train") for text in SPARSE),
    *((text, WITH_LENGTHS, "train") for text in PADDED),
]


@pytest.mark.parametrize(("text", "workload", "scenario"), SUBJECTS)
@pytest.mark.by_turns
def test_every_option_computes_the_same(text: str, workload: str, scenario: Scenario) -> None:
    """With every value of every option a framework gets its certificate."""
    certificate = certificate_of(computed_by(text).exhibit(text, workload, scenario), workload, scenario)
    assert certificate.passed, certificate.reason


@pytest.mark.parametrize("text", MIXED)
@pytest.mark.by_turns
def test_every_option_is_read_back(text: str) -> None:
    """What was asked for is what the framework reports to be in force, in a model with convolutions and attention."""
    read = computed_by(text).settings("cnn-cifar10", "train")
    read |= {"attention": computed_by(text).settings(WITH_ATTENTION, "train")["attention"]} if text in ATTENDING else {}
    asked = parse_contender(text).options
    assert {name: str(read[name]) for name in asked} == asked


def recurrent(text: str) -> Computed:
    """Return what a contender computes, its model first: a process reads back every kernel that it has used."""
    found = computed_by(text)
    found.settings("imdb-lstm", "infer")
    return found


@pytest.mark.parametrize("case", [name for name, case in CASES.items() if {"LSTM", "LSTMCell"} & {*case.names}])
@pytest.mark.parametrize("text", RECURRENT)
def test_every_kernel_of_an_lstm_computes_the_same(text: str, case: str) -> None:
    """Outputs and gradients are those in NumPy, over whole sequences and within lengths, and in a loop over a cell."""
    found = recurrent(text).of(f"case/{case}")
    assert [held for held in (*outputs(case, found), *loss_and_gradients(case, found)) if not held.passed] == []


OWN = {name: one.info.reference_layers_from for name, one in DECLARED.items() if one.info.reference_layers_from}
"""Frameworks that have layers for the reference alone."""


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, own in OWN.items() for case in CASES if {*own} & {*CASES[case].names}]
)
def test_layers_of_the_reference_compute_the_same(name: str, case: str) -> None:
    """What the reference computes a layer by gives outputs and gradients of the layer's formula in NumPy."""
    found = computed_by(name).of(f"reference/{case}")
    assert [held for held in (*outputs(case, found), *loss_and_gradients(case, found)) if not held.passed] == []


@pytest.mark.parametrize("name", OWN)
def test_the_reference_has_the_layers_that_it_declares(name: str) -> None:
    """Each layer that framework.toml declares as the reference's own is there, and is not the contenders'."""
    assert sorted(computed_by(name).of("names")["of the reference"]) == sorted(OWN[name])


@pytest.mark.parametrize("text", RECURRENT)
def test_every_kernel_of_an_lstm_is_read_back(text: str) -> None:
    """What was asked for has computed the model's LSTM; there is no single step in it."""
    read = recurrent(text).settings("imdb-lstm", "infer")
    assert read["lstm"] == parse_contender(text).options["lstm"]
    assert read["lstm_cell"] is None


@pytest.mark.parametrize("case", ["lstm in both directions with lengths", "gru"])
@pytest.mark.parametrize("text", PADDED)
def test_every_way_with_lengths_computes_the_same(text: str, case: str) -> None:
    """Packed or masked, outputs, last states and gradients are those of each sample by itself in NumPy."""
    found = recurrent(text).of(f"case/{case}")
    assert [held for held in (*outputs(case, found), *loss_and_gradients(case, found)) if not held.passed] == []


@pytest.mark.parametrize("text", PADDED)
def test_every_way_with_lengths_is_read_back(text: str) -> None:
    """What was asked for is what the model's layers do with lengths."""
    read = recurrent(text).settings("imdb-lstm", "infer")
    assert read["lengths"] == parse_contender(text).options["lengths"]


def test_packed_sequences_are_refused_to_the_steps_of_a_cell() -> None:
    """What takes no packed sequences is refused before anything starts, with what to ask for instead."""
    with pytest.raises(UsageError, match=r"lengths=packed, lstm=block: .* it needs lstm=fused"):
        resolve_options(DECLARED["torch"].info, parse_contender("torch:lengths=packed,lstm=block"), {}, 2)


@pytest.mark.parametrize("text", SPARSE)
def test_every_product_with_a_sparse_matrix_is_read_back(text: str) -> None:
    """What was asked for has computed the product of a graph's matrix, and no other."""
    assert computed_by(text).settings("gcn-cora", "train")["aggregate"] == parse_contender(text).options["aggregate"]


def test_a_kernel_that_cannot_compute_an_attention_is_refused_with_its_reason() -> None:
    """Where one kernel alone is allowed, an attention that it has no code for is a hole, and computed by no other."""
    asked = computed_by("torch:attention=flash")
    assert asked.refuses("case/attention with mask, bias and scale")
    assert not asked.refuses("case/attention that is causal, with fewer heads of keys")


@pytest.mark.parametrize("work", ["attention dropout/0.1", "case/attention with dropout, mask, bias and scale"])
def test_a_kernel_that_cannot_drop_is_refused_with_its_reason(work: str) -> None:
    """In steps that drop, and in the certificate, which drops nothing and has to be of the same kernel."""
    assert "flash takes no dropout" in computed_by("torch:attention=flash").refusal(work)


@pytest.mark.parametrize("framework", ["torch", "mlx"])
def test_what_attends_where_weights_are_dropped_is_read_back(framework: str) -> None:
    """Beside the kernel of evaluation, which drops nothing, the one that the training step takes."""
    assert "math" in computed(framework).settings("forgetting", "train")["attention"].split(", ")


@pytest.mark.parametrize(("framework", "option", "value"), VALUES)
def test_every_value_is_computed_or_refused_with_its_reason(framework: str, option: str, value: str) -> None:
    """A value that a framework declares is in a contender above, or is refused on a processor with the reason."""
    said = [parse_contender(text) for text in (*MIXED, *RECURRENT, *PADDED, *SPARSE)]
    if any(one.framework == framework and one.options.get(option) == value for one in said):
        return
    with pytest.raises(UsageError, match=f"{option}={value}, device=cpu: .* needs device=cuda"):
        resolve_options(DECLARED[framework].info, parse_contender(f"{framework}:{option}={value}"), {}, 2)


@pytest.mark.parametrize("framework", DECLARED)
def test_what_a_framework_lacks_is_refused_with_its_reason(framework: str) -> None:
    """A framework with one layout, kernel or switch says why it has no other."""
    info = DECLARED[framework].info
    for option in OPTIONS:
        if len(info.options[option].values) == 1:
            assert info.options[option].why


@pytest.mark.parametrize("framework", DECLARED)
@pytest.mark.by_turns
def test_the_attention_kernel_is_reported(framework: str) -> None:
    """Every framework reports its attention kernel after a model with attention.

    Where there is one kernel, the report hangs on no model: that of the digits, which every run computes, will do.
    """
    has_choice = len(DECLARED[framework].info.options["attention"].values) > 1
    assert computed(framework).settings("attending" if has_choice else "mlp-mnist", "train")["attention"]


def test_pytorchs_own_choice_of_an_attention_kernel_is_one() -> None:
    """Where nothing is asked for, what is told is the kernel that was taken, and not those that it chose from."""
    assert computed("torch").settings("attending", "train")["attention"] in ("flash", "math")


@pytest.mark.parametrize("text", ATTENDING)
def test_a_model_without_attention_has_no_kernel_for_it(text: str) -> None:
    """What is told is what the framework's calls took: nothing where there was none."""
    assert computed_by(text).settings("mlp-mnist", "train")["attention"] is None
