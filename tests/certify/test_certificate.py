from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from bakeoff.certify import certificate
from bakeoff.certify.certificate import certify, in_words, refuse
from bakeoff.certify.checks import Exhibit, diverging
from bakeoff.certify.probe import probe_gradients, probe_parameters
from bakeoff.certify.sample import sample
from bakeoff.certify.tolerances import MOST, PROGRAM, ROOM, UNIT_ROUNDOFF, allowed, amplitude
from bakeoff.spec.evidence import Evidence, InputPass, Spread
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.scenario import SCENARIOS, ScenarioSpec
from bakeoff.spec.verdict import Certificate
from bakeoff.spec.workload import Size, Workload
from bakeoff.workloads.optimizers import trajectory

SHAPES = {"a.weight": (300, 400), "a.bias": (400,), "b.weight": (3, 3, 2, 5)}
SIZE = Size(batch_size=8, input_shape=(4,), classes=3, parameters=300 * 400 + 400 + 90)
WORKLOAD = Workload(
    name="mine",
    summary="",
    source="",
    sizes={"full": SIZE},
    optimizer=Adam(learning_rate=1e-3),
)
GRADIENTS = {name: np.random.RandomState(len(name)).standard_normal(shape) for name, shape in SHAPES.items()}
LOSSES = [2.3, 2.25, 2.21, 2.16, 2.12, 2.05]
SHORT = ["tf32", "bfloat16", "float16"]
ALL = ["parameters", "outputs", "loss", "gradients", "optimizer", "informative"]


def spreads(**changes: Any) -> dict[str, Spread]:
    """Give what a reference has measured, of a model that magnifies nothing, changed where it is said."""
    found = {}
    for precision in UNIT_ROUNDOFF:
        share = amplitude(precision)
        even = {"output": share, "losses": [share] * 6, "gradient": share, "gradient_norm": share, "state": share}
        found[precision] = Spread(amplitude=share, draws=2, **even | changes)
    return found


def exhibit(
    label: str = "reference",
    *,
    shapes: Any = SHAPES,
    losses: Any = LOSSES,
    outputs: Any = 2,
    gradients: Any = GRADIENTS,
    measured: Any = None,
    **arrays: Any,
) -> Exhibit:
    """Give one side's evidence, changed where it is said; None leaves an array out."""
    states = trajectory(WORKLOAD.optimizer, probe_parameters(), probe_gradients())
    found = {f"output/{index}": np.random.RandomState(index).standard_normal((8, 3)) for index in range(2)}
    found |= {f"gradient/{name}": sample(value) for name, value in gradients.items()}
    found |= {f"optimizer/{t}/{name}": value for t, state in enumerate(states) for name, value in state.items()}
    found |= arrays
    evidence = Evidence(parameter_shapes=dict(shapes), losses=list(losses), outputs=outputs, spreads=measured or {})
    return Exhibit(label=label, evidence=evidence, arrays={k: v for k, v in found.items() if v is not None})


def judged(
    contender: Exhibit, reference: Exhibit | None = None, scenario: Any = "train", size: Any = SIZE
) -> Certificate:
    """Judge a contender whose evidence is of version 0 against a reference that has measured its spreads."""
    side = reference or exhibit()
    found = msgspec.structs.replace(side.evidence, version=2, spreads=side.evidence.spreads or spreads())
    held = msgspec.structs.replace(side, evidence=found)
    return certify(contender, held, workload=WORKLOAD, size=size, scenario=scenario, steps=len(LOSSES))


def failed(certificate: Certificate) -> list[str]:
    """Give the names of the checks that failed."""
    assert certificate.passed == all(check.passed for check in certificate.checks)
    assert bool(certificate.reason) != certificate.passed
    return [check.name for check in certificate.checks if not check.passed]


def noisy(contender: Exhibit) -> Exhibit:
    """Round everything to float32, as a contender does."""
    arrays = {name: value.astype(np.float32).astype(np.float64) for name, value in contender.arrays.items()}
    losses = [float(np.float32(loss)) for loss in contender.evidence.losses]
    return Exhibit(label="torch", evidence=msgspec.structs.replace(contender.evidence, losses=losses), arrays=arrays)


