"""Convolutions in float64 by other calls: for the reference alone, which then takes less memory and less time.

In float64 PyTorch's convolution on a processor first copies every window of its input, of the whole batch, so that what
is left is a product of matrices: with a kernel of 3 that is nine inputs. Of VGG-16's second layer and 64 samples they
are 15 GB, where the layer's outputs are 1.6 GB. A part of the batch at a time takes less.

Then it multiplies the windows of one sample after another. Where a map has few places, each product reads the whole
weight for little, as in the later layers of ResNet-50 on images of 32 x 32, which have sixteen places down to one.
There the windows of many samples are multiplied at once (benchmarks/reference_convolutions.py).
"""

from __future__ import annotations

import math
from typing import Any

import torch

from bakeoff.frameworks.torch import windows
from bakeoff.frameworks.torch.dispatched import Dispatched

LARGE_BYTES = 512 << 20
"""Of windows from where on a convolution is taken apart: of those with less, nothing is another call than PyTorch's."""

PART_BYTES = 32 << 20
"""Of a part's windows for each thread, unless those of one sample are more: half of what the reference's malloc keeps
for the next part (`measure.memory.LARGE_ARRAYS`)."""

FEW_PLACES = 64
"""Of a map, below which samples are multiplied together. Tried on one core of an AMD EPYC of 2025: 7 x 7 places and
fewer took less time so, and 8 x 8 of 64 channels and 14 x 14 of 256 took more."""

LARGE_WEIGHT = 65_536
"""Elements of a weight, half a megabyte, from where on samples are multiplied together: a smaller one stays in a core's
cache for the next sample."""

ITEM_BYTES = 8

_FORWARD = torch.ops.aten.convolution.default
_BACKWARD = torch.ops.aten.convolution_backward.default


class Parts(Dispatched):
    """Within it convolutions in float64 are computed a part of the batch at a time where that is less work or memory.

    Backward passes are, too: gradients by the weight, which PyTorch's kernel adds up over samples, are added up over
    parts.
    """

    def computed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the operation, or its parts one after another."""
        if function is _FORWARD and (parts := _parts(*args)):
            return _forward(windows.convolution if _has_few(*args) else _FORWARD, args, parts)
        if function is _BACKWARD and (parts := _parts(*args[1:])):
            return _backward(windows.convolution_backward if _has_few(*args[1:]) else _BACKWARD, args, parts)
        return function(*args, **kwargs)


def _parts(*args: Any) -> list[slice]:
    """Return the samples of each part; none where the convolution is PyTorch's own call.

    The arguments are those of ATen's convolution, or of its backward pass behind the gradient: the same, but for one of
    the bias.
    """
    x, weight, _, stride, padding, dilation, is_transposed, *_ = args
    if x.dtype != torch.float64 or x.device.type != "cpu" or is_transposed:
        return []
    places = math.prod(windows.sides(x, weight, stride, padding, dilation))
    windows_bytes = ITEM_BYTES * places * x.shape[1] * math.prod(weight.shape[2:])
    # A kernel of 1 has its input for windows.
    is_large = math.prod(weight.shape[2:]) > 1 and len(x) * windows_bytes >= LARGE_BYTES
    if not is_large and not _has_few(*args):
        return []
    count = max(1, PART_BYTES * torch.get_num_threads() // windows_bytes)
    return [slice(first, first + count) for first in range(0, len(x), count)]


def _has_few(*args: Any) -> bool:
    """Return whether a map of few places is multiplied by a large weight, for more than one sample."""
    x, weight, _, stride, padding, dilation, _, _, groups, *_ = args
    places = math.prod(windows.sides(x, weight, stride, padding, dilation))
    return groups == 1 and len(x) > 1 and places < FEW_PLACES and weight.numel() >= LARGE_WEIGHT


def _forward(call: Any, args: tuple[Any, ...], parts: list[slice]) -> Any:
    """Return the outputs of a convolution."""
    x, *others = args
    outputs = None
    for part in parts:
        found = call(x[part], *others)
        if outputs is None:
            outputs = found.new_empty((len(x), *found.shape[1:]))
        outputs[part] = found
    return outputs


def _backward(call: Any, args: tuple[Any, ...], parts: list[slice]) -> tuple[Any, ...]:
    """Return the gradients of a convolution by its input, its weight and its bias; None for those that nobody asks."""
    gradient, x, *others = args
    by_input: Any = None
    of_all: list[Any] = []
    for part in parts:
        found, *sums = call(gradient[part], x[part], *others)
        if found is not None:
            by_input = torch.empty_like(x) if by_input is None else by_input
            by_input[part] = found
        of_all = [_added(*both) for both in zip(of_all, sums, strict=True)] if of_all else sums
    return (by_input, *of_all)


def _added(total: Any, more: Any) -> Any:
    """Return a sum, in its place; None of what nobody asks."""
    return None if total is None else total.add_(more)
