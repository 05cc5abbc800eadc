from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bakeoff.certify.sample import distance, largest, sample, sampled_outputs

LARGE = (300, 400)


@pytest.fixture
def large() -> Any:
    """Give an array that is too large to be kept whole."""
    return np.random.RandomState(0).standard_normal(LARGE)


@pytest.mark.parametrize("shape", [(), (3,), (4, 5), (256, 256)])
def test_small_arrays_are_kept_whole(shape: Any) -> None:
    """An array of up to 65,536 elements is kept as it is."""
    array = np.random.RandomState(0).standard_normal(shape)
    np.testing.assert_array_equal(sample(array), array.ravel())


def test_large_arrays_are_reduced(large: Any) -> None:
    """Of a larger array there are kept 65,536 elements, the norm and 8 projections."""
    kept = sample(large)
    assert kept.shape == (65_536 + 1 + 8,)
    assert np.isin(kept[:65_536], large).all()
    assert kept[65_536] == pytest.approx(np.linalg.norm(large))


def test_projections_are_signed_sums_of_all_elements() -> None:
    """Each projection adds every element once, with a sign: of ones it has their count's parity and random size."""
    ones = np.ones(3_000_001)
    projections = sample(ones)[-8:]
    assert (projections % 2 == 1).all()
    assert (np.abs(projections) < 6 * math.sqrt(ones.size)).all()
    assert len(set(projections)) > 1


def test_the_same_is_sampled_everywhere(large: Any) -> None:
    """Positions and signs depend on the size alone, and not on the array's layout in memory or precision."""
    np.testing.assert_allclose(sample(np.asfortranarray(large)), sample(large), rtol=1e-12)
    assert distance(sample(large.astype(np.float32)), sample(large)) < 1e-6


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array[::-1],
        lambda array: array.T.reshape(LARGE),
        lambda array: array * 1.001,
        lambda array: np.concatenate([array[:150], array[150:] * 1.01]),
        lambda array: -array,
        lambda array: array + 0.01,
        np.zeros_like,
    ],
)
def test_what_is_not_the_same_is_far(large: Any, change: Any) -> None:
    """A permutation, a scaling, a part that differs or a shift is at a distance no tolerance allows."""
    assert distance(sample(change(large)), sample(large)) > 5e-4


def test_an_element_that_is_not_sampled_is_seen(large: Any) -> None:
    """A single changed element shows in the projections wherever it lies."""
    changed = large.copy()
    place = np.flatnonzero(~np.isin(large.ravel(), sample(large)[:65_536]))[0]
    changed.flat[place] += 1.0
    assert distance(sample(changed), sample(large)) > 1e-3


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("shape", [(7,), LARGE])
def test_what_is_not_a_number_is_infinitely_far(bad: float, shape: Any) -> None:
    """One NaN or infinity, anywhere, is never near anything, not even itself."""
    reference = np.ones(shape)
    found = reference.copy()
    found.flat[-1] = bad
    with np.errstate(invalid="ignore"):
        assert distance(sample(found), sample(reference)) == math.inf
        assert distance(sample(found), sample(found)) == math.inf
        assert distance(sample(reference), sample(found)) == math.inf


def test_another_size_is_infinitely_far() -> None:
    """Arrays of different sizes, and what is no array of real numbers, are not compared."""
    assert distance(np.ones(3), np.ones(4)) == math.inf
    assert distance(np.array(["a"]), np.ones(1)) == math.inf


def test_distance_is_relative_to_the_largest_magnitude() -> None:
    """An error is measured against the largest element, or the floor where that is larger."""
    assert distance(np.array([1.0, -4.0]), np.array([1.0, -5.0])) == pytest.approx(0.2)
    assert distance(np.array([0.1]), np.array([0.0]), floor=2.0) == pytest.approx(0.05)
    assert distance(np.array([0.1]), np.array([0.0])) == math.inf
    assert distance(np.zeros(2), np.zeros(2)) == 0.0


def test_largest_leaves_out_norm_and_projections(large: Any) -> None:
    """The largest magnitude of a sample is that of elements, not of sums over them."""
    assert largest(sample(large)) <= np.abs(large).max()


