from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from bakeoff.certify.optimizer import check_optimizer
from bakeoff.certify.probe import probe_gradients, probe_parameters, probed
from bakeoff.certify.tolerances import OPTIMIZER, PROGRAM
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop
from bakeoff.spec.schedule import Exponential, Linear
from bakeoff.spec.verdict import Check
from bakeoff.workloads.optimizers import trajectory

Array = np.ndarray
Step = Callable[[Array, Array, dict[str, Array], int], Array]

SGD_FULL = SGD(learning_rate=0.1, momentum=0.9, weight_decay=0.01)
ADAM = Adam(learning_rate=1e-3)
ADAMW = AdamW(learning_rate=1e-3, weight_decay=0.05)
RMSPROP = RMSprop(learning_rate=1e-3)
RMSPROP_FULL = RMSprop(learning_rate=1e-3, momentum=0.9, weight_decay=0.01)


def checked(arrays: Any, optimizer: Optimizer | None, precision: str = "float32") -> Check:
    """Check an optimiser's arrays as the certificate does."""
    allowed = PROGRAM if precision == "float64" else OPTIMIZER
    return check_optimizer(arrays, optimizer, precision=precision, allowed=allowed)


def evidence(step: Step) -> dict[str, np.ndarray]:
    """Give the arrays that `step(p, g, state, t) -> p` leaves on the probe; state is a dict of its own per array."""
    arrays, present = {}, probe_parameters()
    states: dict[str, dict] = {name: {} for name in present}
    for t, gradients in enumerate(probe_gradients()):
        present = {name: step(p, gradients[name], states[name], t + 1) for name, p in present.items()}
        arrays |= {f"optimizer/{t}/{name}": value for name, value in present.items()}
    return arrays


def formula(optimizer: Optimizer) -> dict[str, np.ndarray]:
    """Give the arrays of the formula itself."""
    states = trajectory(optimizer, probe_parameters(), probe_gradients())
    return {f"optimizer/{t}/{name}": value for t, state in enumerate(states) for name, value in state.items()}


def adam(  # noqa: PLR0913 - one for each thing that libraries do otherwise
    *,
    rate: float = 1e-3,
    epsilon: float = 1e-8,
    inside: bool = False,
    hat: bool = False,
    corrected: bool = True,
    decay: float = 0.0,
    coupled: float = 0.0,
    product: bool = False,
    dtype: Any = np.float64,
) -> Step:
    """Give Adam with one thing done as some libraries do it."""

    def step(p: Array, g: Array, state: dict[str, Array], t: int) -> Array:
        p, g = p.astype(dtype), g.astype(dtype) + dtype(coupled) * p.astype(dtype)
        m = state["m"] = dtype(0.9) * state.get("m", dtype(0)) + dtype(1 - 0.9) * g
        v = state["v"] = dtype(0.999) * state.get("v", dtype(0)) + dtype(1 - 0.999) * g * g
        first, second = (1 - 0.9**t, 1 - 0.999**t) if corrected else (1.0, 1.0)
        p = p * dtype(1 - rate * decay) if product else p - dtype(rate * decay) * p
        if hat:
            return p - dtype(rate * math.sqrt(second) / first) * m / (np.sqrt(v) + dtype(epsilon))
        root = np.sqrt(v / dtype(second) + epsilon) if inside else np.sqrt(v / dtype(second)) + dtype(epsilon)
        return p - dtype(rate) * (m / dtype(first)) / root

    return step


def sgd(*, nesterov: bool = False, dampening: float = 0.0, decay: float = 0.01) -> Step:
    """Give SGD with one thing done as some libraries do it."""

    def step(p: Array, g: Array, state: dict[str, Array], t: int) -> Array:
        g = g + decay * p
        v = state["v"] = 0.9 * state["v"] + (1 - dampening) * g if t > 1 else g
        return p - 0.1 * (g + 0.9 * v if nesterov else v)

    return step


