"""What a model and its parts derive from in TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class Module(tf.Module):
    """Base class: layers are attributes set in __init__, computation is forward(self, x, ...)."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; every model defines its own."""
        msg = f"{type(self).__name__} has no method forward"
        raise NotImplementedError(msg)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call forward."""
        return self.forward(*args, **kwargs)
