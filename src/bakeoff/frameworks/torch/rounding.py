"""Operations whose results are off by as much as those of a shorter precision are: for the reference alone."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from bakeoff.frameworks.torch.dispatched import Dispatched

_COPY = "aten::clone"
"""Makes a tensor of its own, and rounds nothing."""

_LAYER_NORM = "aten::native_layer_norm"

_NORMS = {"aten::native_batch_norm": 1, "aten::native_group_norm": 1, _LAYER_NORM: 2}
"""Normalisations, with the place of their weight among the arguments; they return what is normalised, means, and the
inverse deviations."""

_LOG_SOFTMAX_GRADIENT = "aten::_log_softmax_backward_data"
"""Takes the gradient, the logarithms of probabilities, and their axis."""

_FACTORS = 1_048_573
"""How many factors are drawn, a prime, which no size of a layer shares. A factor for each element of each result would
take longer to draw than most operations take; multiplying by some that lie in the cache is as quick as a copy."""


class Rounding(Dispatched):
    """Within it each operation's result is moved, element by element, by a random share of itself.

    Backward passes are within it, too. What shares its memory with an argument is left alone: views, and what is done
    in place, as optimizers do; and so is what is made of no real numbers: zeros, masks and counts are exact.
    """

    def __init__(self, share: float, seed: int) -> None:
        """Take the largest share, and what the random numbers begin with."""
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.empty(_FACTORS, dtype=torch.float64).uniform_(1.0 - share, 1.0 + share, generator=generator)
        twice = torch.cat([drawn, drawn])  # so that as many follow each place of the first half
        self._factors = {twice.device: twice}
        self._places = random.Random(seed)  # noqa: S311 - a repeatable choice, no secret

    def computed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the operation and move its results."""
        results = function(*args, **kwargs)
        if _is_left(function):
            return results
        # Of most operations arguments and result are tensors or numbers: the trees are for the others.
        leaves = args if not kwargs and not any(map(_is_tree, args)) else tree_leaves((args, kwargs))
        taken = {_place(one) for one in leaves if _is_real(one)}
        if not taken:
            return results
        if isinstance(results, torch.Tensor):
            moved = self._moved(results, taken)
            return self._off_by_probabilities(args, moved) if _name(function) == _LOG_SOFTMAX_GRADIENT else moved
        found = tree_map(lambda one: self._moved(one, taken), results)
        return self._off_by_means(function, args, found)

    def _off_by_means(self, function: Any, args: tuple[Any, ...], results: Any) -> Any:
        """Return a normalisation's results as if the mean that it takes away were moved as a result of its own is.

        What is left of a mean of a hundred deviations is moved by a hundred shares, and in all samples alike.
        """
        name = _name(function)
        if name not in _NORMS or not results[1].numel():  # in evaluation BatchNorm takes no mean
            return results
        normalised, mean, inverse = results
        off = mean * inverse * (self._drawn(mean) - 1.0)
        weight = args[_NORMS[name]]
        if name != _LAYER_NORM:  # of channels, which are the second axis, or of groups of them
            off = off.reshape(-1, mean.shape[-1]).repeat_interleave(normalised.shape[1] // mean.shape[-1], dim=1)
            places = [1] * (normalised.ndim - 2)
            off = off.reshape(*off.shape, *places)
            weight = None if weight is None else weight.reshape(-1, *places)
        return normalised.add_(off if weight is None else off * weight), mean, inverse

    def _off_by_probabilities(self, args: tuple[Any, ...], result: Any) -> Any:
        """Return the gradient of a cross-entropy as if the probabilities that it is made of were moved.

        Of a sample that is all but solved it is a probability of nearly one less one, which is all rounding then.
        """
        gradient, logarithms, axis = args[:3]
        probabilities = logarithms.exp()
        return result.sub_((self._drawn(probabilities) - 1.0) * probabilities * gradient.sum(axis, keepdim=True))

    def _drawn(self, like: Any) -> Any:
        """Return a factor for each element of a tensor, in its shape."""
        factors, found = self._factors_on(like.device), torch.empty_like(like, memory_format=torch.contiguous_format)
        for piece in _pieces(found):
            place = self._places.randrange(_FACTORS)
            piece.copy_(factors[place : place + piece.numel()])
        return found

    def _moved(self, result: Any, taken: set[int]) -> Any:
        """Return a result of real numbers moved, where it lies if that can be, and any other as it is."""
        if not _is_real(result):
            return result
        if _place(result) in taken or not _is_dense(result):
            result = result.clone()
        factors = self._factors_on(result.device)
        for piece in _pieces(result):
            place = self._places.randrange(_FACTORS)
            piece.mul_(factors[place : place + piece.numel()].to(piece.dtype))
        return result

    def _factors_on(self, device: torch.device) -> Any:
        """Return the factors on a device, the same everywhere; not run on a GPU by us."""
        if device not in self._factors:
            (drawn, *_) = self._factors.values()
            self._factors[device] = drawn.to(device)
        return self._factors[device]


@cache
def _name(function: Any) -> str:
    """Return what ATen calls an operation."""
    return str(function._schema.name)  # noqa: SLF001 - see below


@cache
def _is_left(function: Any) -> bool:
    """Return whether an operation's results are left alone: they share memory with arguments, or are copies."""
    schema = function._schema  # noqa: SLF001 - an operator of ATen has no other word for what it returns
    return schema.name == _COPY or any(one.alias_info is not None for one in schema.returns)


def _is_tree(one: Any) -> bool:
    """Return whether an argument may hold tensors without being one."""
    return isinstance(one, list | tuple | dict)


def _pieces(tensor: Any) -> Any:
    """Return a tensor's elements, in the order of its memory, in pieces of at most so many as there are factors."""
    flat = tensor.as_strided((tensor.numel(),), (1,))
    return (flat,) if flat.numel() <= _FACTORS else flat.split(_FACTORS)


def _is_dense(tensor: Any) -> bool:
    """Return whether a tensor's memory has no gaps and no element twice."""
    # A new one keeps strides wherever they are dense.
    return tensor.is_contiguous() or torch.empty_like(tensor, device="meta").stride() == tensor.stride()


def _place(tensor: Any) -> int:
    """Return where a tensor's memory begins."""
    return int(tensor.untyped_storage().data_ptr())


def _is_real(one: Any) -> bool:
    """Return whether this is a dense tensor of real numbers."""
    return isinstance(one, torch.Tensor) and one.is_floating_point() and one.layout == torch.strided