def rmsprop(
    *, inside: bool = False, decay: float = 0.99, momentum: float = 0.0, coupled: float = 0.0, before: bool = False
) -> Step:
    """Give RMSprop with one thing done as some libraries do it; `before` has the momentum of gradients."""

    def step(p: Array, g: Array, state: dict[str, Array], _: int) -> Array:
        g = g + coupled * p
        v = state["v"] = decay * state.get("v", 0.0) + (1 - decay) * g * g
        root = np.sqrt(v + 1e-8) if inside else np.sqrt(v) + 1e-8
        m = state["m"] = momentum * state.get("m", 0.0) + (g if before else g / root)
        return p - 1e-3 * (m / root if before else m)

    return step


@pytest.mark.parametrize("optimizer", [SGD_FULL, ADAM, ADAMW, RMSPROP, RMSPROP_FULL])
def test_the_formula_passes(optimizer: Optimizer) -> None:
    """The formula itself, in float64 and rounded to float32, is certified."""
    assert checked(formula(optimizer), optimizer).passed
    rounded = {name: value.astype(np.float32).astype(np.float64) for name, value in formula(optimizer).items()}
    assert checked(rounded, optimizer).passed


@pytest.mark.parametrize(
    ("step", "optimizer"),
    [
        (adam(dtype=np.float32), ADAM),
        (adam(decay=0.05, dtype=np.float32), ADAMW),
        (sgd(), SGD_FULL),
        (rmsprop(), RMSPROP),
        (rmsprop(momentum=0.9, coupled=0.01), RMSPROP_FULL),
    ],
)
def test_another_writing_of_the_formula_passes(step: Step, optimizer: Optimizer) -> None:
    """The same formula written by hand, in float32 where it matters, is certified: the tolerance has room for it."""
    check = checked(evidence(step), optimizer)
    assert check.passed, check.detail


