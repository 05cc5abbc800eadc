"""How flax's normalisations take a variance: the option `variance`.

In one pass, flax's own default, it is the mean of squares less the square of the mean, and loses digits where the mean
is many standard deviations: all of float32's from some 4,000 on. In two passes it is the mean of squared differences.
"""

from __future__ import annotations

WAYS = {"one-pass": True, "two-pass": False}
"""By the values of the option, what flax calls `use_fast_variance`."""


class _InForce:
    """The way of this process."""

    name = "one-pass"


def choose(name: str) -> None:
    """Choose one of WAYS for every normalisation that this process makes from now on."""
    _InForce.name = name


def chosen() -> str:
    """Return the way that is in force."""
    return _InForce.name


def is_fast() -> bool:
    """Return it as flax takes it."""
    return WAYS[_InForce.name]
