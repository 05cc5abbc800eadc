from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bakeoff.certify.trajectory import check_trajectory
from bakeoff.certify.update import positions
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.verdict import Check
from bakeoff.workloads.optimizers import updated

STEPS = 4
ADAM = Adam(learning_rate=1e-3, epsilon=1e-30)


def side(noise: float = 0.0, rate: float = 1.0, seed: int = 1) -> dict[str, Any]:
    """Give the rows of one parameter that was trained, with gradients that are off by a share of the largest."""
    draws, off = np.random.RandomState(0), np.random.RandomState(seed)
    value = draws.standard_normal(2000)
    first, second = np.zeros(2000), np.zeros(2000)
    rows, places, largest = [value], np.array([]), 0.0
    sizes = 10.0 ** draws.uniform(-15, 0, 2000)  # the smallest are nothing but rounding
    for t in range(1, STEPS + 1):
        gradient = draws.standard_normal(2000) * sizes
        largest = largest or float(np.abs(gradient).max())
        gradient = gradient + noise * largest * off.standard_normal(2000)
        places = positions(gradient) if t == 1 else places
        value, first, second = updated(ADAM, value, rate * gradient, first, second, t)
        rows += [gradient, value]
    kept = np.stack(rows)[:, places]
    return {"update/w": kept, "position/w": places, "gradient/w": rows[1]}


def checked(found: Any, expected: Any = None, steps: int = STEPS) -> Check:
    """Check one side against another."""
    return check_trajectory(["w"], found, side() if expected is None else expected, steps=steps, allowed=[1e-9] * steps)


def test_rounding_that_turns_the_smallest_gradients_is_no_error() -> None:
    """Adam makes a whole step of a gradient's sign, which rounding decides where the gradient is nearly zero."""
    found, expected = side(noise=1e-15), side()
    _, mine, theirs = np.intersect1d(found["position/w"], expected["position/w"], return_indices=True)
    apart = np.abs(found["update/w"][-1][mine] - expected["update/w"][-1][theirs])
    assert apart.max() > 0.1 * ADAM.learning_rate
    assert checked(found, expected).passed


@pytest.mark.parametrize("share", [1e-6, 1e-3, 1.0])
def test_parameters_that_went_another_way_fail(share: float) -> None:
    """A step that is off by any share of itself is seen, and the first such step is named."""
    found = side()
    rows = found["update/w"]
    rows[4:] = rows[4:] + share * (rows[4] - rows[2])
    check = checked(found)
    assert not check.passed
    assert check.detail.startswith("w after step 1: ")


def rows_of(*values: float, gradients: tuple[float, ...]) -> Any:
    """Give the rows of a parameter of one element: its first value, and each step's gradient and value."""
    rows = [values[0], *(one for step in zip(gradients, values[1:], strict=True) for one in step)]
    return np.array(rows)[:, None]


def test_the_parameter_that_is_farthest_is_held_by_its_largest_gradient_so_far() -> None:
    """One of several parameters is enough, also one that has no gradient any more when it goes another way."""
    rows = {"w": rows_of(1.0, 2.0, 2.0, gradients=(0.5, 0.0)), "v": rows_of(1.0, 2.0, 3.0, gradients=(0.5, 0.5))}
    expected = {f"update/{name}": one for name, one in rows.items()}
    expected |= {f"position/{name}": np.array([0]) for name in rows}
    expected |= {f"gradient/{name}": np.array([0.5]) for name in rows}
    moved = expected | {"update/w": rows_of(1.0, 2.0, 2.25, gradients=(0.5, 0.0))}
    for found, passes in ((expected, True), (moved, False)):
        check = check_trajectory(["w", "v"], found, expected, steps=2, allowed=[1e-9] * 2)
        assert check.passed == passes
    assert check.error == pytest.approx(0.25)


def test_each_side_may_have_kept_other_positions() -> None:
    """What both have kept is compared."""
    found, expected = side(), side()
    found["update/w"], found["position/w"] = found["update/w"][:, 40:], found["position/w"][40:]
    expected["update/w"], expected["position/w"] = expected["update/w"][:, :-40], expected["position/w"][:-40]
    assert checked(found, expected).passed


@pytest.mark.parametrize("lacking", ["update/w", "position/w"])
def test_missing_evidence_fails(lacking: str) -> None:
    """Whichever side lacks rows or positions, or has them of fewer steps, nothing is certified."""
    part = {name: value for name, value in side().items() if name != lacking}
    assert not checked(part).passed
    assert not checked(side(), part).passed
    assert not checked(side(), steps=STEPS + 1).passed


def test_nan_fails() -> None:
    """One NaN is enough."""
    found = side()
    found["update/w"][3, 7] = np.nan
    check = checked(found)
    assert (check.passed, check.error) == (False, None)


def test_steps_that_the_reference_has_not_measured_fail() -> None:
    """A stranger's reference may say of fewer steps how far they may be off."""
    check = check_trajectory(["w"], side(), side(), steps=STEPS, allowed=(1e-9,) * (STEPS - 1))
    assert check.detail == f"no evidence: the reference has measured {STEPS - 1} of {STEPS} steps"
    assert not check_trajectory(["w"], side(), side(), steps=STEPS, allowed=()).passed