def test_a_float32_contender_passes_every_check() -> None:
    """The same computation in float32 is certified, by all six checks, with the errors and what was allowed."""
    certificate = judged(noisy(exhibit()))
    assert failed(certificate) == []
    assert [check.name for check in certificate.checks] == ALL
    assert (certificate.contender, certificate.reference, certificate.reason) == ("torch", "reference", "")
    for check in certificate.checks:
        if check.name in ("outputs", "loss", "gradients", "optimizer"):
            assert check.error < check.allowed


def test_inference_is_judged_by_its_outputs() -> None:
    """Inference has no loss, gradients or optimiser to certify."""
    certificate = judged(noisy(exhibit()), scenario="infer")
    assert [check.name for check in certificate.checks] == ["parameters", "outputs", "informative"]
    assert certificate.passed


def owing(monkeypatch: pytest.MonkeyPatch, *parts: Any) -> Any:
    """Declare a scenario that owes these parts; return its name."""
    spec = ScenarioSpec(verb="differentiates", trains=False, evidence=frozenset(parts))
    monkeypatch.setitem(SCENARIOS, "sideways", spec)
    return "sideways"


def test_a_scenario_that_owes_nothing_is_certified_by_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters of the right shapes are no certificate of what is computed with them."""
    certificate = judged(noisy(exhibit()), scenario=owing(monkeypatch))
    assert not certificate.passed
    assert "owes no evidence that could be checked" in certificate.reason


def test_a_scenario_is_certified_by_what_it_owes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario that owes gradients does not pass without them, although it trains nothing."""
    scenario = owing(monkeypatch, "outputs", "gradients")
    certificate = judged(noisy(exhibit()), scenario=scenario)
    assert [check.name for check in certificate.checks] == ["parameters", "outputs", "gradients", "informative"]
    assert certificate.passed
    assert failed(judged(exhibit(gradients={}), scenario=scenario)) == ["gradients"]
    assert failed(judged(exhibit(gradients={}), exhibit(gradients={}), scenario=scenario)) == [
        "gradients",
        "informative",
    ]


def test_an_unknown_scenario_is_certified_by_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a scenario that is not in the table nor one that owes what nothing checks gets a certificate."""
    unknown: Any = "sideways"
    certificate = judged(exhibit(), scenario=unknown)
    assert (certificate.passed, certificate.checks) == (False, ())
    assert certificate.reason == "nothing says which evidence the scenario 'sideways' owes"
    certificate = judged(exhibit(), scenario=owing(monkeypatch, "outputs", "odours"))
    assert certificate.reason == "nothing checks what the scenario 'sideways' owes: odours"


def test_a_certificate_can_be_written_as_json() -> None:
    """Also a failing one, whose errors may be infinite, survives the way through JSON."""
    certificate = judged(exhibit(losses=[math.nan] * 6))
    assert msgspec.json.decode(msgspec.json.encode(certificate), type=Certificate) == certificate


@pytest.mark.parametrize(
    ("shapes", "told"),
    [
        (SHAPES | {"extra": (3,)}, "extra is 3 against missing"),
        ({k: v for k, v in SHAPES.items() if k != "a.bias"}, "a.bias is missing against 400"),
        (SHAPES | {"a.weight": (400, 300)}, "a.weight is 400x300 against 300x400"),
        ({}, "and 2 more"),
    ],
)
def test_parameters_must_be_the_same(shapes: Any, told: str) -> None:
    """A name or shape that differs is told, also where the count is the same."""
    certificate = judged(exhibit(shapes=shapes))
    assert "parameters" in failed(certificate)
    assert told in certificate.reason


@pytest.mark.parametrize("declared", [120_489, 120_491])
def test_count_must_be_the_declared_one(declared: int) -> None:
    """A model of another size than the workload declares is not that workload, even if the reference agrees."""
    certificate = judged(exhibit(), size=msgspec.structs.replace(SIZE, parameters=declared))
    assert failed(certificate) == ["parameters"]
    assert f"120,490 parameters, and the workload declares {declared:,}" in certificate.reason
    assert judged(exhibit(), size=msgspec.structs.replace(SIZE, parameters=None)).passed


@pytest.mark.parametrize(
    "change",
    [
        lambda output: output[:, ::-1],
        lambda output: output[::-1],
        lambda output: output * 1.0001,
        lambda output: np.where(np.arange(24).reshape(8, 3) == 7, math.nan, output),
        lambda output: output[:4],
        lambda _: None,
    ],
)
def test_outputs_must_be_the_same(change: Any) -> None:
    """Outputs in another order, scaled, NaN, of another shape or missing are not certified."""
    changed = change(exhibit().arrays["output/1"])
    assert failed(judged(exhibit(**{"output/1": changed}), scenario="infer")) == ["outputs"]


@pytest.mark.parametrize("outputs", [0, 1, 3])
def test_number_of_outputs_must_be_the_same(outputs: int) -> None:
    """Fewer or more outputs than the reference's are missing evidence."""
    assert "outputs" in failed(judged(exhibit(outputs=outputs)))


