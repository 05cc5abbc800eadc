"""What training steps do to the parameters, kept at a few positions of each; of ready-made models, whether anything."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bakeoff.certify.per_sample import noise_positions
from bakeoff.certify.sample import sample
from bakeoff.certify.update import positions
from bakeoff.workloads.optimizers import norm_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, FollowingStep, KeepingStep, Step


class Updates:
    """Parameters before and after steps, and the gradients between, sampled at once: whole arrays are never kept."""

    def __init__(
        self,
        step: Step,
        *,
        clips: bool = False,
        noisy: bool = False,
        first_alone: bool = False,
        keeps: bool = False,
        frozen: Sequence[str] = (),
    ) -> None:
        """Take the step; its positions are chosen by its first gradients. One that clips has its norms kept, too.

        Of one that is `noisy`, the gradients are those with noise, which is kept beside them. With `first_alone` the
        first update's gradients stand in the place of later ones, each of which would be a pass more.
        A step that `keeps` its gradients computes the first ones alone beside them, which choose the positions.
        Of the `frozen` parameters, which are not trained, a digest of the whole array is kept before and after.
        """
        self._frozen: dict[str, list[bytes]] = {name: [] for name in frozen}
        self._step, self._is_noisy, self._first_alone, self._keeps = step, noisy, first_alone, keeps
        self._reads_later = False
        self._noise: dict[str, list[NDArray[np.float64]]] = {}
        self._norms: list[float] | None = [] if clips else None
        self._positions: dict[str, NDArray[np.int64]] = {}
        self._rows: dict[str, list[NDArray[np.float64]]] = {}
        self._used: dict[str, list[NDArray[np.float64]]] = {}
        self.first: Arrays = {}
        """`gradient/NAME`: the first step's gradients, without noise."""

    def before(self, batch: Any) -> None:
        """Note the gradients that a step on this batch is to follow."""
        if self._first_alone and self._rows:
            for rows in self._rows.values():
                rows.append(rows[1])
            if self._norms is not None:
                self._norms.append(self._norms[0])
            return
        self._reads_later = self._keeps and bool(self._rows)
        if self._reads_later:
            return
        gradients = self._step.gradients(batch)
        if not self._rows:
            self.first = sampled_gradients(gradients)
        if self._is_noisy:
            gradients = self._with_noise(batch, gradients)
        if not self._rows:
            parameters = self._step.parameters()
            self._positions = {name: positions(value) for name, value in gradients.items() if name in parameters}
            self._rows = {name: [] for name in self._positions}
            self._note_parameters(parameters)
        if self._norms is not None:
            self._norms.append(norm_of(gradients))
        self._note(gradients)

    def _with_noise(self, batch: Any, plain: Arrays) -> Arrays:
        """Return the gradients with noise, and note what that adds to these, which are without."""
        noisy = self._step.noisy_gradients(batch)
        for name, value in plain.items():
            places = noise_positions(np.shape(value))
            first, second = (np.asarray(one).reshape(-1)[places].astype(np.float64) for one in (noisy[name], value))
            self._noise.setdefault(name, []).append(first - second)
        return noisy

    def after(self) -> None:
        """Note the parameters after that step, and the gradients that it followed, where they may be others."""
        if self._reads_later:
            self._note(cast("KeepingStep", self._step).kept_gradients())
        self._note_parameters(self._step.parameters())
        if hasattr(self._step, "used_gradients"):
            used = cast("FollowingStep", self._step).used_gradients()
            for name, values in self._sampled(used).items():
                self._used.setdefault(name, []).append(values)

    def _note_parameters(self, parameters: Arrays) -> None:
        """Add a row to every parameter, and a digest to every one that is not trained."""
        self._note(parameters)
        for name, digest in _digests({name: parameters[name] for name in self._frozen}).items():
            self._frozen[name].append(digest)

    def _note(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add a row to every parameter."""
        for name, values in self._sampled(arrays).items():
            self._rows[name].append(values)

    def _sampled(self, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
        """Return the kept positions of every parameter's array."""
        return {
            name: np.asarray(np.asarray(arrays[name]).reshape(-1)[places], np.float64)
            for name, places in self._positions.items()
        }

    def arrays(self) -> Arrays:
        """Return the rows by parameter, as `Evidence` says."""
        rows = {f"update/{name}": np.stack(rows) for name, rows in self._rows.items()}
        rows |= {f"used/{name}": np.stack(used) for name, used in self._used.items()}
        rows |= {f"noise/{name}": np.stack(added) for name, added in self._noise.items()}
        for name, digests in self._frozen.items():
            rows[f"frozen/{name}"] = np.stack([np.frombuffer(digest, np.uint8) for digest in digests])
        if self._norms is not None:
            rows["norm"] = np.asarray(self._norms, np.float64)
        return rows | {f"position/{name}": places for name, places in self._positions.items()}


def sampled_gradients(gradients: Arrays) -> Arrays:
    """Return gradients by parameter as evidence has them: `gradient/NAME`, of large arrays a sample."""
    return {f"gradient/{name}": sample(value) for name, value in gradients.items()}


class Changes:
    """Which arrays of parameters steps have changed, by hashes: no second copy of a model is kept."""

    def __init__(self, step: Step) -> None:
        """Take a step before it is run."""
        self._step = step
        self._before = _digests(step.parameters())

    def count(self) -> int:
        """Return how many arrays have another element than before."""
        after = _digests(self._step.parameters())
        return sum(digest != after.get(name) for name, digest in self._before.items())


def _digests(arrays: Mapping[str, NDArray[Any]]) -> dict[str, bytes]:
    """Return a hash of each array's elements."""
    return {name: hashlib.sha256(np.asarray(array).tobytes()).digest() for name, array in arrays.items()}
