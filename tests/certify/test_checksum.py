from __future__ import annotations

import numpy as np
import pytest

from bakeoff.certify.checksum import checksums, farthest


def test_checksums_of_several_arrays_are_those_of_all_elements() -> None:
    """The largest and the mean magnitude are the same as of one array, and a change of any element shows."""
    stream = np.random.RandomState(0)
    arrays = [stream.standard_normal(shape) for shape in ((40, 30), (7,), (1,))]
    joined = np.concatenate([one.ravel() for one in arrays])
    found = checksums(*arrays)
    assert found[:2] == pytest.approx(checksums(joined)[:2], rel=1e-12)
    assert farthest(checksums(*arrays), found) == 0.0
    for index, array in enumerate(arrays):
        other = [one.copy() for one in arrays]
        other[index].flat[array.size // 2] += 1.0
        assert farthest(checksums(*other), found) > 1e-5


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_shows(value: float) -> None:
    """A NaN is not lost in a maximum: there are no checksums then, which are far from any, and as good as none."""
    found, others = checksums(np.array([1.0, value]), np.array([2.0])), checksums(np.array([1.0]))
    assert found == []
    assert farthest(found, others) == farthest(others, found) == float("inf")
    assert farthest(found, found) == 0.0