def test_many_outputs_are_compared_all(large: Any) -> None:
    """Arrays that were stored whole, however large, are the same as themselves, and one wrong row shows."""
    wrong = large.copy()
    wrong[-1] *= 2
    assert distance(large, large) == 0.0
    assert distance(wrong, large) > 1e-3


@pytest.fixture
def outputs() -> Any:
    """Give outputs of three samples, each too large to be kept whole."""
    return np.random.RandomState(0).standard_normal((3, 20, 5000)).astype(np.float32)


def test_small_outputs_are_kept_as_they_are(large: Any) -> None:
    """However many samples there are; and what was reduced is not reduced again."""
    many = np.ones((70_000, 2), np.float32)
    for whole in (many, large, many[:, 0], np.float32(1.0).reshape(())):
        np.testing.assert_array_equal(sampled_outputs(whole), whole)
        assert sampled_outputs(whole).dtype == np.float64
    kept = sampled_outputs(np.ones((2, 70_000)))
    np.testing.assert_array_equal(sampled_outputs(kept), kept)


def test_large_outputs_have_a_row_for_each_sample(outputs: Any) -> None:
    """Elements of the sample, and projections of it that are as large as elements; a sample alone has the same row."""
    kept = sampled_outputs(outputs)
    assert kept.shape == (3, 65_536 + 8)
    for row, sample_outputs in zip(kept, outputs, strict=True):
        assert np.isin(row[:-8], sample_outputs).all()
        np.testing.assert_allclose(row[-8:] * math.sqrt(sample_outputs.size), sample(sample_outputs)[-8:], rtol=1e-9)
    np.testing.assert_allclose(sampled_outputs(outputs[1:2]), kept[1:2], rtol=1e-12)
    assert 0.1 < np.abs(kept[:, -8:]).max() < np.abs(outputs).max()


@pytest.mark.parametrize(
    "change",
    [
        lambda outputs: outputs[::-1],
        lambda outputs: outputs[:, ::-1],
        lambda outputs: outputs * np.float32(1.001),
        lambda outputs: np.concatenate([outputs[:2], outputs[2:] * 0]),
        lambda outputs: outputs + np.float32(0.01),
    ],
)
def test_large_outputs_that_are_not_the_same_are_far(outputs: Any, change: Any) -> None:
    """Exchanged samples and places, a scaling, a sample that was left out, and a shift show in what is kept."""
    assert distance(sampled_outputs(change(outputs)), sampled_outputs(outputs)) > 1e-4


def test_an_output_that_is_not_kept_is_seen(outputs: Any) -> None:
    """A single wrong one is far beyond what a program in float64 may be off."""
    wrong, kept = outputs.copy(), sampled_outputs(outputs)
    wrong[1].flat[np.flatnonzero(~np.isin(outputs[1].ravel(), kept[1]))[0]] += 1.0
    assert distance(sampled_outputs(wrong), kept) > 1e-6


@pytest.mark.parametrize("shape", [(4, 12), (2, 20_000), (2, 90_000)])
def test_what_a_mask_leaves_is_held_on_its_own_scale(shape: tuple[int, int]) -> None:
    """Logits beside -1e9 are held as without it, and the mask's constants are held, too."""
    honest = np.random.RandomState(0).standard_normal(shape)
    honest[:, 1::3] = -1e9
    outputs = sampled_outputs(honest)
    assert largest(outputs) == pytest.approx(np.abs(honest[honest > -1e9]).max(), rel=0.5)
    assert distance(sampled_outputs(honest * (1.0 + 1e-7)), outputs) <= 2e-7
    other = np.where(honest > -1e9, 1.01 * honest, honest)
    assert distance(sampled_outputs(other), outputs) == pytest.approx(0.01, rel=0.1)
    assert distance(sampled_outputs(np.where(honest > -1e9, honest, -2e9)), outputs) >= 0.999


def test_large_elements_that_are_no_mask_are_the_scale() -> None:
    """Where sizes go on without a gap, where all else is zero, and where all are large, there is one scale."""
    for elements in ([1e9, 1e6, 1e3, 1.0], [1e9, 0.0, 0.0, 0.0], [1e9, 1e9, -1e9, 6e8], [9e3, 0.1, 0.2, 0.3]):
        assert largest(np.asarray(elements)) == max(elements)
