from __future__ import annotations

import numpy as np
import pytest
from contract_run import LIMIT_S, MODES, computed

pytestmark = pytest.mark.timeout(LIMIT_S)

UNKNOWN = -1

BY_OPERATION = {"jittor"}
"""Compile operation by operation, each once in a process and for all shapes: tests/frameworks says what they tell."""

LEAST_TRACED = {"tensorflow": 5e-3, "mlx": 1e-5}
"""Of a first step, where tracing alone is told: a tenth of what was measured. g++ takes seconds for MLX."""


@pytest.mark.parametrize(("framework", "mode"), MODES)
def test_compiling_is_reported_and_counted(framework: str, mode: str) -> None:
    """The first step's tracing and compiling are most of it, a second has none, and one of another shape has more."""
    found = computed(framework, mode).of("compilation")
    told, first_ns = found["told"], int(found["first_ns"])
    first, second, other = np.diff(told, axis=0)
    for part, total in zip(first[:2], told[1][:2], strict=True):
        assert total == UNKNOWN or 0 <= part <= first_ns
    if first[2] and UNKNOWN not in told[1][:2]:
        # Nothing else takes long in the first step of one layer, and compilers take longer than what traces for them.
        assert first[0] + first[1] >= first_ns / 2
        assert first[1] > first[0]
    elif first[2] and framework in LEAST_TRACED:
        assert first[0] >= LEAST_TRACED[framework] * first_ns
    assert not second[2]
    if framework in BY_OPERATION:
        assert not other[2]
    elif mode == "eager":
        assert first[2] == other[2] == 0 or (first[2] > 0 and other[2] > 0)
    else:
        assert (first[2], other[2]) == (1, 1)
        assert first[0] > 0 or told[1][0] == UNKNOWN
