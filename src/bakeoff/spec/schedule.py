"""How the learning rate changes from step to step: the factor that an optimiser's rate is multiplied by.

`t` counts steps from 1, whatever a framework counts from. Each schedule but OneCycle rises over its first
`warmup_steps` from 1 / warmup_steps to 1: the first step already moves the parameters. `progress` is
min(1, (t - warmup_steps) / (steps - warmup_steps)): 0 in the last step of the warm-up, 1 in step `steps` and ever
after.
"""

from __future__ import annotations

from typing import ClassVar

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


class CosineRestarts(msgspec.Struct, frozen=True, tag="cosine restarts", kw_only=True):
    """Behind the warm-up final + (1 - final) * (1 + cos(pi * x / n)) / 2 (Loshchilov and Hutter 2017, equation 5).

    x is how many of the n steps of its cycle are done: the first cycle has `every` steps, each later one `growth` times
    as many as the one before. It is PyTorch's CosineAnnealingWarmRestarts.
    """

    every: int
    """Steps of the first cycle."""
    growth: int = 1
    final: float = 0.0
    """The factor that a cycle falls towards, and does not reach: the step that would have it begins the next one."""
    warmup_steps: int = 0


class Cyclic(msgspec.Struct, frozen=True, tag="cyclic", kw_only=True):
    """Behind the warm-up triangles: from `low` in a straight line to 1 in `up_steps`, and back in `down_steps`.

    The step behind the warm-up has `low` (Smith 2017, arXiv 1506.01186, section 3.1). It is PyTorch's CyclicLR in its
    mode "triangular", whose momentum does not cycle here.
    """

    up_steps: int
    down_steps: int
    low: float
    warmup_steps: int = 0


class OneCycle(msgspec.Struct, frozen=True, tag="one cycle", kw_only=True):
    """First a rise by half a cosine, from `first` in step 1 to 1 in step `rise_steps`, then a fall by another one.

    It has fallen to `final` in step `steps` and ever after (Smith and Topin 2018, arXiv 1708.07120). It is PyTorch's
    OneCycleLR, whose momentum does not cycle here, with max_lr as the optimiser's learning rate, pct_start =
    rise_steps / steps, div_factor = 1 / first and final_div_factor = first / final.
    """

    steps: int
    rise_steps: int
    first: float = 1 / 25
    final: float = 1 / 25e4
    warmup_steps: ClassVar[int] = 0
    """Its rise is its own."""


class WarmupStableDecay(msgspec.Struct, frozen=True, tag="warmup stable decay", kw_only=True):
    """Behind the warm-up 1, and in the last `decay_steps` of `steps` a straight line to `final`, which then stays.

    Source: Hu et al. 2024, arXiv 2404.06395, section 4, with the linear decay of Hägele et al. 2024, arXiv 2405.18392.
    """

    steps: int
    decay_steps: int
    warmup_steps: int = 0
    final: float = 0.0
    """The factor in step `steps` and ever after."""


_MOST_LISTED = 5
"""Steps in one sentence: recipes have two or three, or one every few epochs."""

Schedule = (
    Constant
    | Linear
    | Polynomial
    | Cosine
    | InverseSquareRoot
    | StepDecay
    | Exponential
    | CosineRestarts
    | Cyclic
    | OneCycle
    | WarmupStableDecay
)


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
            text = _cycle_words(schedule)
    return f"{text}, warm-up of {schedule.warmup_steps} steps" if schedule.warmup_steps else text


def _cycle_words(schedule: Schedule) -> str:
    """Return those in words that rise more than in a warm-up, or stay before they fall; any other is constant."""
    match schedule:
        case CosineRestarts(every=every, growth=growth, final=final):
            longer = f", each {growth} times as long as the last," if growth > 1 else ""
            return f"cosine to {final:g} of it in cycles of {every} steps{longer} that restart"
        case Cyclic(up_steps=up, down_steps=down, low=low):
            return f"in triangles from {low:g} of it, {up} steps up and {down} down"
        case OneCycle(steps=steps, rise_steps=rise, first=first, final=final):
            return f"in one cycle from {first:g} of it, up to step {rise} and down to {final:g} of it in step {steps}"
        case WarmupStableDecay(steps=steps, decay_steps=decay, final=final):
            return f"the same until step {steps - decay}, then linear to {final:g} of it in step {steps}"
        case _:
            return "constant"


def _steps_in_words(boundaries: tuple[int, ...]) -> str:
    """Return the steps behind which a rate falls; of many, how many there are."""
    if len(boundaries) > _MOST_LISTED:
        return f"each of {len(boundaries)} steps from {boundaries[0]} to {boundaries[-1]}"
    return f"steps {', '.join(map(str, boundaries))}"
