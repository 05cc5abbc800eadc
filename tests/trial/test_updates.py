"""What is kept of training steps, where the step itself keeps the gradients that it has followed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from bakeoff.spec.optimizer import SGD
from bakeoff.trial.evidence import keeps_gradients
from bakeoff.trial.updates import Updates

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCHES = (1.0, -2.0, 3.0, 0.5)


class Descent:
    """Gradient descent on a sum of squares, whose gradients are others in each step."""

    def __init__(self) -> None:
        """Start anywhere but at zero."""
        self._weights = np.array([1.0, -3.0, 2.0])
        self._followed = np.zeros(3)
        self.passes = 0

    def gradients(self, batch: float) -> dict[str, NDArray[np.float64]]:
        """Return the gradients on a batch, by a pass of their own."""
        self.passes += 1
        return {"weights": batch * self._weights}

    def run(self, batch: float) -> None:
        """Train on one batch."""
        self._followed = batch * self._weights
        self._weights = self._weights - 0.1 * self._followed

    def kept_gradients(self) -> dict[str, NDArray[np.float64]]:
        """Return those of the last step."""
        return {"weights": self._followed}

    def parameters(self) -> dict[str, NDArray[np.float64]]:
        """Return the weights as they are now."""
        return {"weights": self._weights}


def noted(*, keeps: bool) -> tuple[dict[str, NDArray[Any]], int]:
    """Return what is kept of some steps, and how many passes there were beside them."""
    step = Descent()
    updates = Updates(cast("Any", step), keeps=keeps)
    for batch in BATCHES:
        updates.before(batch)
        step.run(batch)
        updates.after()
    return cast("Any", updates.arrays() | updates.first), step.passes


def test_gradients_that_a_step_keeps_are_those_that_it_would_compute_again() -> None:
    """Of every step by itself, and only the first has a pass beside it, which chooses what is kept."""
    (again, passes), (kept, once) = noted(keeps=False), noted(keeps=True)
    assert (passes, once) == (len(BATCHES), 1)
    assert again.keys() == kept.keys()
    for name, values in again.items():
        np.testing.assert_array_equal(kept[name], values)


@pytest.mark.parametrize(
    ("keeps", "asked", "extra"),
    [
        (True, {}, {}),
        (True, {"momentum": 0.9}, {}),
        (False, {"clip_norm": 1.0}, {}),
        (False, {"momentum": 0.9, "nesterov": True}, {}),
        (False, {}, {"parts": None}),
    ],
)
def test_gradients_are_computed_again_where_what_a_step_keeps_is_others(
    keeps: bool,  # noqa: FBT001 - a parameter of the test
    asked: dict[str, Any],
    extra: dict[str, None],
) -> None:
    """Where clipping or Nesterov's step has written over them, and where they are the last of several updates'."""
    step = SimpleNamespace(kept_gradients=None, **extra)
    model = SimpleNamespace(optimizer=SGD(learning_rate=0.1, **asked))
    assert keeps_gradients(cast("Any", step), cast("Any", model)) is keeps
