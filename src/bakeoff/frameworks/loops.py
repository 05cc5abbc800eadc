"""A loop over time in Python, for frameworks that have none of their own, or are as fast with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Step = Callable[[Any, Any], tuple[Any, Any]]


def looped(
    step: Callable[[Any, Any], tuple[Any, Any]],
    state: Any,
    places: Iterable[Any],
    stack: Callable[[list[Any], int], Any],
) -> tuple[Any, Any]:
    """Return the last state and the outputs of a step at each place, an array or a tuple of them, stacked on axis 1."""
    outputs = []
    for x in places:
        state, output = step(state, x)
        outputs.append(output)
    if isinstance(outputs[0], tuple):
        return state, tuple(stack(list(one), 1) for one in zip(*outputs, strict=True))
    return state, stack(outputs, 1)


def places_of(inputs: Any) -> Iterator[Any]:
    """Return what inputs have at each place of axis 1, by indices: an array, or a tuple for a tuple of arrays."""
    is_several = isinstance(inputs, tuple)
    for place in range((inputs[0] if is_several else inputs).shape[1]):
        yield tuple(one[:, place] for one in inputs) if is_several else inputs[:, place]
