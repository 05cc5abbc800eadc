"""What layers and functions on shapes refuse: integers, sequences and lengths of another kind or shape."""

from __future__ import annotations

from typing import Any

from bakeoff.workloads.shapes import SEQUENCE_AXES, LayoutError, Shape, check_kind


def check_integer(function: str, x: Any) -> None:
    """Raise LayoutError for anything but an array of integers."""
    check_kind(function, x, "array")
    if not x.integer:
        msg = (
            f"nn.{function} takes integers, as an input of dtype int32, nn.arange(n) or nn.constant of whole numbers "
            f"give them; this is {x!r} of {x.values}"
        )
        raise LayoutError(msg)


def check_sequence(function: str, x: Any) -> None:
    """Raise LayoutError unless x is (batch, length, features)."""
    check_kind(function, x, "array")
    if x.ndim != SEQUENCE_AXES:
        msg = f"nn.{function} takes (batch, length, features); this is {x!r}"
        raise LayoutError(msg)


def check_lengths(
    function: str, x: Any, batch: int, name: str = "lengths", *, least: int = 0, most: int | None = None
) -> None:
    """Raise LayoutError unless x is an integer for each sample, and none that may be below `least` or above `most`."""
    check_kind(function, x, "array")
    if x.dims != (batch,) or not x.integer:
        msg = (
            f"nn.{function} takes {name} ({batch},) of dtype int32, an input of the size's inputs; this is {x!r} "
            f"of {x.values}"
        )
        raise LayoutError(msg)
    if x.high is not None and x.low < least:
        msg = f"nn.{function} takes {name} from {least} on; {x!r} has them from {x.low} on: declare a larger low"
        raise LayoutError(msg)
    if x.high is not None and most is not None and x.high - 1 > most:
        msg = (
            f"nn.{function} takes {name} up to {most}, the length of this sequence; {x!r} has them up to {x.high - 1}: "
            "declare a smaller high, or make them shorter as a layer before has made the sequence"
        )
        raise LayoutError(msg)


def check_range(what: str, x: Shape, entries: int) -> None:
    """Raise LayoutError for integers that may be too large, or below 0: frameworks make different things of them."""
    if x.high is None:
        return
    if x.high > entries:
        msg = f"{what} takes integers from 0 to {entries - 1}; {x!r} has them up to {x.high - 1}, by its high or length"
        raise LayoutError(msg)
    if x.low < 0:
        valid = f"integers from 0 to {entries - 1}"
        msg = f"{what} takes {valid}; {x!r} has them from {x.low} on, by its low and what is subtracted"
        raise LayoutError(msg)
