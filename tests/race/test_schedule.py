from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from bakeoff.race.specs import start_order
from bakeoff.race.stages import rounds

STEP_S = st.floats(1e-6, 30.0)
LABELS = ["a", "b", "c", "d"]


@given(st.lists(STEP_S, min_size=1, max_size=8))
def test_blocks_obey_their_rules(steps_s: list[float]) -> None:
    """Each contender has at least four blocks and twelve timed steps; each block a lead-in of 0.1 s and three steps."""
    count = rounds.turn_count(steps_s)
    assert count >= 4
    assert count % 2 == 0
    for step_s in steps_s:
        plan = rounds.block_plan(step_s, count)
        assert plan.lead >= 3
        assert plan.lead * step_s >= 0.1 * (1 - 1e-9)
        assert plan.steps >= 3
        assert plan.steps * step_s >= 0.1
        assert plan.steps * count >= 12


@given(st.floats(1e-6, 0.02))
def test_short_steps_have_twelve_blocks_of_their_length(step_s: float) -> None:
    """Below 20 ms a step there are twelve blocks, each timed for 0.15 s, to the next whole step."""
    assert rounds.turn_count([step_s]) == 12
    timed_s = rounds.block_plan(step_s, 12).steps * step_s
    assert 0.15 * (1 - 1e-9) <= timed_s < 0.15 + 3 * step_s


@pytest.mark.parametrize(("step_s", "turns", "lead", "steps"), [(0.03, 8, 4, 5), (0.05, 4, 3, 3), (0.5, 4, 3, 3)])
def test_long_steps_have_fewer_blocks(step_s: float, turns: int, lead: int, steps: int) -> None:
    """Above 20 ms blocks are fewer, and above 0.1 s three steps are lead-in enough."""
    assert rounds.turn_count([step_s]) == turns
    assert rounds.block_plan(step_s, turns) == rounds.BlockPlan(lead, steps)


def test_the_slowest_decides_how_many_blocks() -> None:
    """All contenders of a round take the same turns."""
    assert rounds.turn_count([0.001, 0.5]) == rounds.turn_count([0.5]) == 4


@given(STEP_S)
def test_a_worker_alone_has_enough_steps(step_s: float) -> None:
    """Who runs alone is timed for 24 to 200 steps, to the next whole block, after one lead-in."""
    plan = rounds.alone_plan(step_s)
    assert plan.lead * step_s >= 0.1 * (1 - 1e-9)
    assert plan.lead >= 3
    assert 24 <= plan.steps * rounds.ALONE.blocks < 200 + rounds.ALONE.blocks


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.sampled_from([4, 6, 12]), st.integers(1, 4))
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
