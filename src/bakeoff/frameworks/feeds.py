"""What ways of input have in common, whatever the framework: one generator of batches, and an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import NDArray


class BatchFeed:
    """The part of the port's Feed that knows no framework: a folder's input.py says where batches come from."""

    def __init__(self) -> None:
        """Start with the first batch; nothing is loaded before it is asked for."""
        self._batches = self._endless()

    def _endless(self) -> Generator[tuple[Any, Any]]:
        """Give one batch on the device after another."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Give itself."""
        return self

    def __next__(self) -> tuple[Any, Any]:
        """Give the next batch."""
        return next(self._batches)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell by which calls batches come."""
        raise NotImplementedError

    def processes(self) -> list[int]:
        """Give none: what loads are threads of this process, unless a framework says otherwise."""
        return []

    def close(self) -> None:
        """End the generator, and with it what loads."""
        self._batches.close()


def cut(x: NDArray[Any], y: NDArray[Any], size: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Cut samples and their labels into batches in their order, without a copy."""
    starts = range(0, len(x), size)
    return [(x[start : start + size], y[start : start + size]) for start in starts]
