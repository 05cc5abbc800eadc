from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from certified import certificate_of
from contract_cases.holes import DEFAULT_WAY, NOT_INSTALLED, PER_SAMPLE_HOLES
from contract_run import CLIPPED, DECLARED, LIMIT_S, MODES, REFERENCE, WORKLOADS, computed_by, reference

from bakeoff.environments.options import in_scenario
from bakeoff.spec.options import DEFAULT
from bakeoff.spec.per_sample import OPTION, PLAIN
from bakeoff.spec.scenario import SCENARIOS

if TYPE_CHECKING:
    from contract_run import Computed

pytestmark = pytest.mark.timeout(2 * LIMIT_S)  # the reference, too

SCENARIO = "per-sample-gradients"
HAVE = {name: found.info for name, found in DECLARED.items() if OPTION in found.info.options}
PLAINER = ("mnist-cnn", "imdb-embed")
"""What every way but a framework's default one computes: a convolution, an embedding, and noise."""

ELSEWHERE = "mnist-cnn"
"""What every mode but a framework's default one computes."""


def _cases() -> list[tuple[str, str]]:
    """Return each contender, as its user writes it, with a workload."""
    cases = []
    for name, info in HAVE.items():
        way = info.options[OPTION].default
        for value in info.options[OPTION].values:
            computed = () if (name, value) in DEFAULT_WAY else CLIPPED if value == way else PLAINER
            found = [one for one in computed if (name, value, one) not in PER_SAMPLE_HOLES]
            cases += [(f"{name}:{OPTION}={value}", workload) for workload in found]
        own = info.options["mode"].default
        cases += [(f"{name}:mode={mode},{OPTION}={way}", ELSEWHERE) for of, mode in MODES if of == name and mode != own]
    return cases


def _in_scenario(text: str) -> str:
    """Return a contender with the defaults that it has in the scenario, as the conductor resolves them."""
    name, _, options = text.partition(":")
    asked = dict(pair.split("=") for pair in options.split(","))
    info = in_scenario(HAVE[name], asked, SCENARIO)
    changed = {one: support.default for one, support in info.options.items() if support != HAVE[name].options[one]}
    return ",".join([text, *(f"{one}={value}" for one, value in changed.items())])


def _check(chosen: Computed, label: str, name: str, program: Computed | None = None) -> None:
    """Hold what a contender has computed of a workload, and its program in float64, against a loop in float64."""
    in_float64 = program and program.exhibit(label, name, SCENARIO)
    certificate = certificate_of(chosen.exhibit(label, name, SCENARIO), name, SCENARIO, program=in_float64)
    assert certificate.passed, certificate.reason


@pytest.mark.parametrize(("contender", "workload"), _cases())
@pytest.mark.by_turns
def test_per_sample_gradients_are_those_of_a_loop_over_samples(contender: str, workload: str) -> None:
    """Every sample's norm, the clipped mean, the steps and their noise are those of a loop in float64.

    So they are in the settings that are timed; the program in float64 is held with a framework's default way.
    """
    name, _, way = contender.partition(f":{OPTION}=")
    has_float64 = name in HAVE and "float64" in HAVE[name].options["precision"].values
    is_default = has_float64 and way == HAVE[name].options[OPTION].default
    text = _in_scenario(contender)
    if NOT_INSTALLED in (reason := computed_by(f"{text},threads=1").refusal(f"{workload}/{SCENARIO}")):
        pytest.skip(reason)
    program = computed_by(f"{text},threads=1,precision=float64") if is_default else None
    _check(computed_by(f"{text},threads=1"), contender, workload, program)


@pytest.mark.parametrize(
    "text",
    [
        f"jittor:{OPTION}=closed-form",
        f"torch:{OPTION}=hooks",
        f"tensorflow:{OPTION}=default",
        f"tensorflow:{OPTION}=loop",
    ],
)
def test_a_layer_that_is_never_called_has_gradients_of_zero(text: str) -> None:
    """Ways that note what each layer is given, and TensorFlow's tape, have nothing of such a layer; it still decays."""
    chosen = computed_by(f"{text},threads=1")
    if NOT_INSTALLED in (reason := chosen.refusal(f"unused/{SCENARIO}")):
        pytest.skip(reason)
    _check(chosen, text, "unused")


def test_a_gru_has_gradients_of_samples_in_torch() -> None:
    """torch.func's vmap refuses PyTorch's own first state, one that is learnt, and packed sequences."""
    text = f"torch:{OPTION}=vmap"
    chosen = computed_by(f"{_in_scenario(text)},threads=1")
    if NOT_INSTALLED in (reason := chosen.refusal(f"gated/{SCENARIO}")):
        pytest.skip(reason)
    _check(chosen, text, "gated")


@pytest.mark.by_turns
def test_a_loss_that_is_no_mean_over_samples_is_taken_one_by_one() -> None:
    """The formulas take a batch's loss for the mean of its samples': where it is none, they are not taken."""
    chosen = computed_by(f"jittor:{OPTION}=default,threads=1")
    _check(chosen, "jittor", "known")
    assert chosen.settings("known", SCENARIO)[OPTION] == PLAIN
    asked = computed_by(f"jittor:{OPTION}=closed-form,threads=1")
    assert "is not the mean of its samples' own" in asked.refusal(f"known/{SCENARIO}")


@pytest.mark.parametrize(
    "contender", [f"{name}:{OPTION}={info.options[OPTION].default}" for name, info in HAVE.items()]
)
def test_what_is_in_force_is_read_back(contender: str) -> None:
    """Settings say how per-sample gradients are computed, to which norm they are clipped, and the noise."""
    name, _, way = contender.partition(f":{OPTION}=")
    settings = computed_by(f"{_in_scenario(contender)},threads=1").settings("imdb-embed", SCENARIO)
    asked = CLIPPED["imdb-embed"]
    expected = {"max_norm": asked.max_norm, "noise_multiplier": asked.noise_multiplier}
    assert settings.items() >= expected.items()
    assert settings[OPTION] in ({*HAVE[name].options[OPTION].values} - {DEFAULT} if way == DEFAULT else {way})


@pytest.mark.parametrize(
    ("contender", "workload"), [(f"{name}:{OPTION}={way}", workload) for name, way, workload in PER_SAMPLE_HOLES]
)
def test_what_a_way_lacks_is_refused_with_its_reason(contender: str, workload: str) -> None:
    """A way that a framework lacks for a model is refused before a step, with the reason and what to choose."""
    name, _, way = contender.partition(f":{OPTION}=")
    reason = computed_by(f"{_in_scenario(contender)},threads=1").refusal(f"{workload}/{SCENARIO}")
    assert PER_SAMPLE_HOLES[name, way, workload] in reason
    assert "hoose per_sample=" in reason or NOT_INSTALLED in reason


def test_about_half_of_the_samples_are_clipped() -> None:
    """In every workload of the contract some samples are clipped and some are not: both factors are held."""
    for workload, asked in CLIPPED.items():
        arrays = reference().exhibit("", workload, SCENARIO).arrays
        norms = np.concatenate([arrays["norms/0"], arrays["norms/1"]])
        assert 0.2 < (norms > asked.max_norm).mean() < 0.8, (workload, sorted(norms))


def test_every_workload_of_the_scenario_is_here() -> None:
    """A workload that has the scenario is computed by this file."""
    have = {name for name, one in WORKLOADS.items() if SCENARIO in one.workload.scenarios}
    assert have == set(CLIPPED)
    assert SCENARIOS[SCENARIO].per_sample
    assert PLAIN in HAVE[REFERENCE].options[OPTION].values
