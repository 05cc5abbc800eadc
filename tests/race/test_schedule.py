from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from bakeoff.race.specs import start_order
from bakeoff.race.stages import rounds

STEP_S = st.floats(1e-6, 30.0)
LABELS = ["a", "b", "c", "d"]


@given(st.lists(STEP_S, min_size=1, max_size=8))
def test_blocks_obey_their_rules(steps_s: list[float]) -> None:
    """A lead-in lasts 0.03 s to the next whole step; all time as many steps, 0.075 s of them in the middle."""
    steps = rounds.timed_steps(steps_s)
    assert steps >= 2
    assert steps * min(steps_s) <= 0.075 * (1 + 1e-9) + 2 * min(steps_s)
    assert steps * max(steps_s) >= 0.075 * (1 - 1e-9)
    for step_s in steps_s:
        lead_s = rounds.lead_steps(step_s) * step_s
        assert 0.03 * (1 - 1e-9) <= lead_s < 0.03 + 2 * step_s


def test_an_equal_number_of_steps_is_fair_to_both() -> None:
    """Of two contenders, one nine times as fast, one has a third of 0.075 s and the other three times as much."""
    assert rounds.timed_steps([0.001, 0.0089]) == 26


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.sampled_from([2, 6, 8]), st.integers(1, 4))
def test_turns_are_mirrored_pairs(seed: int, round_number: int, count: int, contenders: int) -> None:
    """Every two turns are an order of all contenders and its mirror image, so that a drift takes from each the same."""
    labels = LABELS[:contenders]
    orders = rounds.turn_orders(labels, seed, round_number, count)
    assert len(orders) == count
    assert all(sorted(order) == labels for order in orders)
    assert all(second == first[::-1] for first, second in zip(orders[::2], orders[1::2], strict=True))
    positions = {label: sum(order.index(label) for order in orders) for label in labels}
    assert len(set(positions.values())) == 1


@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_orders_follow_from_the_seed(seed: int, round_number: int) -> None:
    """The same seed gives the same orders in every process."""
    assert rounds.turn_orders(LABELS, seed, round_number, 12) == rounds.turn_orders(LABELS, seed, round_number, 12)
    assert sorted(start_order(LABELS, seed, round_number)) == LABELS


def test_every_order_comes_up() -> None:
    """Over rounds each contender starts first about as often as the others, in blocks and in builds."""
    numbers = range(1, 401)
    for first in (
        [start_order(LABELS, 3, number)[0] for number in numbers],
        [rounds.turn_orders(LABELS, 3, number, 2)[0][0] for number in numbers],
    ):
        assert all(60 <= first.count(label) <= 140 for label in LABELS)
