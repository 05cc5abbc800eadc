"""A copy on the device of all variables that a training step changes, and the way back into their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Sequence


def copies(variables: Sequence[Any]) -> list[Any]:
    """Return copies of Keras variables: a value that was only read shares its memory, and the next step would move."""
    copied = [tf.raw_ops.DeepCopy(x=variable.value.read_value()) for variable in variables]
    tf.test.experimental.sync_devices()
    return copied


def put_back(variables: Sequence[Any], saved: Sequence[Any]) -> None:
    """Copy into the variables' own memory; a plain `assign` would have them share that of the copies and then move."""
    for variable, value in zip(variables, saved, strict=True):
        variable.value[...].assign(value)
    tf.test.experimental.sync_devices()
