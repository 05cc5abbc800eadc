"""Schedules in words."""

from __future__ import annotations

from bakeoff.spec.schedule import (
    CosineRestarts,
    Cyclic,
    Exponential,
    OneCycle,
    StepDecay,
    WarmupStableDecay,
    schedule_words,
)


def test_a_rate_that_falls_often_is_told_in_one_line() -> None:
    """A few steps are listed; of many, how many there are."""
    assert schedule_words(StepDecay(boundaries=(30, 60))) == "times 0.1 after steps 30, 60"
    often = StepDecay(boundaries=tuple(range(100, 1100, 100)), factor=0.97, warmup_steps=5)
    assert schedule_words(often) == "times 0.97 after each of 10 steps from 100 to 1000, warm-up of 5 steps"


def test_an_exponential_says_whether_it_falls_in_steps() -> None:
    """PyTorch calls the one StepLR, the other ExponentialLR."""
    assert schedule_words(Exponential(every=751, factor=0.97)) == "times 0.97 evenly over every 751 steps"
    steps = Exponential(every=751, factor=0.97, staircase=True, warmup_steps=5)
    assert schedule_words(Exponential(every=1, factor=0.97)) == "times 0.97 in each step"
    assert schedule_words(steps) == "times 0.97 at once behind every 751 steps, warm-up of 5 steps"


def test_what_rises_and_falls_is_told() -> None:
    """Each says where from, where to, and when."""
    longer = CosineRestarts(every=50, growth=2, final=0.1, warmup_steps=5)
    assert schedule_words(CosineRestarts(every=50)) == "cosine to 0 of it in cycles of 50 steps that restart"
    told = "cosine to 0.1 of it in cycles of 50 steps, each 2 times as long as the last, that restart"
    assert schedule_words(longer) == f"{told}, warm-up of 5 steps"
    triangles = Cyclic(up_steps=20, down_steps=30, low=0.1)
    assert schedule_words(triangles) == "in triangles from 0.1 of it, 20 steps up and 30 down"
    cycle = OneCycle(steps=100, rise_steps=30)
    told = "in one cycle from 0.04 of it, up to step 30 and down to 4e-06 of it in step 100"
    assert schedule_words(cycle) == told
    stable = WarmupStableDecay(steps=100, decay_steps=20)
    assert schedule_words(stable) == "the same until step 80, then linear to 0 of it in step 100"
