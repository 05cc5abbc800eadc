"""How the learning rate changes from step to step: the factor that an optimiser's rate is multiplied by.

`t` counts steps from 1, whatever a framework counts from. Each schedule rises over its first `warmup_steps` from
1 / warmup_steps to 1: the first step already moves the parameters. `progress` is min(1, (t - warmup_steps) / (steps -
warmup_steps)): 0 in the last step of the warm-up, 1 in step `steps` and ever after.
"""

from __future__ import annotations

import msgspec


class Constant(msgspec.Struct, frozen=True, tag="constant", kw_only=True):
    """Behind the warm-up 1."""

    warmup_steps: int = 0


class Linear(msgspec.Struct, frozen=True, tag="linear", kw_only=True):
    """Behind the warm-up 1 + (final - 1) * progress."""

    steps: int
    warmup_steps: int = 0
    final: float = 0.0
    """The factor in step `steps` and ever after."""


class Polynomial(msgspec.Struct, frozen=True, tag="polynomial", kw_only=True):
    """Behind the warm-up final + (1 - final) * (1 - progress)^power, "poly" in Chen et al., arXiv 1706.05587, 4.1."""

    steps: int
    power: float
    warmup_steps: int = 0
    final: float = 0.0
    """The factor in step `steps` and ever after."""


class Cosine(msgspec.Struct, frozen=True, tag="cosine", kw_only=True):
    """Behind the warm-up final + (1 - final) * (1 + cos(pi * progress)) / 2 (Loshchilov and Hutter 2017, eq. 5)."""

    steps: int
    warmup_steps: int = 0
    final: float = 0.0
    """The factor in step `steps` and ever after."""


class InverseSquareRoot(msgspec.Struct, frozen=True, tag="inverse square root", kw_only=True):
    """Behind the warm-up sqrt(warmup_steps / t) (Vaswani et al. 2017, equation 3); without one sqrt(1 / t)."""

    warmup_steps: int = 0


class StepDecay(msgspec.Struct, frozen=True, tag="step decay", kw_only=True):
    """Behind the warm-up factor^n, where n is how many of the boundaries are below t: its own step is before."""

    boundaries: tuple[int, ...]
    factor: float = 0.1
    warmup_steps: int = 0


class Exponential(msgspec.Struct, frozen=True, tag="exponential", kw_only=True):
    """Behind the warm-up factor^((t - 1 - warmup_steps) / every), the exponent rounded down with staircase.

    With it PyTorch's StepLR; without it, and with every=1, its ExponentialLR.
    """

    every: int
    """Steps in which the rate falls by the factor once."""
    factor: float
    staircase: bool = False
    warmup_steps: int = 0


_MOST_LISTED = 5
"""Steps in one sentence: recipes have two or three, or one every few epochs."""

Schedule = Constant | Linear | Polynomial | Cosine | InverseSquareRoot | StepDecay | Exponential


def schedule_words(schedule: Schedule) -> str:
    """Return it in words: "cosine to 0.1 of it in step 600000, warm-up of 2000 steps"."""
    match schedule:
        case Linear(steps=steps, final=final):
            text = f"linear to {final:g} of it in step {steps}"
        case Polynomial(steps=steps, power=power, final=final):
            text = f"with the power {power:g} to {final:g} of it in step {steps}"
        case Cosine(steps=steps, final=final):
            text = f"cosine to {final:g} of it in step {steps}"
        case InverseSquareRoot():
            text = "falling with the inverse square root of the step"
        case StepDecay(boundaries=boundaries, factor=factor):
            text = f"times {factor:g} after {_steps_in_words(boundaries)}"
        case Exponential(every=1, factor=factor):
            text = f"times {factor:g} in each step"
        case Exponential(every=every, factor=factor, staircase=staircase):
            text = f"times {factor:g} {'at once behind' if staircase else 'evenly over'} every {every} steps"
        case _:
            text = "constant"
    return f"{text}, warm-up of {schedule.warmup_steps} steps" if schedule.warmup_steps else text


def _steps_in_words(boundaries: tuple[int, ...]) -> str:
    """Return the steps behind which a rate falls; of many, how many there are."""
    if len(boundaries) > _MOST_LISTED:
        return f"each of {len(boundaries)} steps from {boundaries[0]} to {boundaries[-1]}"
    return f"steps {', '.join(map(str, boundaries))}"
