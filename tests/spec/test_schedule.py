"""Schedules in words."""

from __future__ import annotations

from bakeoff.spec.schedule import Exponential, StepDecay, schedule_words


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
