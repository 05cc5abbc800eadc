"""Whether a training step is being traced in JAX, and the keys that its layers draw from."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import jax

if TYPE_CHECKING:
    from collections.abc import Iterator

_training: list[Iterator[jax.Array] | None] = []
"""The streams of keys in force while training steps are traced, innermost last; empty in evaluation."""


@contextmanager
def training(key: jax.Array | None) -> Iterator[None]:
    """Make the models called inside behave as in training; Dropout draws from `key`, and drops nothing for None.

    Each Dropout gets a key of its own.
    """
    _training.append(None if key is None else (jax.random.fold_in(key, number) for number in range(2**31)))
    try:
        yield
    finally:
        _training.pop()


def in_training() -> bool:
    """Return whether a training step is being traced."""
    return bool(_training)


def next_key() -> jax.Array | None:
    """Return the next key of the innermost `training`; None in evaluation, and where no key was set."""
    stream = _training[-1] if _training else None
    return None if stream is None else next(stream)