@pytest.mark.parametrize("step", range(6))
def test_loss_is_judged_at_every_step(step: int) -> None:
    """A loss that leaves the trajectory at any single step fails, and the step is told."""
    losses = [loss * (1.0005 if index == step else 1.0) for index, loss in enumerate(LOSSES)]
    certificate = judged(exhibit(losses=losses))
    assert failed(certificate) == ["loss"]
    assert f"loss at step {step}: {losses[step]:.6g} against {LOSSES[step]:.6g} (relative 5.0e-04" in certificate.reason


def test_losses_are_held_as_far_as_the_model_lets_them() -> None:
    """Where the model magnifies roundings beyond use, the first losses are held, and the others have to be there."""
    wild = exhibit(measured=spreads(losses=[1e-6, 1e-4, 0.2, 1e-6, None, 0.3]))
    later, early = ([loss * (1.5 if index == step else 1.0) for index, loss in enumerate(LOSSES)] for step in (2, 1))
    passed = judged(exhibit(losses=later), wild)
    assert (passed.passed, passed.losses) == (True, 2)
    assert "of 6 steps the first 2 are held" in next(check.detail for check in passed.checks if check.name == "loss")
    assert failed(judged(exhibit(losses=early), wild)) == ["loss"]
    assert failed(judged(exhibit(losses=LOSSES[:2]), wild)) == ["loss"]
    assert judged(exhibit()).losses is None


def test_a_later_loss_may_be_off_by_as_much_as_any_before_it() -> None:
    """Errors are carried from step to step: a spread that is small by chance tightens nothing."""
    shaken = exhibit(measured=spreads(losses=[1e-6, 1e-3, 1e-6, 1e-6, 1e-6, 1e-6]))
    off = [loss * (1 + 2e-3) for loss in LOSSES]
    assert failed(judged(exhibit(losses=[LOSSES[0], *off[1:]]), shaken)) == []
    assert failed(judged(exhibit(losses=off), shaken)) == ["loss"]


def test_a_loss_that_passed_is_shown_with_what_is_allowed_at_its_own_step() -> None:
    """The largest error of all steps stands beside the bound of that step, not beside another's."""
    shaken = exhibit(measured=spreads(losses=[1e-6, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3]))
    losses = [LOSSES[0] * (1 + 2e-5), *LOSSES[1:5], LOSSES[5] * (1 + 3e-3)]
    (check,) = [check for check in judged(exhibit(losses=losses), shaken).checks if check.name == "loss"]
    assert check.detail.startswith("loss at step 5: ")
    assert (check.error, check.allowed) == (pytest.approx(3e-3), pytest.approx(1e-2))


