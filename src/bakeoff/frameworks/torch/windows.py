"""Convolutions as one product of the windows of many samples, called as ATen's own are."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from torch.nn.functional import pad

if TYPE_CHECKING:
    from collections.abc import Sequence


def sides(x: Any, weight: Any, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]) -> list[int]:
    """Return the sides of the map that a convolution makes."""
    spans = zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    return [(size + 2 * beside - apart * (points - 1) - 1) // step + 1 for size, points, step, beside, apart in spans]


def convolution(
    x: Any, weight: Any, bias: Any, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], *_: Any
) -> Any:
    """Return the outputs of a convolution that is neither transposed nor in groups, samples and channels first."""
    windows, _ = _windows(x, weight, stride, padding, dilation)
    outputs = windows @ weight.reshape(len(weight), -1).T
    outputs = outputs if bias is None else outputs.add_(bias)
    return outputs.view(len(x), *sides(x, weight, stride, padding, dilation), -1).movedim(-1, 1).contiguous()


def convolution_backward(  # noqa: PLR0913, PLR0917 - ATen's own arguments
    gradient: Any,
    x: Any,
    weight: Any,
    bias_sizes: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    is_transposed: bool,  # noqa: FBT001
    output_padding: Sequence[int],
    groups: int,
    asked: Sequence[bool],
) -> tuple[Any, Any, Any]:
    """Return the gradients by the input, the weight and the bias; None for those that are not asked for."""
    del bias_sizes, is_transposed, output_padding, groups
    windows, padded = _windows(x, weight, stride, padding, dilation)
    flat = gradient.movedim(1, -1).reshape(-1, len(weight))
    by_weight = (flat.T @ windows).view_as(weight) if asked[1] else None
    by_bias = flat.sum(0) if asked[2] else None
    if not asked[0]:
        return None, by_weight, by_bias
    each = flat @ weight.reshape(len(weight), -1)
    each = each.view(len(x), *gradient.shape[2:], *weight.shape[1:]).movedim(x.ndim - 1, 1)
    by_padded = x.new_zeros(padded)
    for place in product(*map(range, weight.shape[2:])):
        spans = zip(place, dilation, stride, gradient.shape[2:], strict=True)
        reached = [slice(at * apart, at * apart + step * (count - 1) + 1, step) for at, apart, step, count in spans]
        by_padded[(slice(None), slice(None), *reached)].add_(each[(..., *place)])
    inside = [slice(beside, beside + size) for beside, size in zip(padding, x.shape[2:], strict=True)]
    return by_padded[(slice(None), slice(None), *inside)].contiguous(), by_weight, by_bias


def _windows(
    x: Any, weight: Any, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> tuple[Any, tuple[int, ...]]:
    """Return the points under each place of the kernel, a row for each sample and place, and the shape of x padded."""
    padded = pad(x, [beside for beside in reversed(padding) for _ in range(2)]) if any(padding) else x
    places = sides(x, weight, stride, padding, dilation)
    sample, channel, *steps = padded.stride()
    between = [step * far for step, far in zip(steps, stride, strict=True)]
    within = [step * far for step, far in zip(steps, dilation, strict=True)]
    view = padded.as_strided((len(x), *places, *weight.shape[1:]), (sample, *between, channel, *within))
    return view.reshape(len(x) * math.prod(places), -1), tuple(padded.shape)