@pytest.mark.parametrize("decay", [1e-4, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("rate", [1e-4, 2e-4, 3e-4, 5e-4, 6e-4, 1e-3, 2e-3, 5e-3])
def test_decay_by_a_rounded_factor_passes(rate: float, decay: float) -> None:
    """PyTorch multiplies by 1 - rate * decay, which float32 rounds: of a parameter near 1 by a part of a small step."""
    step = adam(rate=rate, decay=decay, product=True, dtype=np.float32)
    check = checked(evidence(step), AdamW(learning_rate=rate, weight_decay=decay))
    assert check.passed, check.detail


@pytest.mark.parametrize(
    ("step", "optimizer"),
    [
        (adam(rate=1.001e-3), ADAM),
        (adam(epsilon=1e-7), ADAM),
        (adam(inside=True), ADAM),
        (adam(hat=True), ADAM),
        (adam(corrected=False), ADAM),
        (adam(decay=0.05), ADAM),
        (adam(coupled=0.05), ADAMW),
        (adam(), ADAMW),
        (sgd(nesterov=True), SGD_FULL),
        (sgd(dampening=0.9), SGD_FULL),
        (sgd(decay=0.0), SGD_FULL),
        (rmsprop(inside=True), RMSPROP),
        (rmsprop(decay=0.9), RMSPROP),
        (rmsprop(momentum=0.9), RMSPROP_FULL),
        (rmsprop(coupled=0.01), RMSPROP_FULL),
        (rmsprop(momentum=0.9, coupled=0.01, before=True), RMSPROP_FULL),
    ],
)
def test_another_formula_fails(step: Step, optimizer: Optimizer) -> None:
    """What libraries do otherwise (epsilon, correction, decay, Nesterov, dampening) is not the same optimiser."""
    check = checked(evidence(step), optimizer)
    assert not check.passed
    assert check.error is None or check.error > 10 * OPTIMIZER


GROUPED = AdamW(learning_rate=1e-3, weight_decay=0.05, rates=(("a.*", 0.1), ("b.*", 2.0)), frozen=("c.*",))


@pytest.mark.parametrize(
    "probe",
    [
        {"rates": ()},
        {"rates": (("far", 0.1),)},
        {"rates": (("far", 2.0), ("scale", 0.1))},
        {"rates": (("far", 0.1001), ("scale", 2.0))},
    ],
)
def test_another_rate_of_a_group_fails(probe: dict[str, Any]) -> None:
    """One rate for all, for one group too many, exchanged ones, and one that is nearly right show."""
    states = [
        trajectory(one, probe_parameters(GROUPED), probe_gradients()) for one in (probed(GROUPED), planted(probe))
    ]
    right, wrong = (
        {f"optimizer/{t}/{name}": value for t, state in enumerate(found) for name, value in state.items()}
        for found in states
    )
    assert checked(right, GROUPED).passed
    assert not checked(wrong, GROUPED).passed


def planted(probe: dict[str, Any]) -> Optimizer:
    """Return the optimiser of the probe with a fault in its groups."""
    return msgspec.structs.replace(probed(GROUPED), **probe)


def test_what_is_not_trained_may_not_move_by_a_rounding() -> None:
    """A frozen parameter has no rounding to lose: each bit is held."""
    states = trajectory(probed(GROUPED), probe_parameters(GROUPED), probe_gradients())
    arrays = {f"optimizer/{t}/{name}": value for t, state in enumerate(states) for name, value in state.items()}
    arrays["optimizer/3/still"] = arrays["optimizer/3/still"] * (1 + 2.0**-24)
    check = checked(arrays, GROUPED)
    assert not check.passed
    assert "'still' after step 3" in check.detail


def test_told_is_the_first_step_that_is_too_far() -> None:
    """Errors that follow from an earlier one do not hide where it began."""
    arrays = formula(SGD_FULL)
    for t in (3, 4, 5):
        arrays[f"optimizer/{t}/near"] = arrays[f"optimizer/{t}/near"] * (1 + 0.01 * t)
    assert "parameter 'near' after step 3" in checked(arrays, SGD_FULL).detail


@pytest.mark.parametrize("key", ["optimizer/0/far", "optimizer/5/scale"])
def test_missing_evidence_fails(key: str) -> None:
    """Every array of every step must be there, in its shape."""
    arrays = formula(ADAM)
    del arrays[key]
    assert not checked(arrays, ADAM).passed
    arrays[key] = np.zeros(3)
    assert not checked(arrays, ADAM).passed


def test_a_program_in_float64_is_held_to_the_last_digits() -> None:
    """What float32 cannot hold of the formula is no excuse in float64."""
    for optimizer in (ADAM, SGD_FULL, RMSPROP):
        assert checked(formula(optimizer), optimizer, precision="float64").passed
    off = {name: value * (1 + 1e-8) for name, value in formula(ADAM).items()}
    assert checked(off, ADAM).passed
    assert not checked(off, ADAM, precision="float64").passed


def test_nan_fails() -> None:
    """One NaN is enough."""
    arrays = formula(ADAM)
    arrays["optimizer/2/near"][5] = math.nan
    check = checked(arrays, ADAM)
    assert not check.passed
    assert check.error is None


def test_no_optimizer_fails() -> None:
    """A workload that trains without an optimiser cannot be certified."""
    assert not checked({}, None).passed


def test_what_the_numbers_mean_is_said_and_that_a_long_schedule_is_shortened() -> None:
    """The line of a check is read by those who have not read how it is made."""
    optimizer = SGD(learning_rate=0.1, schedule=Linear(warmup_steps=4, steps=4000))
    states = trajectory(probed(optimizer), probe_parameters(), probe_gradients())
    arrays = {f"optimizer/{t}/{name}": value for t, state in enumerate(states) for name, value in state.items()}

    check = checked(arrays, optimizer)

    assert check.passed
    assert "6 steps on given gradients" in check.detail
    assert "beyond rounding" in check.detail
    assert "its schedule is shortened to these 6 steps" in check.detail


def test_a_schedule_that_the_steps_hold_whole_is_not_told_as_shortened() -> None:
    """The line of a check is read by those who have not read how it is made."""
    optimizer = SGD(learning_rate=0.1, schedule=Exponential(every=2, factor=0.5))
    states = trajectory(probed(optimizer), probe_parameters(), probe_gradients())
    arrays = {f"optimizer/{t}/{name}": value for t, state in enumerate(states) for name, value in state.items()}

    assert "shortened" not in checked(arrays, optimizer).detail