def test_the_first_loss_is_always_held() -> None:
    """Nothing has magnified it yet: a model of which even that says nothing is held to half of it."""
    wild = exhibit(measured=spreads(losses=[None] * 6))
    assert judged(exhibit(losses=[LOSSES[0] * (1 + 0.9 * MOST), *LOSSES[1:]]), wild).passed
    assert failed(judged(exhibit(losses=[LOSSES[0] * (1 + 1.1 * MOST), *LOSSES[1:]]), wild)) == ["loss"]


@pytest.mark.parametrize("losses", [[], LOSSES[:5], [*LOSSES, 2.0], [*LOSSES[:5], math.nan], [*LOSSES[:5], math.inf]])
def test_losses_must_all_be_there(losses: Any) -> None:
    """Too few losses, too many, or one that is no number are not certified."""
    assert failed(judged(exhibit(losses=losses))) == ["loss"]


def test_a_reference_that_is_too_short_certifies_nothing() -> None:
    """Both sides agreeing on too few steps is not enough."""
    assert "loss" in failed(judged(exhibit(losses=LOSSES[:3]), exhibit(losses=LOSSES[:3])))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(
    "change",
    [
        lambda gradient: gradient * 1.001,
        lambda gradient: -gradient,
        lambda gradient: np.roll(gradient, 1),
        lambda gradient: gradient[::-1],
        lambda gradient: gradient.T.reshape(gradient.shape) if gradient.ndim > 1 else np.sort(gradient),
        np.zeros_like,
        lambda gradient: np.full_like(gradient, math.nan),
    ],
)
def test_every_gradient_must_be_the_same(name: str, change: Any) -> None:
    """A gradient that is scaled, permuted, transposed, zero or NaN fails, in large arrays and in small ones."""
    with np.errstate(invalid="ignore"):
        certificate = judged(exhibit(gradients=GRADIENTS | {name: change(GRADIENTS[name])}))
    assert failed(certificate) == ["gradients"]
    assert f"gradient/{name}" in certificate.reason


def test_gradient_of_every_parameter_must_be_there() -> None:
    """A gradient that was not computed fails, whichever side lacks it."""
    lacking = exhibit(**{"gradient/a.bias": None})
    assert failed(judged(lacking)) == ["gradients"]
    assert failed(judged(exhibit(), lacking)) == ["gradients"]


def test_a_gradient_that_is_only_rounding_is_not_judged_on_its_own_scale() -> None:
    """Where the true gradient is zero both sides have rounding, which does not agree and need not."""
    rounding = 1e-9 * GRADIENTS["a.bias"]
    reference = exhibit(gradients=GRADIENTS | {"a.bias": 1e-17 * GRADIENTS["a.bias"]})
    assert judged(exhibit(gradients=GRADIENTS | {"a.bias": rounding}), reference).passed
    assert judged(exhibit(gradients=GRADIENTS | {"a.bias": 3e4 * rounding}), reference).passed
    assert not judged(exhibit(gradients=GRADIENTS | {"a.bias": 1e5 * rounding}), reference).passed


def test_a_gradient_that_is_only_small_is_judged_more_strictly() -> None:
    """What may be off in a gradient of nothing but rounding fails in one that is small, and more than that."""
    small = GRADIENTS | {"a.bias": 1e-9 * GRADIENTS["a.bias"]}
    off = GRADIENTS | {"a.bias": 3e-7 * GRADIENTS["a.bias"]}
    assert failed(judged(exhibit(gradients=off), exhibit(gradients=small))) == ["gradients"]


def test_the_optimizer_is_certified_by_itself() -> None:
    """An optimiser that is off by a thousandth fails, even if losses and gradients agree."""
    scaled = {k: v * 1.001 for k, v in exhibit().arrays.items() if k.startswith("optimizer/")}
    assert failed(judged(exhibit(**scaled))) == ["optimizer"]


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ({"output/0": np.ones((8, 3))}, "output 0 of the reference is the same for every sample"),
        ({"output/1": np.tile([1.0, 2.0, 3.0], (8, 1))}, "output 1 of the reference is the same"),
        ({"output/0": 1.0 + 4e-4 * np.arange(16.0).reshape(8, 2) / 8.0}, "output 0 of the reference is the same"),
        ({"output/0": np.full((8, 3), math.nan)}, "missing or not finite"),
        ({"losses": [2.3] * 6}, "loss does not change"),
        ({"losses": [2.3, 2.3001] * 3}, "loss does not change"),
        ({"losses": [math.nan] * 6}, "losses are missing or not finite"),
        ({"gradients": {name: np.zeros(shape) for name, shape in SHAPES.items()}}, "every gradient"),
    ],
)
def test_agreement_on_nothing_is_no_certificate(reference: Any, told: str) -> None:
    """A reference whose outputs hardly differ, whose loss stands still or whose gradients vanish proves nothing."""
    certificate = judged(exhibit(**reference), exhibit(**reference))
    assert "informative" in failed(certificate)
    assert told in certificate.reason


