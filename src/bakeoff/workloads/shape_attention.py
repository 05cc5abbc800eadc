"""Attention over shapes: what goes together, what is refused, and its two products."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bakeoff.workloads.layers import Dropout, Layer
from bakeoff.workloads.layers_maps import StochasticDepth
from bakeoff.workloads.shapes import LayoutError, Shape, check_kind, check_real

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bakeoff.workloads.shape_functions import Counter

AXES = 4
"""(batch, length, heads, features); (batch, heads, length of q, length of k) of a mask."""

_ORDER = "; each array is (batch, length, heads, features)"
"""What is told of lengths that do not fit: other libraries have the heads before the length."""


class Attention(NamedTuple):
    """The arguments of the vocabulary's `attention`."""

    q: Any
    k: Any
    v: Any
    causal: Any
    mask: Any
    bias: Any
    scale: Any
    dropout: Any


def attended(counter: Counter, asked: Attention) -> Shape:
    """Count both products of every head, and return (batch, length of q, heads of q, features of v).

    Every pair of positions is counted, also those that `causal` or a mask leaves out: a kernel that skips them does
    less than is counted, at most by half.
    """
    _check(asked)
    _check_dropout(counter, asked.dropout)
    q, k, v, bias = asked.q, asked.k, asked.v, asked.bias
    batch, length, heads, features = q.dims
    pairs = batch * heads * length * k.dims[1]
    are_trained = q.trained or k.trained
    counter.called("attention")
    counter.product(pairs * features, (q.trained, k.trained))
    are_trained = are_trained or (bias is not None and bias.trained)
    counter.product(pairs * v.dims[-1], (are_trained, v.trained))
    return Shape((batch, length, heads, v.dims[-1]), trained=are_trained or v.trained)


def _check(asked: Attention) -> None:
    """Raise LayoutError for arguments that do not go together."""
    q, k, v = asked.q, asked.k, asked.v
    for one in (q, k, v):
        check_kind("attention", one, "array")
        check_real("attention", one)
        if one.ndim != AXES:
            msg = f"nn.attention takes (batch, length, heads, features) three times; this is {one!r}"
            raise LayoutError(msg)
    batch, length, heads, features = q.dims
    if (k.dims[0], k.dims[3]) != (batch, features) or v.dims[:3] != k.dims[:3]:
        msg = f"nn.attention of q {q.dims}, k {k.dims} and v {v.dims}: they do not fit{_ORDER}"
        raise LayoutError(msg)
    if heads % k.dims[2]:
        msg = f"nn.attention of q with {heads} heads and k with {k.dims[2]}: the heads of q must be a multiple{_ORDER}"
        raise LayoutError(msg)
    if not isinstance(asked.causal, bool):
        msg = f"nn.attention: causal={asked.causal!r}: it must be True or False"
        raise LayoutError(msg)
    if asked.causal and length != k.dims[1]:
        msg = f"nn.attention: causal of {length} queries and {k.dims[1]} keys: both must be of one length{_ORDER}"
        raise LayoutError(msg)
    _check_scale(asked.scale)
    _check_added("mask", asked.mask, (batch, heads, length, k.dims[1]))
    _check_added("bias", asked.bias, (batch, heads, length, k.dims[1]))
    if asked.mask is not None and asked.mask.known is not None:
        _check_rows(asked.mask.known, (length, k.dims[1]), causal=asked.causal)


def _check_rows(mask: NDArray[np.bool_], pairs: tuple[int, int], *, causal: bool) -> None:
    """Raise LayoutError for a position of q, of `pairs` with k, that a mask of known values lets attend to nothing."""
    allowed = mask & np.tri(*pairs, dtype=np.bool_) if causal else mask
    empty = np.argwhere(~allowed.any(-1))
    if len(empty):
        row, how = tuple(map(int, empty[0])), "behind causal" if causal else "at all"
        msg = (
            f"nn.attention: row {row} of the mask, by (batch, head, place in q), attends to nothing {how}: what comes "
            "out is 0 or the mean of v, by framework. Let each place attend to one at least, such as itself, and leave "
            "out its output behind"
        )
        raise LayoutError(msg)


def _check_scale(scale: Any) -> None:
    """Raise LayoutError for a scale that is no number."""
    if scale is not None and (isinstance(scale, bool) or not isinstance(scale, Real)):
        msg = f"nn.attention: scale={scale!r}: it must be a number, or None for 1 / sqrt(features)"
        raise LayoutError(msg)


def _check_dropout(counter: Counter, dropout: Any) -> None:
    """Raise LayoutError for anything but a layer of Dropout that the model holds, or None."""
    if dropout is None:
        return
    if not isinstance(dropout, Dropout) or isinstance(dropout, StochasticDepth):
        found = f"nn.{type(dropout).__name__}" if isinstance(dropout, Layer) else repr(dropout)
        msg = (
            f"nn.attention: dropout is {found}; it must be a layer of the model, self.drop = nn.Dropout(rate) in "
            "__init__ and dropout=self.drop here, so that nothing is dropped in evaluation, or None"
        )
        raise LayoutError(msg)
    counter.check_held(dropout, "called")


def _check_added(name: str, x: Any, pairs: tuple[int, ...]) -> None:
    """Raise LayoutError for a mask or bias of another kind or shape."""
    if x is None:
        return
    check_kind(f"attention's {name}", x, "array")
    if x.boolean != (name == "mask") or x.integer:
        wanted = (
            'a mask is boolean, True attends; so is an array that is declared with dtype="bool", or what nn.less gives'
            if name == "mask"
            else "a bias is of numbers; a boolean goes to mask"
        )
        msg = f"nn.attention: {name} is {x!r}; {wanted}"
        raise LayoutError(msg)
    if x.ndim != AXES or any(found not in (1, wanted) for found, wanted in zip(x.dims, pairs, strict=True)):
        msg = (
            f"nn.attention: {name} is {x!r}; it goes with (batch, heads, length of q, length of k) = {pairs}, in which "
            "an axis may be 1: nn.reshape brings it there"
        )
        raise LayoutError(msg)
