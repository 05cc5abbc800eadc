"""Sums of products by letters over shapes: which formulas are refused, and the products that they take."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from bakeoff.workloads.shapes import LayoutError, Shape, check_kind, check_real

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.workloads.shape_functions import Counter

_FORMULA = re.compile(r"[A-Za-z]+(,[A-Za-z]+)+->[A-Za-z]*")

_MOST = 6
"""How many arrays a formula may have: every order in which they may be multiplied is looked at."""


def einsum(counter: Counter, formula: Any, arrays: Sequence[Any]) -> Shape:
    """Return the shape behind the arrow, and count the products; raise LayoutError for what does not fit together."""
    letters, wanted = _parted(formula, arrays)
    lengths = _lengths(formula, letters, arrays)
    if unknown := [letter for letter in wanted if letter not in lengths]:
        msg = f"nn.einsum({formula!r}): the result has an axis {unknown[0]!r}, which no array has"
        raise LayoutError(msg)
    _count(counter, letters, wanted, lengths, [one.trained for one in arrays])
    trained = any(one.trained for one in arrays)
    return Shape((lengths[letter] for letter in wanted), trained=trained)


def _parted(formula: Any, arrays: Sequence[Any]) -> tuple[list[str], str]:
    """Return the letters of each array and of the result; raise LayoutError for what is no such formula."""
    if not isinstance(formula, str) or not _FORMULA.fullmatch(formula):
        msg = (
            f"nn.einsum({formula!r}): a formula has a letter for each axis of two arrays or more, and those of the "
            "result behind an arrow, without spaces or dots: 'bhqd,bhkd->bhqk'"
        )
        raise LayoutError(msg)
    inputs, _, wanted = formula.partition("->")
    letters = inputs.split(",")
    for part in (*letters, wanted):
        if len(set(part)) < len(part):
            msg = f"nn.einsum({formula!r}): a letter stands twice in {part!r}; an array has each letter once"
            raise LayoutError(msg)
    if len(letters) != len(arrays):
        msg = f"nn.einsum({formula!r}) is of {len(letters)} arrays, and is given {len(arrays)}"
        raise LayoutError(msg)
    if len(letters) > _MOST:
        msg = f"nn.einsum({formula!r}) is of {len(letters)} arrays; it takes up to {_MOST}: make two formulas of it"
        raise LayoutError(msg)
    return letters, wanted


def _lengths(formula: str, letters: Sequence[str], arrays: Sequence[Any]) -> dict[str, int]:
    """Return the length of each letter's axis; raise LayoutError where two arrays differ in it."""
    found: dict[str, int] = {}
    for part, one in zip(letters, arrays, strict=True):
        check_kind("einsum", one, "array")
        check_real("einsum", one)
        if one.ndim != len(part):
            msg = f"nn.einsum({formula!r}): {part!r} has {len(part)} letters, and stands for {one!r}"
            raise LayoutError(msg)
        for letter, length in zip(part, one.dims, strict=True):
            if found.setdefault(letter, length) != length:
                lacks = f"{length} elements in {one!r}, and {found[letter]} in an array before it"
                msg = f"nn.einsum({formula!r}): axis {letter!r} has {lacks}"
                raise LayoutError(msg)
    return found


def _count(
    counter: Counter, letters: Sequence[str], wanted: str, lengths: dict[str, int], trained: Sequence[bool]
) -> None:
    """Count the products two arrays at a time, in the order that takes the fewest in a forward pass."""

    def kept(group: frozenset[int]) -> set[str]:
        """Return the letters that are left of some arrays' product: those that others or the result have."""
        others = {letter for place, part in enumerate(letters) if place not in group for letter in part}
        return {letter for place in group for letter in letters[place]} & (others | set(wanted))

    def taken(one: frozenset[int], other: frozenset[int]) -> int:
        """Return the products of two groups' results."""
        return math.prod(lengths[letter] for letter in kept(one) | kept(other))

    @cache
    def best(group: frozenset[int]) -> tuple[int, tuple[tuple[frozenset[int], frozenset[int]], ...]]:
        """Return the fewest products of some arrays, and the pairs in their order."""
        if len(group) == 1:
            return 0, ()
        found = []
        first, *rest = sorted(group)
        for choice in range(2 ** len(rest) - 1):
            one = frozenset({first, *(place for bit, place in enumerate(rest) if choice >> bit & 1)})
            other = group - one
            count = best(one)[0] + best(other)[0] + taken(one, other)
            found.append((count, (*best(one)[1], *best(other)[1], (one, other))))
        return min(found, key=lambda each: each[0])

    for one, other in best(frozenset(range(len(letters))))[1]:
        counter.product(taken(one, other), (any(trained[at] for at in one), any(trained[at] for at in other)))