def test_no_evidence_at_all_fails_every_check() -> None:
    """Empty evidence passes nothing, also against empty evidence."""
    nothing = Exhibit(label="nothing", evidence=Evidence(parameter_shapes={}, spreads=spreads()), arrays={})
    assert failed(judged(nothing, nothing)) == ALL


def test_refuse_says_why() -> None:
    """A contender without evidence has a certificate that does not pass and says why."""
    certificate = refuse("jax", "torch in float64", "it crashed")
    assert (certificate.passed, certificate.checks, certificate.reason) == (False, (), "it crashed")


def reduced(precision: str, **arrays: Any) -> Certificate:
    """Judge a contender of a reduced precision, whose outputs are off by a rounding of it."""
    return judged(msgspec.structs.replace(exhibit(**rounded(precision) | arrays), precision=precision))


def rounded(precision: str) -> dict[str, Any]:
    """Give outputs that are off by one rounding of a precision."""
    return scaled("output", lambda _: 1 + UNIT_ROUNDOFF[precision])


def scaled(kind: str, factor: Callable[[tuple[int, ...]], Any]) -> dict[str, Any]:
    """Give the arrays of a kind, each times a factor that may depend on its shape."""
    return {name: value * factor(value.shape) for name, value in exhibit().arrays.items() if name.startswith(kind)}


@pytest.mark.parametrize("precision", SHORT)
def test_roundings_of_a_reduced_precision_pass(precision: str) -> None:
    """Gradients and outputs that are off by some roundings pass in the precision of these roundings, not in float32."""
    random = np.random.RandomState(0)
    roundings = 4 * UNIT_ROUNDOFF[precision]
    off = scaled("gradient", lambda shape: 1 + roundings * random.uniform(-1, 1, shape))
    off |= scaled("output", lambda shape: 1 + roundings * random.uniform(-1, 1, shape))
    assert failed(reduced(precision, **off)) == []
    assert failed(reduced("float32", **off)) == ["outputs", "gradients"]


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_half_precision_shows_in_the_outputs(precision: str) -> None:
    """Outputs with the roundings of float32 alone are not computed in half precision, whatever was asked for."""
    certificate = reduced(precision, **rounded("float32"))
    assert failed(certificate) == ["outputs"]
    assert f"{precision} is off by" in certificate.reason
    assert failed(reduced(precision)) == []
    whole = exhibit(**{name: np.rint(value) for name, value in scaled("output", lambda _: 100.0).items()})
    assert "outputs" not in failed(judged(msgspec.structs.replace(whole, precision=precision), whole))


@pytest.mark.parametrize("precision", [*SHORT, "float32", "float64"])
def test_a_wrong_factor_is_caught_in_every_precision(precision: str) -> None:
    """Gradients that are a third too large are no rounding."""
    assert failed(reduced(precision, **scaled("gradient", lambda _: 4 / 3))) == ["gradients"]


@pytest.mark.parametrize(("precision", "noise"), [("float32", 0.01), ("bfloat16", 0.4)])
def test_all_gradients_together_are_held_where_single_elements_are_not(precision: str, noise: float) -> None:
    """Noise that no single element is refused for, in a model with kinks, is refused where all of them have it."""
    signs = np.random.RandomState(0)
    off = {name: value * (1 + noise * signs.choice([-1, 1], value.shape)) for name, value in GRADIENTS.items()}
    kinked = exhibit(measured=spreads(gradient=0.12))
    mine = exhibit(gradients=off, **rounded(precision))
    certificate = judged(msgspec.structs.replace(mine, precision=precision), kinked)
    assert failed(certificate) == ["gradients"]
    assert f"all together: {noise:.1e}" in certificate.reason


