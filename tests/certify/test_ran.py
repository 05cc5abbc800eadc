from __future__ import annotations

import numpy as np
import pytest

from bakeoff.certify.ran import check_ran

OUTPUT = np.array([[1.0, 0.5], [0.25, 2.0], [-1.0, 0.0]])
"""Of a batch; its largest element is 2."""
ALLOWED, OWN = 1e-2, 1e-4
"""Off the reference's outputs, and off the contender's own, in float32."""


def held(
    *, ran: float = 0.0, asked: float = 0.0, batch: int = 0, allowed: float = ALLOWED, alone: bool = False
) -> bool:
    """Return whether two batches pass, of which one has what timed steps keep, and what was asked, off by a share."""
    reference = {f"output/{index}": OUTPUT for index in range(2)}
    arrays = reference | {f"ran/{index}": OUTPUT for index in range(2)}
    arrays |= {f"ran/{batch}": OUTPUT * (1.0 + ran), f"output/{batch}": OUTPUT * (1.0 + asked)}
    return check_ran(arrays, 2, "float32", reference=None if alone else reference, allowed=allowed).passed


@pytest.mark.parametrize("batch", [0, 1])
def test_what_timed_steps_keep_is_held_to_both_in_each_batch(batch: int) -> None:
    """To the contender's own outputs as closely as one function repeats itself, and to the reference's as outputs are.

    A model that magnifies rounding allows outputs much: shorter arithmetic in timed steps is seen beside its own alone.
    """
    assert held(batch=batch)
    assert held(batch=batch, ran=0.9 * ALLOWED, asked=0.9 * ALLOWED)
    assert not held(batch=batch, ran=0.5 * ALLOWED), "it is near the reference's, and not near its own"
    assert not held(batch=batch, ran=2.0 * ALLOWED, asked=2.0 * ALLOWED), "it is near its own, and not the reference's"
    assert not held(batch=batch, ran=1.1 * OWN, asked=0.9 * OWN, allowed=OWN), "what it keeps is held, not what it says"


@pytest.mark.parametrize("batch", [0, 1])
def test_a_ready_made_models_timed_steps_are_held_to_its_own_outputs(batch: int) -> None:
    """Nothing else says what they are to keep."""
    assert held(batch=batch, ran=0.5, asked=0.5, allowed=OWN, alone=True)
    assert not held(batch=batch, ran=2.0 * OWN, allowed=OWN, alone=True)
