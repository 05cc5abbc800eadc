"""What a step with per-sample gradients does, as differentially private training has it.

Algorithm 1 of Abadi et al. 2016, "Deep Learning with Differential Privacy" (arXiv 1607.00133), with the whole batch as
one lot: for each sample i of a batch of n, g_i is the gradient of the loss on the batch of sample i alone, and

    norm_i = the L2 norm of g_i over all parameters together
    g = (sum_i g_i * max_norm / max(norm_i, max_norm) + noise) / n

The factor is min(1, max_norm / norm_i), and 1 where the norm is 0. noise is N(0, (max_norm * noise_multiplier)^2) for
each element of each parameter, drawn once a step by the framework's own generator, behind the sum; none is drawn where
the multiplier is 0. The workload's optimiser then makes its step on g. Whoever wants a guarantee of privacy has to draw
batches at random and keep an account besides: neither is a step's work, and bakeoff does neither.
"""

from __future__ import annotations

import math

import msgspec

from bakeoff.spec.errors import UsageError

OPTION = "per_sample"
"""The option that says how a framework computes per-sample gradients."""

PLAIN = "loop"
"""Its value that computes one sample after another, as the definition has it: what a reference runs."""


class PerSample(msgspec.Struct, frozen=True, kw_only=True):
    """How the gradients of a comparison's steps are clipped, and the noise on their sum; the same for all contenders.

    max_norm is that of the experiments of Subramani et al. 2020 (arXiv 2010.09063, fast-dpsgd: `l2_norm_clip` 1.0),
    who add noise with a multiplier of 1.1; without noise the arithmetic can be held to the last step.
    """

    max_norm: float = 1.0
    noise_multiplier: float = 0.0

    def check(self) -> None:
        """Raise UsageError for a number that cannot be, with its valid range."""
        checks = (
            ("max norm", self.max_norm, self.max_norm > 0, "above 0, such as 1.0"),
            ("noise multiplier", self.noise_multiplier, self.noise_multiplier >= 0, "from 0 on, such as 1.1; 0: none"),
        )
        for name, value, is_valid, valid in checks:
            if not (is_valid and math.isfinite(value)):
                msg = f"{name} {value} cannot be; valid: a number {valid}"
                raise UsageError(msg)

    @property
    def is_noisy(self) -> bool:
        """Whether a step draws noise."""
        return self.noise_multiplier > 0

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on the sum of the clipped gradients."""
        return self.max_norm * self.noise_multiplier


def clipping_words(one: PerSample | None) -> str:
    """Return it in a few words: "clipped to 1 with noise of 1.1"; empty for None."""
    if one is None:
        return ""
    return f"clipped to {one.max_norm:g}" + (f" with noise of {one.noise_multiplier:g}" if one.is_noisy else "")


def clipping_sentence(one: PerSample) -> str:
    """Return it in words: "each sample's gradient clipped to a norm of 1, noise of 1.1 times that on their sum"."""
    clipped = f"each sample's gradient clipped to a norm of {one.max_norm:g}"
    return f"{clipped}, noise of {one.noise_multiplier:g} times that on their sum" if one.is_noisy else clipped
