"""A copy on the device of all variables that a training step changes, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from bakeoff.frameworks.tensorflow import devices
from bakeoff.frameworks.tensorflow.replicas import components

if TYPE_CHECKING:
    from collections.abc import Sequence


def copies(variables: Sequence[Any]) -> list[Any]:
    """Return copies of Keras variables: a value that was only read shares its memory, and the next step would move."""
    own = [one for variable in variables for one in components(variable)]
    copied = [tf.raw_ops.DeepCopy(x=one.read_value()) for one in own]
    devices.synchronize()
    return copied


def put_back(variables: Sequence[Any], saved: Sequence[Any]) -> None:
    """Assign each variable a copy of its saved value, whose memory it takes over.

    Without the copy it would share the saved value's memory, and the next step would move. Writing into its own memory,
    by `variable[...].assign`, would have TensorFlow copy the variable at every later read (`copy_on_read_mode`),
    which makes all later steps longer (benchmarks/restoring.py).
    """
    own = [one for variable in variables for one in components(variable)]
    for one, value in zip(own, saved, strict=True):
        one.assign(tf.raw_ops.DeepCopy(x=value))
    devices.synchronize()
