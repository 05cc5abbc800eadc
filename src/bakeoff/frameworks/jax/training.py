"""Whether a training step is being traced, and the keys that its random numbers are drawn from."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import jax

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flax import nnx

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


@contextmanager
def folded(key: jax.Array | None, step: jax.Array) -> Iterator[None]:
    """Draw from `key` folded with the number of a loop's step, which is traced once for all of them.

    Nothing changes for None, where nothing is drawn.
    """
    if key is None:
        yield
        return
    with training(jax.random.fold_in(key, step)):
        yield


def drawn() -> jax.Array | None:
    """Return the next key of the innermost `training`; None where nothing is drawn, as in evaluation."""
    stream = _training[-1] if _training else None
    return None if stream is None else next(stream)


def in_training(module: nnx.Module) -> bool:  # noqa: ARG001 - in JAX it is the step that is in training
    """Return whether a training step is being traced."""
    return bool(_training)
