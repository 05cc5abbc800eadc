"""Whether a training step is being traced or run in TensorFlow, and in which type its real numbers are made."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import keras
from keras.src.backend.common.variables import get_autocast_scope  # it has no public name

if TYPE_CHECKING:
    from collections.abc import Iterator

_in_training: ContextVar[bool] = ContextVar("in_training", default=False)
_seeds = itertools.count()


@contextmanager
def training() -> Iterator[None]:
    """Make the models called inside behave as in training; outside of it they are in evaluation."""
    token = _in_training.set(True)
    try:
        yield
    finally:
        _in_training.reset(token)


def in_training() -> bool:
    """Return whether a training step is being traced or run."""
    return _in_training.get()


def next_seed() -> int:
    """Return the seed of the next layer that draws: each has a stream of its own, the same in every process."""
    return next(_seeds)


def real() -> str:
    """Return the type of real numbers made now: in a model that of the computation, in a loss that of the variables."""
    scope = get_autocast_scope()
    return str(keras.config.floatx() if scope is None or scope.dtype is None else scope.dtype)
