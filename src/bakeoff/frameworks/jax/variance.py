"""How flax's normalisations take a variance: the option `variance`.

In one pass, flax's own default, it is the mean of squares less the square of the mean, and loses digits where the mean
is many standard deviations: all of float32's from some 4,000 on. In two passes it is the mean of squared differences.
"""

from __future__ import annotations

from bakeoff.frameworks.in_force import InForce

WAYS = {"one-pass": True, "two-pass": False}
"""By the values of the option, what flax calls `use_fast_variance`."""


in_force = InForce("one-pass")
"""The way of every normalisation that this process makes from now on."""


def is_fast() -> bool:
    """Return it as flax takes it."""
    return WAYS[in_force.value]
