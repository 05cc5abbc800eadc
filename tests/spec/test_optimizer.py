"""Optimisers in words."""

from __future__ import annotations

from bakeoff.spec.optimizer import SGD, Adam, AdamW, RMSprop, describe
from bakeoff.spec.schedule import Exponential


def test_what_is_no_default_is_told() -> None:
    """A reader sees each number of a recipe, and none that every library has by itself."""
    assert describe(Adam(learning_rate=1e-3)) == "Adam of rate 0.001"
    assert describe(SGD(learning_rate=0.1, momentum=0.9)) == "SGD of rate 0.1, momentum 0.9"
    gpt = AdamW(learning_rate=6e-4, beta2=0.95, weight_decay=0.1, no_decay=("*.bias",))
    assert describe(gpt) == "AdamW of rate 0.0006, beta2 0.95, weight decay 0.1, no decay of *.bias"
    tuned = SGD(learning_rate=0.1, frozen=("stem.*", "*.bias"), rates=(("body.*", 0.1), ("head.*", 2.0)))
    groups = "without training stem.* *.bias, 0.1 times the rate for body.*, 2 times the rate for head.*"
    assert describe(tuned) == f"SGD of rate 0.1, {groups}"
    recipe = RMSprop(
        learning_rate=0.004,
        decay=0.9,
        epsilon=1e-3,
        momentum=0.9,
        weight_decay=1e-5,
        schedule=Exponential(every=48_044, factor=0.97, staircase=True),
    )
    told = "RMSprop of rate 0.004, decay 0.9, epsilon 0.001, momentum 0.9, weight decay 1e-05, the rate times 0.97"
    assert describe(recipe) == f"{told} at once behind every 48044 steps"
