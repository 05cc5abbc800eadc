"""What a worker's commands do that no whole trial shows."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from bakeoff.trial import handlers

if TYPE_CHECKING:
    from bakeoff.spec.trial import Purpose

SPARING = nullcontext("sparing")


@pytest.mark.parametrize(
    ("purpose", "axes", "engine", "is_spared"),
    [
        ("reference", 4, SimpleNamespace(sparing=lambda: SPARING), True),
        ("reference", 2, SimpleNamespace(sparing=lambda: SPARING), False),
        ("reference", 4, SimpleNamespace(), False),
        ("program", 4, SimpleNamespace(sparing=lambda: SPARING), False),
        ("certify", 4, SimpleNamespace(sparing=lambda: SPARING), False),
        ("round", 4, SimpleNamespace(sparing=lambda: SPARING), False),
    ],
)
def test_a_reference_with_convolutions_alone_is_computed_with_less_memory(
    purpose: Purpose,
    axes: int,
    engine: Any,
    is_spared: bool,  # noqa: FBT001 - a case's own
) -> None:
    """What is timed, and each contender's own program, runs as it is."""
    weights = {"kernel": np.zeros((1,) * axes), "bias": np.zeros(1)}
    opened = SimpleNamespace(trial=SimpleNamespace(purpose=purpose), engine=engine)
    unrun = cast("Any", SimpleNamespace(opened=opened, model=SimpleNamespace(weights=weights)))
    assert (handlers._sparing(unrun) is SPARING) == is_spared
