from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakeoff.certify.tolerances import PROGRAM, UpdateTolerance, allowed, amplitude
from bakeoff.certify.update import POSITIONS, check_updates, positions
from bakeoff.spec.optimizer import SGD, Adam, AdamW, RMSprop
from bakeoff.spec.record import Evidence, Spread
from bakeoff.workloads.optimizers import updated

if TYPE_CHECKING:
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.verdict import Check

STEPS = 6
OPTIMIZERS: list[Optimizer] = [
    SGD(learning_rate=0.1),
    SGD(learning_rate=0.02, momentum=0.9, weight_decay=1e-2),
    Adam(learning_rate=1e-3),
    AdamW(learning_rate=1e-3, weight_decay=0.1),
    RMSprop(learning_rate=1e-3, decay=0.99, epsilon=1e-8),
]
NAMES = ["dense.weight", "dense.bias"]


def trained(optimizer: Optimizer, skip: int | None = None, noise: float = 0.0, scale: float = 1.0) -> Any:
    """Return the rows of a parameter that float32 steps have changed, and the gradients they really followed.

    In the step `skip` nothing happens; gradients of a step are those that are kept but for `noise` and `scale`.
    """
    random = np.random.RandomState(1)
    p = random.standard_normal(POSITIONS).astype(np.float32).astype(np.float64)
    m, v = np.zeros_like(p), np.zeros_like(p)
    rows = [p]
    for t in range(1, STEPS + 1):
        gradient = 0.01 * random.standard_normal(POSITIONS)
        real = gradient * (1 + noise * random.standard_normal(POSITIONS)) * scale
        after, m, v = updated(optimizer, p, real, m, v, t)
        p = p if t - 1 == skip else after.astype(np.float32).astype(np.float64)
        rows += [gradient, p]
    return np.stack(rows)


def checked(optimizer: Optimizer | None, rows: Any, gradient: float = 1.0, steps: int = STEPS) -> Check:
    """Check two parameters, of which the second is changed."""
    good = trained(optimizer or SGD(learning_rate=0.1))
    reference = {"gradient/dense.weight": np.ones(3), "gradient/dense.bias": gradient * np.ones(3)}
    arrays = {"update/dense.weight": good} | ({} if rows is None else {"update/dense.bias": rows})
    return check_updates(
        NAMES, arrays, reference, optimizer, steps=steps, precision="float32", allowed=UpdateTolerance()
    )


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_float32_step_is_within_a_tenth_of_what_is_allowed(optimizer: Optimizer) -> None:
    """Rounding the parameters, and gradients that are off by some roundings, are no fault."""
    check = checked(optimizer, trained(optimizer, noise=2e-7))
    assert check.passed
    assert check.error is not None
    assert check.error < UpdateTolerance().median / 10


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("skip", range(STEPS))
def test_every_step_counts_by_itself(optimizer: Optimizer, skip: int) -> None:
    """A single step that changes nothing of a single array is told by its number and name."""
    check = checked(optimizer, trained(optimizer, skip=skip))
    assert not check.passed
    assert check.detail.startswith(f"dense.bias in step {skip}: ")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("wrong", [{"noise": 2.0**-8}, {"noise": 1.0}])
def test_other_gradients_are_refused(optimizer: Optimizer, wrong: dict[str, float]) -> None:
    """Gradients of another precision, or of other samples, lead to other parameters."""
    assert not checked(optimizer, trained(optimizer, **wrong)).passed


def test_another_optimizer_or_rate_is_refused() -> None:
    """Each optimiser's steps fail as another's, and with half the rate or without its decay."""
    for optimizer in OPTIMIZERS:
        for other in OPTIMIZERS:
            assert checked(optimizer, trained(other)).passed == (other is optimizer)
    plain = SGD(learning_rate=0.02, momentum=0.9)
    assert not checked(OPTIMIZERS[1], trained(plain)).passed


def test_an_array_without_gradient_is_not_held() -> None:
    """Of a gradient that is zero but for rounding Adam makes whole steps of any sign; the detail tells how many."""
    optimizer = Adam(learning_rate=1e-3)
    check = checked(optimizer, trained(optimizer, noise=3.0), gradient=1e-17)
    assert check.passed
    assert "1 of 2 arrays have no gradient but rounding" in check.detail


@pytest.mark.parametrize(
    ("rows", "steps"), [(None, STEPS), (trained(OPTIMIZERS[0])[:-2], STEPS), (trained(OPTIMIZERS[0]), STEPS - 1)]
)
def test_evidence_that_is_missing_fails(rows: Any, steps: int) -> None:
    """Updates that were not kept, or of fewer steps, certify nothing; neither does a workload without optimiser."""
    check = checked(OPTIMIZERS[0], rows, steps=steps)
    assert (check.passed, check.detail.startswith("no evidence: ")) == (False, True)
    assert not checked(None, trained(OPTIMIZERS[0])).passed


def test_what_is_not_finite_fails() -> None:
    """NaN among the parameters, or among the gradients, is no update."""
    for row in (1, 4):
        rows = trained(OPTIMIZERS[0])
        rows[row, 3] = np.nan
        assert not checked(OPTIMIZERS[0], rows).passed


def test_large_gradients_are_among_what_is_kept() -> None:
    """Of an embedding, most of whose gradients are zero, those are kept that say something."""
    gradient = np.zeros((5000, 20))
    gradient[17] = np.arange(1, 21)
    kept = positions(gradient)
    assert set(range(340, 360)) <= set(kept.tolist())
    assert len(kept) <= POSITIONS
    assert positions(np.ones((2, 3))).tolist() == list(range(6))


def update_of(precision: str, device: str, gradient_norm: float = 0.025) -> UpdateTolerance:
    """Give what updates may be off by, of a model whose gradients move by a share."""
    spread = Spread(amplitude=amplitude(precision), draws=2, output=1e-6, gradient_norm=gradient_norm)
    return allowed(Evidence(version=2, parameter_shapes={}, spreads={precision: spread}), precision, device, 0).update


def test_an_accelerator_is_asked_for_no_more_than_frameworks_among_themselves() -> None:
    """It may add in another order each time, which a deep model magnifies; a skipped step is refused there, too."""
    assert update_of("float32", "cuda").median == pytest.approx(0.1)
    assert update_of("float32", "cuda", 10.0).median <= 0.5
    assert update_of("float32", "cpu") == UpdateTolerance()
    assert update_of("bfloat16", "cpu").median == 4 * 2.0**-8
    assert update_of("float64", "cpu") == UpdateTolerance(PROGRAM, PROGRAM)
