from __future__ import annotations

import numpy as np

from bakeoff.certify.probe import PROBE_STEPS, probe_gradients, probe_parameters


def test_the_probe_is_always_the_same() -> None:
    """Every process draws the same parameters and gradients."""
    for first, second in ((probe_parameters(), probe_parameters()), (probe_gradients()[-1], probe_gradients()[-1])):
        assert all(np.array_equal(first[name], second[name]) for name in first)


def test_the_probe_is_exact_in_float32() -> None:
    """No contender starts from a rounding of its own."""
    for arrays in (probe_parameters(), *probe_gradients()):
        for value in arrays.values():
            assert value.dtype == np.float64
            np.testing.assert_array_equal(value.astype(np.float32).astype(np.float64), value)


def test_gradients_reach_from_tiny_to_large_with_zeros() -> None:
    """Gradients span ten orders of magnitude; some are zero once, some at every step."""
    steps = probe_gradients()
    assert len(steps) == PROBE_STEPS
    for name, value in probe_parameters().items():
        sizes = np.abs(np.stack([step[name] for step in steps]))
        assert sizes.shape == (PROBE_STEPS, *value.shape)
        some = sizes[sizes > 0]
        assert some.min() < 1e-6
        assert some.max() > 1.0
        zeros = (sizes == 0).sum(axis=0)
        assert (zeros == PROBE_STEPS).any()
        assert ((zeros > 0) & (zeros < PROBE_STEPS)).any()
