"""What ways of input have in common, whatever the framework: samples in host memory, a generator of batches, an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.frameworks.steps import names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Samples, Step
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.batch import Batch


class BatchFeed:
    """The part of the port's Feed that knows no framework: a folder's input.py says where batches come from.

    Arrays are handled as a list, inputs first, and become a batch at the end.
    """

    def __init__(self, samples: Samples, arrays: Sequence[NDArray[Any]]) -> None:
        """Take `arrays`, which hold all samples as the framework's users hold them in host memory.

        Nothing is loaded before the first batch is asked for.
        """
        self._names = names_of(samples.arrays)
        self._arrays = list(arrays)
        self._count = len(samples.arrays)
        self._size, self._seed = samples.batch_size, samples.seed
        self._batches = self._endless()

    def _endless(self) -> Generator[DeviceBatch]:
        """Yield one batch on the device after another."""
        raise NotImplementedError

    def _cut(self) -> list[list[NDArray[Any]]]:
        """Return the samples cut into batches in their order, without a copy."""
        starts = range(0, self._count, self._size)
        return [[array[start : start + self._size] for array in self._arrays] for start in starts]

    def __iter__(self) -> Iterator[DeviceBatch]:
        """Return this object."""
        return self

    def __next__(self) -> DeviceBatch:
        """Return the next batch."""
        return next(self._batches)

    def read(self, batch: DeviceBatch) -> Batch:
        """Return a batch as canonical arrays."""
        return self._names.batch([self._canonical(array) for array in self._names.listed(batch)])

    def _canonical(self, array: Any) -> NDArray[Any]:
        """Return one of the framework's arrays as NumPy's, in canonical layout."""
        raise NotImplementedError

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return by which calls batches come."""
        raise NotImplementedError

    def processes(self) -> list[int]:
        """Return no process: what loads are threads of this one, unless a framework says otherwise."""
        return []

    def close(self) -> None:
        """End the generator, and with it what loads."""
        self._batches.close()


def first_arrays(step: Step, samples: Samples) -> list[Any]:
    """Return the arrays of the first batch as the step has them on its device: their types and layouts hold for all."""
    first = samples.arrays.taken(slice(samples.batch_size))
    return names_of(first).listed(step.prepare(first))


def is_copied(array: NDArray[Any], make: Callable[[NDArray[Any]], Any], read: Callable[[Any], NDArray[Any]]) -> bool:
    """Return whether a framework's array is a copy of NumPy's: a change of this one is then not seen in it.

    `make` makes the framework's array, `read` brings it back; the given array is changed.
    """
    before = array.flat[0].item()
    made = make(array)
    array.flat[0] = not before  # another value, whatever the type is
    return bool(read(made).flat[0] == before)
