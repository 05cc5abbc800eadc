"""Large convolutions in float64, a part of the batch at a time: for the reference alone, which then takes less memory.

In float64 PyTorch's convolution on a processor first copies every window of its input, of the whole batch, so that what
is left is a product of matrices: with a kernel of 3 that is nine inputs. Of VGG-16's second layer and 64 samples they
are 15 GB, where the layer's outputs are 1.6 GB (benchmarks/reference_convolutions.py).
"""

from __future__ import annotations

import math
from typing import Any

import torch

from bakeoff.frameworks.torch.dispatched import Dispatched

LARGE_BYTES = 512 << 20
"""Of windows from where on a convolution is taken apart: of those with less, nothing is another call than PyTorch's."""

PART_BYTES = 32 << 20
"""Of a part's windows for each thread, unless those of one sample are more: half of what the reference's malloc keeps
for the next part (`measure.memory.LARGE_ARRAYS`)."""

ITEM_BYTES = 8

_FORWARD = torch.ops.aten.convolution.default
_BACKWARD = torch.ops.aten.convolution_backward.default


class Parts(Dispatched):
    """Within it large convolutions in float64 are computed a part of the batch at a time, backward passes too.

    PyTorch's kernel goes sample by sample itself: the calls are the same, and gradients by the weight, which it adds up
    over samples, are added up over parts.
    """

    def computed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the operation, or its parts one after another."""
        if function is _FORWARD and (parts := _parts(*args)):
            return _forward(args, parts)
        if function is _BACKWARD and (parts := _parts(*args[1:])):
            return _backward(args, parts)
        return function(*args, **kwargs)


def _parts(*args: Any) -> list[slice]:
    """Return the samples of each part; none where the whole batch is computed at once.

    The arguments are those of ATen's convolution, or of its backward pass behind the gradient: the same, but for one of
    the bias.
    """
    x, weight, _, stride, padding, dilation, is_transposed, *_ = args
    if x.dtype != torch.float64 or x.device.type != "cpu" or is_transposed or math.prod(weight.shape[2:]) == 1:
        return []  # a kernel of 1 has its input for windows
    spans = zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    places = math.prod(
        (size + 2 * pad - apart * (kernel - 1) - 1) // step + 1 for size, kernel, step, pad, apart in spans
    )
    windows_bytes = ITEM_BYTES * places * x.shape[1] * math.prod(weight.shape[2:])
    if len(x) * windows_bytes < LARGE_BYTES:
        return []
    count = max(1, PART_BYTES * torch.get_num_threads() // windows_bytes)
    return [slice(first, first + count) for first in range(0, len(x), count)]


def _forward(args: tuple[Any, ...], parts: list[slice]) -> Any:
    """Return the outputs of a convolution."""
    x, *others = args
    outputs = None
    for part in parts:
        found = _FORWARD(x[part], *others)
        if outputs is None:
            outputs = found.new_empty((len(x), *found.shape[1:]))
        outputs[part] = found
    return outputs


def _backward(args: tuple[Any, ...], parts: list[slice]) -> tuple[Any, ...]:
    """Return the gradients of a convolution by its input, its weight and its bias; None for those that nobody asks."""
    gradient, x, *others = args
    by_input: Any = None
    of_all: list[Any] = []
    for part in parts:
        found, *sums = _BACKWARD(gradient[part], x[part], *others)
        if found is not None:
            by_input = torch.empty_like(x) if by_input is None else by_input
            by_input[part] = found
        of_all = [_added(*both) for both in zip(of_all, sums, strict=True)] if of_all else sums
    return (by_input, *of_all)


def _added(total: Any, more: Any) -> Any:
    """Return a sum, in its place; None of what nobody asks."""
    return None if total is None else total.add_(more)