def test_gradients_that_the_model_magnifies_beyond_use_are_not_held() -> None:
    """The certificate says so, and no number that nothing could exceed stands as what is allowed."""
    wild = exhibit(measured=spreads(gradient=2.0, gradient_norm=1.0))
    off = {name: value * 1.4 for name, value in GRADIENTS.items()}
    certificate = judged(exhibit(gradients=off), wild)
    (check,) = [check for check in certificate.checks if check.name == "gradients"]
    assert (check.passed, check.allowed) == (True, None)
    assert "not held: the model magnifies this precision too much" in check.detail
    missing = exhibit(gradients={name: value for name, value in GRADIENTS.items() if name != "a.bias"})
    assert failed(judged(missing, wild)) == ["gradients"]


def in_float64(side: Exhibit) -> Exhibit:
    """Give evidence as computed in float64."""
    return msgspec.structs.replace(side, precision="float64")


def staged(program: Exhibit | None, contender: Exhibit | None = None, alone: str = "") -> Certificate:
    """Judge a contender by both stages; evidence is of version 0, which has no updates."""
    reference = exhibit(measured=spreads())
    held = msgspec.structs.replace(reference, evidence=msgspec.structs.replace(reference.evidence, version=2))
    given = contender or noisy(exhibit())
    return certify(
        given,
        held,
        workload=WORKLOAD,
        size=SIZE,
        scenario="train",
        steps=6,
        program=program,
        alone=alone,
    )


def test_the_program_is_held_in_float64_far_more_closely_than_what_is_timed() -> None:
    """What float32 may be off by a program may not, and the reason names the stage."""
    off = scaled("gradient", lambda _: 1 + 1e-8)
    assert failed(staged(in_float64(exhibit()))) == []
    certificate = staged(in_float64(exhibit(**off)))
    assert failed(certificate) == ["gradients"]
    assert certificate.reason.startswith("gradients in float64: largest error")
    assert staged(None, exhibit(**off), alone="it has none").passed


def test_nothing_that_is_owed_is_left_out_where_its_evidence_is_missing() -> None:
    """Updates, frozen parameters, the trajectory in float64 and an incomplete input are checks of their own."""
    optimizer = msgspec.structs.replace(WORKLOAD.optimizer, frozen=("a.bias",))
    incomplete = InputPass(mode="per-step", samples=8, missing=1, unexpected=0, in_order=True)
    evidence = msgspec.structs.replace(exhibit().evidence, version=3, spreads=spreads(), input_pass=incomplete)
    today = msgspec.structs.replace(exhibit(), evidence=evidence)
    asked = {"workload": msgspec.structs.replace(WORKLOAD, optimizer=optimizer), "size": SIZE, "steps": len(LOSSES)}
    certificate = certify(today, today, program=in_float64(today), scenario="train", **asked)  # type: ignore[arg-type]
    assert not certificate.passed
    both = {"update", "frozen"}
    for stage, owed in (("program", {*both, "trajectory"}), ("timed", both), ("", {"inputs"})):
        assert owed <= {check.name for check in certificate.checks if check.stage == stage and not check.passed}


def test_both_stages_are_in_one_certificate() -> None:
    """Every check stands once for each stage; without a program the certificate says why."""
    certificate = staged(in_float64(exhibit()))
    stages = [check.stage for check in certificate.checks if check.name == "outputs"]
    assert (stages, certificate.alone) == (["program", "timed"], "")
    certificate = staged(None, alone="MLX is not run in float64")
    stages = [check.stage for check in certificate.checks if check.name == "outputs"]
    assert (stages, certificate.alone) == (["timed"], "MLX is not run in float64")


