"""A context that computes operations in its own way: the reference's roundings, and its convolutions in parts."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_COMPOSITE = "CompositeImplicitAutograd"
"""The key under which PyTorch keeps what an operation is made of, for all that differentiates the parts alone."""


class Dispatched(TorchDispatchMode):
    """Within it `computed` computes each operation, backward passes too.

    In inference_mode PyTorch gives a context operations as the user writes them (conv2d, layer_norm, linear), and else
    what these are made of: here it is that in either, so that both are computed alike.
    """

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Compute an operation, or what it is made of."""
        del types
        if _is_composite(function):
            with self:
                return function.decompose(*args, **(kwargs or {}))
        return self.computed(function, args, kwargs or {})

    def computed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return an operation's results."""
        raise NotImplementedError


@cache
def _is_composite(function: Any) -> bool:
    """Return whether an operation is made of others."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), _COMPOSITE))  # noqa: SLF001 - no other word
