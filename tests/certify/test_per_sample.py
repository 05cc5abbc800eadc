from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from bakeoff.certify.per_sample import NOISE_POSITIONS, check_noise, check_norms, noise_positions
from bakeoff.spec.per_sample import PerSample

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BATCH, STEPS = 8, 6
ASKED = PerSample(max_norm=2.0, noise_multiplier=1.5)
SHAPES = {"weight": 512, "other": 300, "bias": 3}


def drawn(seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """Give noise as it should be, by parameter."""
    stream = np.random.RandomState(seed)
    deviation = ASKED.deviation / BATCH
    return {f"noise/{name}": deviation * stream.standard_normal((STEPS, size)) for name, size in SHAPES.items()}


def held(arrays: dict[str, NDArray[np.float64]]) -> tuple[bool, str]:
    """Give what the check says."""
    check = check_noise(list(SHAPES), arrays, ASKED, batch_size=BATCH, steps=STEPS)
    return check.passed, check.detail


def test_honest_noise_passes() -> None:
    """Of 300 honest contenders none is refused, and the deviation is told in units of what is asked for."""
    found = [held(drawn(seed)) for seed in range(300)]
    assert all(passed for passed, _ in found), [detail for passed, detail in found if not passed]
    assert "4,890 draws of 3 arrays in 6 steps" in found[0][1]
    assert "of what is asked for, 0.375" in found[0][1]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda rows: 0.0 * rows, "gets no noise"),
        (lambda rows: 1.2 * rows, "times its standard deviation"),
        (lambda rows: rows + 0.1, "the mean"),
        (lambda rows: rows - 0.1, "the mean"),
        (lambda rows: rows[[0, 0, 0, 0, 0, 0]], "steps 0 and 1 draw the same noise"),
        (lambda rows: rows[[0, 1, 2, 3, 4, 2]], "steps 2 and 5 draw the same noise"),
        (lambda rows: np.sign(rows) * ASKED.deviation / BATCH, "not normal"),
        (lambda rows: rows[:5], "not of 6 steps"),
        (lambda rows: rows * np.nan, "not finite"),
    ],
    ids=[
        *("none", "too much", "above zero", "below zero", "the same each step", "a step again"),
        *("two values", "a step is missing", "nan"),
    ],
)
def test_other_noise_is_refused(fault: Callable[[NDArray[np.float64]], NDArray[np.float64]], said: str) -> None:
    """Noise that is not what was asked for is refused, in words."""
    passed, detail = held({name: fault(rows) for name, rows in drawn().items()})
    assert not passed
    assert said in detail


def test_one_array_without_noise_is_refused() -> None:
    """An array of few elements whose noise was forgotten is seen, too."""
    passed, detail = held(drawn() | {"noise/bias": np.zeros((STEPS, 3))})
    assert not passed
    assert "bias gets no noise" in detail


def test_two_arrays_that_are_drawn_alike_are_refused() -> None:
    """Arrays that begin with the same draws are seen, whatever their lengths."""
    noise = drawn()
    passed, detail = held(noise | {"noise/other": noise["noise/weight"][:, :300]})
    assert not passed
    assert "weight and other get the same noise (correlation 1.00)" in detail


@pytest.mark.parametrize(
    "shape", [(512,), (3,), (), (1,), (0,), (5000,), (16, 16), (3, 100), (2, 300), (9, 9, 7), (800, 700)]
)
def test_what_is_kept_of_noise_begins_and_ends_an_array(shape: tuple[int, ...]) -> None:
    """Both halves begin with a row, no element is kept twice, and the last one kept is of the last rows."""
    places, size = noise_positions(shape), int(np.prod(shape))
    half = len(places) // 2
    assert len(set(places.tolist())) == len(places) <= NOISE_POSITIONS
    assert set(places.tolist()) <= set(range(size))
    assert len(places) >= min(size - 1, 200)
    if len(shape) > 1:
        assert (places[:half] % shape[-1]).tolist() == (places[half:] % shape[-1]).tolist()
        assert places[-1] >= size - 256 - shape[-1]


@pytest.mark.parametrize("width", [16, 64, 300, 600])
def test_one_row_of_noise_for_all_rows_is_refused(width: int) -> None:
    """And so is noise for the first elements alone: each array is held against itself."""
    stream, deviation, rows = np.random.RandomState(0), ASKED.deviation / BATCH, 40
    places = noise_positions((rows, width))
    one = deviation * np.tile(stream.standard_normal((STEPS, 1, width)), (1, rows, 1)).reshape(STEPS, -1)
    passed, detail = held(drawn() | {"noise/other": one[:, places]})
    assert not passed
    assert "the noise of other" in detail
    first = deviation * stream.standard_normal((STEPS, rows * width)) * (np.arange(rows * width) < 256)
    passed, detail = held(drawn() | {"noise/other": first[:, places]})
    assert not passed
    assert "the noise of other has 0.69" in detail


def test_a_norm_is_held_relative_to_itself() -> None:
    """A sample is held by its own norm, down to a thousandth of the largest; how many are clipped is told."""
    expected = {"norms/0": np.array([10.0, 1.0, 1e-9]), "norms/1": np.array([3.0, 2.5, 0.1])}
    honest = check_norms(expected, expected, ASKED, batch_size=3, allowed=1e-6)
    assert honest.passed
    assert "3 of 6 samples are clipped" in honest.detail
    found = expected | {"norms/0": np.array([10.0, 1.01, 1e-9])}
    check = check_norms(found, expected, ASKED, batch_size=3, allowed=1e-3)
    assert not check.passed
    assert check.error == pytest.approx(0.01)
    assert "sample 1 of batch 0: 1.01 against 1" in check.detail
    # Of the sample that is off by most of itself, not of the one whose norm is off by most.
    near = expected | {"norms/1": np.array([3.01, 2.5, 0.11])}
    check = check_norms(near, expected, ASKED, batch_size=3, allowed=1e-3)
    assert check.detail.startswith("sample 2 of batch 1: 0.11 against 0.1; largest error of a norm 1.0e-01")
    tiny = expected | {"norms/0": np.array([10.0, 1.0, 0.0])}
    assert check_norms(tiny, expected, ASKED, batch_size=3, allowed=1e-6).passed


@pytest.mark.parametrize("arrays", [{}, {"norms/0": np.ones(3)}, {"norms/0": np.ones(2), "norms/1": np.ones(3)}])
def test_norms_that_are_not_there_fail(arrays: dict[str, NDArray[np.float64]]) -> None:
    """A check without its evidence fails."""
    expected = {"norms/0": np.ones(3), "norms/1": np.ones(3)}
    check = check_norms(arrays, expected, ASKED, batch_size=3, allowed=1.0)
    assert not check.passed
    assert check.detail.startswith("no evidence: norms/")


def test_norms_of_another_number_of_samples_are_no_evidence() -> None:
    """Neither side's may be of more or fewer samples than the batch has."""
    expected = {"norms/0": np.array([10.0, 1.0, 0.1])}
    shorter = {"norms/0": np.array([10.0, 1.0])}
    for sides in ((shorter, expected), (expected, shorter)):
        check = check_norms(*sides, ASKED, batch_size=3, allowed=1e-6)
        assert not check.passed
        assert "norms/0 is missing or not of 3 samples" in check.detail