def test_what_is_timed_in_float64_is_its_own_program() -> None:
    """There is one stage, which is as close as a program's."""
    certificate = staged(None, in_float64(exhibit()), alone="")
    assert {check.stage for check in certificate.checks} == {"program", ""}
    assert failed(staged(None, in_float64(exhibit(**scaled("output", lambda _: 1 + 1e-8))))) == ["outputs"]


def test_a_precision_that_was_not_measured_is_not_certified() -> None:
    """Nothing says how far it may be off."""
    some = exhibit(measured={"float32": spreads()["float32"]})
    certificate = judged(msgspec.structs.replace(exhibit(), precision="bfloat16"), some)
    assert (certificate.passed, certificate.checks) == (False, ())
    assert certificate.reason == "the reference has not measured what bfloat16 loses"


@pytest.mark.parametrize(("off", "stays"), [(0.9, True), (1.1, False)])
def test_a_program_is_held_to_what_any_model_has_where_its_own_was_not_measured(*, off: float, stays: bool) -> None:
    """Of a reference that has measured float32 alone; what float64 loses in this model is allowed once it is known."""
    asked = {"workload": WORKLOAD, "size": SIZE, "scenario": "train", "steps": 6}
    program = in_float64(exhibit(**scaled("output", lambda _: 1 + off * PROGRAM)))
    for measured, passes in (({}, stays), ({"float64": spreads(output=PROGRAM)["float64"]}, True)):
        some = exhibit(measured={"float32": spreads()["float32"]} | measured)
        held = msgspec.structs.replace(some, evidence=msgspec.structs.replace(some.evidence, version=2))
        certificate = certify(noisy(exhibit()), held, **asked, program=program)  # type: ignore[arg-type]
        assert [in_words(check) for check in certificate.checks if not check.passed and check.name == "outputs"] == (
            [] if passes else ["outputs in float64"]
        )


def test_what_was_not_measured_is_bound_for_each_update_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large program of several updates a step would have no bound behind the first ones, and be refused."""
    asked: list[int] = []

    def noted(*given: Any, updates: int = 1, **named: Any) -> Any:
        asked.append(updates)
        return allowed(*given, updates=updates, **named)

    monkeypatch.setattr(certificate, "allowed", noted)
    assert judged(noisy(exhibit()), size=msgspec.structs.replace(SIZE, updates=3)).checks
    assert asked == [3]


def test_room_is_a_stated_multiple_of_the_spread() -> None:
    """Outputs may be off by so many times what the reference's move, and by no more."""
    kinked = exhibit(measured=spreads(output=1e-3))
    just, more = (
        exhibit(**{"output/0": exhibit().arrays["output/0"] * (1 + factor * ROOM * 1e-3)}) for factor in (0.9, 1.1)
    )
    assert failed(judged(just, kinked, scenario="infer")) == []
    assert failed(judged(more, kinked, scenario="infer")) == ["outputs"]


def test_the_optimiser_is_held_as_tightly_as_in_float32() -> None:
    """Parameters and optimiser are in float32 whatever the precision is: its formula has no wider tolerance."""
    assert failed(reduced("bfloat16", **scaled("optimizer", lambda _: 1.001))) == ["optimizer"]


def test_a_reference_whose_gradients_are_no_numbers_is_said_to_be_so() -> None:
    """As after a logarithm of what may be negative; gradients of zero are told as such."""
    for value, told in ((np.nan, "the reference's gradients are not finite"), (0.0, "every gradient of the reference")):
        parts = scaled("gradient", lambda _, value=value: value)
        assert told in judged(exhibit(**parts), exhibit(**parts)).reason


def one_sample(*batches: int) -> dict[str, Any]:
    """Give the outputs of batches with one sample each, drawn from these seeds."""
    return {
        f"output/{index}": np.random.RandomState(seed).standard_normal((1, 3)) for index, seed in enumerate(batches)
    }


