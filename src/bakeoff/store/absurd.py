"""Records that are sealed, as bakeoff seals its own, and yet say what cannot be: a stranger may have written them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bakeoff.spec.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def told_if_absurd() -> Iterator[None]:
    """Raise StoreError for what no honest record leads to: a time below 0, a size that the workload does not have."""
    try:
        yield
    except (ArithmeticError, LookupError, ValueError, TypeError, AssertionError, RecursionError) as error:
        msg = (
            "these records cannot be reported on: they are sealed, and yet not what bakeoff writes "
            f"({type(error).__name__}: {error})"
        )
        raise StoreError(msg) from error
