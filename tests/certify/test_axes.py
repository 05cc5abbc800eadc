from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bakeoff.certify.axes import well_formed

HONEST: dict[str, Any] = {
    "output/0": np.ones((8, 3)),
    "output/1": np.ones(8),
    "gradient/a.weight": np.ones(12),
    "update/a.weight": np.ones((13, 12)),
    "position/a.weight": np.arange(12),
    "noise/a.weight": np.ones((6, 12)),
    "frozen/b.weight": np.ones((7, 32), np.uint8),
    "norms/0": np.ones(8),
    "norm": np.ones(6),
    "optimizer/0/scale": np.ones((4, 4, 2, 3)),
}


def test_what_bakeoff_writes_is_evidence() -> None:
    """Arrays of every kind are kept."""
    assert list(well_formed(HONEST)) == list(HONEST)


@pytest.mark.parametrize("name", HONEST)
def test_what_has_another_form_is_left_out(name: str) -> None:
    """A number without axes, no elements, another type, and where a kind has so many axes, more or fewer than these."""
    honest = HONEST[name]
    others = [honest.reshape(-1)[0], honest[:0], honest != 0]
    if not name.startswith(("output/", "optimizer/")):
        others += [honest[None], honest.reshape(-1)] if honest.ndim > 1 else [honest[None]]
    for other in others:
        assert name not in well_formed(HONEST | {name: other})