def test_with_one_sample_a_batch_outputs_differ_between_batches() -> None:
    """A single sample has nothing to differ from within its batch, and is held against that of the other batch."""
    assert judged(exhibit(**one_sample(0, 1)), exhibit(**one_sample(0, 1))).passed
    certificate = judged(exhibit(**one_sample(0, 0)), exhibit(**one_sample(0, 0)))
    assert failed(certificate) == ["informative"]
    assert "each output of the reference is the same in all 2 batches of one sample" in certificate.reason


def test_with_one_sample_a_batch_sequences_have_different_lengths() -> None:
    """With --padding longest each batch is as long as its sample; outputs differ in the places that both have."""
    long, short = np.random.RandomState(0).standard_normal((2, 1, 5, 3))
    either = [long, short[:, :3]]
    assert judged(exhibit(**outputs_of(either)), exhibit(**outputs_of(either))).passed
    same = [long, long[:, :3]]
    certificate = judged(exhibit(**outputs_of(same)), exhibit(**outputs_of(same)))
    assert "each output of the reference is the same in all 2 batches of one sample" in certificate.reason
    strange = [long, short[:, 0]]
    assert failed(judged(exhibit(**outputs_of(strange)), exhibit(**outputs_of(strange)))) == ["informative"]


def outputs_of(outputs: Sequence[Any]) -> dict[str, Any]:
    """Give arrays as the outputs of evidence."""
    return {f"output/{index}": output for index, output in enumerate(outputs)}


def of_version_1(**arrays: Any) -> Exhibit:
    """Give evidence that says that it holds what timed steps did."""
    base = exhibit(label="torch", **arrays)
    return msgspec.structs.replace(base, evidence=msgspec.structs.replace(base.evidence, version=1))


def ran(change: Any = lambda output: output) -> dict[str, Any]:
    """Give what timed steps have kept: the outputs, changed."""
    return {f"ran/{index}": change(exhibit().arrays[f"output/{index}"]) for index in range(2)}


def test_what_timed_steps_keep_is_certified_in_inference() -> None:
    """Outputs that are right when asked say nothing of a step that keeps others, or none."""
    checks = judged(of_version_1(**ran()), scenario="infer").checks
    assert [check.name for check in checks] == ["parameters", "outputs", "ran", "informative"]
    assert failed(judged(of_version_1(**ran()), scenario="infer")) == []
    for change in (
        lambda output: output[:4],
        lambda output: output[::-1],
        lambda _: None,
        lambda o: np.asarray(None, float),
    ):
        assert failed(judged(of_version_1(**ran(change)), scenario="infer")) == ["ran"]
    assert failed(judged(of_version_1(), scenario="infer")) == ["ran"]


def older(contender: Exhibit, scenario: Any = "train") -> Certificate:
    """Judge a contender against a reference that has not measured any spread."""
    return certify(contender, exhibit(), workload=WORKLOAD, size=SIZE, scenario=scenario, steps=len(LOSSES))


def test_older_records_keep_their_certificates() -> None:
    """Evidence from before timed steps were looked at has no such checks, and passes or fails as it did."""
    assert exhibit().evidence.version == 0
    assert older(exhibit(), scenario="infer").passed
    assert [check.name for check in older(exhibit()).checks] == ALL
    assert failed(older(exhibit(**scaled("gradient", lambda _: 1.005)))) == ["gradients"]
    assert failed(older(of_version_1())) == ["update"]


@pytest.mark.parametrize(
    ("losses", "goes"),
    [
        ((2.3, 2.2, 2.4), ""),
        ((3.0, 40.0, 500.0, 4e5), "from 3 to 4e+05"),
        ((3.0, 40.0, None), "from 3 to no finite number"),
        ((1e-4, 0.3, 0.2, 0.4), ""),
        ((0.0, 0.3, 0.2), ""),
        ((2.3,), ""),
        ((), ""),
    ],
)
def test_a_training_diverges_whose_losses_grow_and_grow(losses: tuple[float | None, ...], goes: str) -> None:
    """From nearly zero to what the second one is a loss may go that does not, as before any update of PPO."""
    expected = f"training diverges: in {len(losses)} steps the reference's loss goes {goes}" if goes else ""
    assert diverging(losses) == expected
