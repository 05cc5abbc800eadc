"""How far the reference moves: what its parameters' roundings do, and sums of equal terms where a batch is padded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bakeoff.certify.sample import sample
from bakeoff.certify.spread import Results, moved, moved_statistics, spread
from bakeoff.certify.tolerances import ROOM, STATISTICS
from bakeoff.spec.optimizer import SGD, Adam, AdamW, RMSprop
from bakeoff.spec.schedule import Constant

NORM = {"norm.scale": np.linspace(0.5, 2.0, 50), "norm.bias": np.zeros(50)}
WEIGHTS = {"conv.weight": np.ones((3, 50)), **NORM}
STATE = ("norm.running_mean", "norm.running_variance")


def found(gradient: float, output: float = 1.0) -> Results:
    """Give what a run computed of one parameter."""
    return Results({"gradient/w": np.array([1.0, gradient]), "output/0": np.array([[output], [2.0]])}, (1.0,))


def test_the_second_draw_is_the_mirror_of_the_first() -> None:
    """A kink near enough is crossed by one of both, whichever side it lies on; float64 has one draw."""
    first, second = moved(WEIGHTS, "float32")
    for name, value in WEIGHTS.items():
        assert np.abs(first[name] - value).max() > 0 or name == "norm.bias"
        assert second[name] - value == pytest.approx(value - first[name], abs=1e-15)
    assert len(list(moved(WEIGHTS, "float64"))) == 1


def test_statistics_that_are_off_move_their_normalisations_alone() -> None:
    """As a variance does, the scale; as a mean does, a bias that is zero, too: by a share of the scale.

    All alike first, then each channel to a side of its own; behind each its mirror.
    """
    shares = {name: [] for name in NORM}
    for draw in moved_statistics(WEIGHTS, STATE):
        assert draw["conv.weight"] is WEIGHTS["conv.weight"]
        for name in NORM:
            shares[name].append((draw[name] - WEIGHTS[name]) / WEIGHTS["norm.scale"] / STATISTICS)
    for one in shares.values():
        assert np.abs(one) == pytest.approx(np.ones_like(one))
        assert one[0] == pytest.approx(np.ones_like(one[0]))
        assert one[1] == pytest.approx(-one[0])
        assert one[3] == pytest.approx(-one[2])
        assert not np.allclose(one[2], one[2][0])


@pytest.mark.parametrize("gradient", [0.0, np.nan])
def test_where_no_gradient_is_a_number_but_zero_no_trajectory_can_be_held(gradient: float) -> None:
    """The certificate's other checks say what is wrong with such a model; nothing fails on the way there."""
    rows = {"gradient/w": np.full(2, gradient), "update/w": np.ones((3, 2)), "position/w": np.arange(2)}
    one = Results(rows | {"output/0": np.array([[1.0], [2.0]])}, (1.0,))
    assert spread("float32", one, [one]).trajectory == []


def test_what_statistics_do_counts_for_gradients_as_it_is() -> None:
    """A draw of theirs is the most that was found, which ROOM makes no more of, and says nothing about outputs."""
    reference, draw, statistic = found(0.5), found(0.501), found(0.54, output=1.5)
    alone, both = spread("float32", reference, [draw]), spread("float32", reference, [draw], [statistic])
    assert alone.gradient == pytest.approx(0.001)
    assert both.gradient == pytest.approx(0.04 / ROOM)
    assert both.gradient_norm == pytest.approx(0.04 / ROOM / np.linalg.norm([1.0, 0.5]))
    assert (alone.output, both.output) == (0.0, 0.0)


