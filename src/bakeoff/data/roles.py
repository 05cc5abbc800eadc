"""From what a source has to the arrays that a workload declares: by role, whatever the workload calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.spec.batch import Batch
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bakeoff.spec.batch import ArraySpec
    from bakeoff.spec.workload import Size

Roles = dict[str, tuple[str, ...]]
"""What a source can give, by its own word, with the names by which workloads may declare it."""


class DeclaredArrays:
    """The arrays that a size declares, by the roles of a source."""

    def __init__(self, source: str, roles: Roles, size: Size) -> None:
        """Find each declared array's role; raise UsageError for one that the source does not have."""
        self.source, self._size = source, size
        called = {name: role for role, names in roles.items() for name in (role, *names)}
        declared = size.sample.arrays
        self._roles = {name: called[name] for name in declared if name in called}
        self.specs: dict[str, ArraySpec] = {role: declared[name] for name, role in self._roles.items()}
        if unknown := [name for name in declared if name not in called]:
            msg = (
                f"{source} gives {', '.join(roles)}; this workload takes {size.sample}, "
                f"and {', '.join(unknown)} is none of these"
            )
            raise UsageError(msg)

    def __contains__(self, role: str) -> bool:
        """Return whether the workload takes it."""
        return role in self.specs

    def entries(self, role: str) -> int:
        """Return the length of one sample's array, its first axis; raise UsageError where the workload lacks it."""
        spec = self._spec(role)
        if not spec.shape:
            raise self._misfit(role, "has to be a sequence")
        return spec.shape[0]

    def features(self, role: str) -> int:
        """Return the length of the last axis of one sample's array; raise UsageError where the workload lacks it."""
        spec = self._spec(role)
        if len(spec.shape) < 2:  # noqa: PLR2004 - entries and their features
            raise self._misfit(role, "has features along a second axis")
        return spec.shape[-1]

    def below(self, role: str) -> int:
        """Return the first integer that is too large for it: the entries of its vocabulary."""
        spec = self._spec(role)
        if spec.dtype != "int32" or spec.high is None:
            raise self._misfit(role, "has to be int32 with a `high`")
        return spec.high

    def batch(self, found: Mapping[str, NDArray[Any]]) -> Batch:
        """Return the samples by the workload's names; raise UsageError for shapes or integers that do not fit."""
        named = {name: self._fitted(role, found[role]) for name, role in self._roles.items()}
        return Batch({name: named[name] for name in self._size.sample.inputs}, _of(named, self._size.sample.targets))

    def _fitted(self, role: str, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array in its declared type; sequences of features may be declared as maps of one channel."""
        spec = self.specs[role]
        if spec.shape == (*array.shape[1:], 1):
            array = array[..., np.newaxis]
        if array.shape[1:] != spec.shape:
            raise self._misfit(role, f"has samples of shape {array.shape[1:]}")
        if spec.dtype == "int32" and spec.high is not None and array.size and int(array.max()) >= spec.high:
            raise self._misfit(role, f"has {int(array.max())} among its integers")
        return array.astype(spec.dtype)

    def _spec(self, role: str) -> ArraySpec:
        """Return what the workload declares of a role."""
        if role not in self.specs:
            msg = f"{self.source} gives {role}, without which it cannot be cut; this workload takes {self._size.sample}"
            raise UsageError(msg)
        return self.specs[role]

    def _misfit(self, role: str, what: str) -> UsageError:
        """Return the error of what does not fit."""
        name = next(name for name, one in self._roles.items() if one == role)
        spec = self.specs[role]
        limit = "" if spec.high is None else f" below {spec.high}"
        msg = f"{self.source}: {role} {what}, and this workload declares {name} as {spec}{limit}"
        return UsageError(msg)


def _of(named: Mapping[str, NDArray[Any]], names: Mapping[str, ArraySpec]) -> dict[str, NDArray[Any]]:
    """Return the arrays of these names in their order."""
    return {name: named[name] for name in names}


def padded(rows: list[Any], length: int, *, fill: float = 0, dtype: str = "int32") -> NDArray[Any]:
    """Return rows of any lengths as one array, (rows, length, ...), cut or filled at their ends."""
    tail = np.asarray(rows[0]).shape[1:] if rows else ()
    array = np.full((len(rows), length, *tail), fill, dtype)
    for index, row in enumerate(rows):
        kept = row[:length]
        array[index, : len(kept)] = kept
    return array


def lengths_of(rows: list[Any], length: int) -> NDArray[np.int32]:
    """Return how many entries of each row are real after `padded`."""
    return np.array([min(len(row), length) for row in rows], np.int32)