def test_one_element_that_goes_the_other_way_is_among_what_later_losses_may_be_off() -> None:
    """Adam's and RMSprop's steps of a gradient near zero have either sign; SGD's are small, and float64 has none.

    Found in deepspeech2 at reduced size: PyTorch in float32 on another processor was refused for one element.
    """
    gradient = np.array([4.0, -4.0, 1e-6, 0.0])
    reference = Results({"gradient/w": gradient, "output/0": np.ones((2, 1))}, (2.0, 2.0, 1e-12, 4.0))
    warmed = AdamW(learning_rate=1e-3, schedule=Constant(warmup_steps=2))
    turned = 2 * 1e-3 * np.sqrt(8.0)
    for optimizer, steps in {
        None: (0.0, 0.0, 0.0),
        SGD(learning_rate=1e-3, momentum=0.9): (0.0, 0.0, 0.0),
        Adam(learning_rate=1e-3): (1.0, 1.0, 1.0),
        RMSprop(learning_rate=1e-3, decay=0.99): (10.0, 10.0, 10.0),
        RMSprop(learning_rate=1e-3, decay=0.99, momentum=0.5): (10.0, 15.0, 17.5),
        warmed: (0.5, 1.0, 1.0),
    }.items():
        first, *later = spread("float32", reference, [reference], optimizer=optimizer).losses
        assert first == 0.0
        assert later == pytest.approx([step * turned / 4.0 for step in steps])
        assert not any(spread("float64", reference, [reference], optimizer=optimizer).losses)


def test_where_statistics_are_off_as_many_elements_go_the_other_way_as_the_draws_show() -> None:
    """The root of their number counts; what is zero but for rounding is none, and draws that took steps add nothing.

    Found in deepspeech2 at reduced size, batch 16: Keras and MLX in float32 were refused for 38 and 37 elements.
    """
    rounding = np.full(100, 1e-18)
    gradient = {"gradient/w": np.array([4.0, -4.0, 1e-6, 2e-6]), "gradient/bias": rounding}
    other = {"gradient/w": np.array([4.0, -4.0, -1e-6, -2e-6]), "gradient/bias": -rounding}
    reference, draw = Results(gradient, (2.0, 2.0)), Results(other, (2.0, 2.0))
    adam = Adam(learning_rate=1e-3)
    one = spread("float32", reference, [draw], optimizer=adam).losses[1]
    assert one == pytest.approx(2 * 1e-3 * np.sqrt(8.0) / 2.0)
    two = spread("float32", reference, [draw], [draw, reference], optimizer=adam).losses[1]
    assert two == pytest.approx(np.sqrt(2.0) * one)
    assert spread("float32", reference, [draw], [reference], optimizer=adam).losses[1] == pytest.approx(one)


def test_an_element_that_goes_the_other_way_is_one_of_many() -> None:
    """Neither a lone scalar's gradient is usual, nor what a large array's sample has beside elements: its norm."""
    large = np.full(1_000_000, 0.01)
    arrays = {"gradient/w": sample(large), "gradient/scalar": np.array([2.0]), "output/0": np.ones((2, 1))}
    losses = spread(
        "float32", Results(arrays, (1.0, 1.0)), [Results(arrays, (1.0, 1.0))], optimizer=Adam(learning_rate=1e-3)
    ).losses
    assert losses[1] == pytest.approx(2 * 1e-3 * 0.01)


def test_a_gradient_that_cancels_makes_no_room_for_others() -> None:
    """What its terms' roundings leave of a zero counts on the largest gradient's scale, as certificates take it."""
    names = {"gradient/w": np.array([1.0]), "output/0": np.array([[1.0], [2.0]])}
    reference, draw = (Results(names | {"gradient/b": np.array([zero])}, (1.0,)) for zero in (1e-17, 1e-6))
    assert spread("float32", reference, [draw]).gradient == pytest.approx(1e-6)


@pytest.mark.parametrize("small", [0.5001, 0.5])
def test_statistics_that_do_less_than_roundings_change_nothing(small: Any) -> None:
    """The larger of both is what a contender may be off."""
    reference, draw = found(0.5), found(0.501)
    assert spread("float32", reference, [draw], [found(small)]) == spread("float32", reference, [draw])
