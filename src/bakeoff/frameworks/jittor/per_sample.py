"""Per-sample gradients in Jittor, which has no vmap: one sample after another, or by the formulas of its layers.

closed-form is one forward and one backward pass of the whole batch, down to what each layer gives; from that and what
it was given follow the norms of its samples' gradients, and the sum of the clipped ones (closed_form.py). It takes the
loss of a batch for the mean of its samples' own; where that of the first batch is not, default is loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jittor as jt
import numpy as np

from bakeoff.frameworks.jittor import closed_form, nn, optimizers
from bakeoff.frameworks.jittor.engine import TrainStep
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.options import DEFAULT
from bakeoff.spec.per_sample import OPTION, PerSample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.jittor import snapshots
    from bakeoff.frameworks.steps import DeviceBatch

LOOP, CLOSED_FORM = "loop", "closed-form"

_ROUNDED = 1e-4
"""Share of a loss that two ways to add up its samples' may differ by: a thousand of float32's roundings are 6e-5."""


class Found(NamedTuple):
    """What a batch's samples give."""

    loss: Any
    """The mean of their losses."""
    norms: Any
    """(batch,), of their gradients before clipping."""
    sums: list[Any]
    """Of their clipped gradients, for each parameter."""


class PerSampleStep(TrainStep):
    """Each sample's gradient, clipped; their sum with noise, divided by the batch size; and the optimiser."""

    def __init__(self, network: Any, model: Model, options: Mapping[str, str]) -> None:
        """Choose the way; raise UnsupportedError for a layer that there is no formula for."""
        super().__init__(network, model, options)
        self._asked = model.per_sample or PerSample()
        self._way = _chosen(options[OPTION], network)
        self._arrays = [array for array, _ in nn.parameters(network).values()]
        self._layers = closed_form.Layers(network) if self._way == CLOSED_FORM else None
        self._must = options[OPTION] == CLOSED_FORM
        """Whether the formulas were asked for by name."""
        self._is_mean: bool | None = None
        """Whether a batch's loss is the mean of its samples'; None until the first batch."""
        self._seed: int | None = None
        """Of the noise that the next step draws, where it is known."""

    def run(self, batch: DeviceBatch) -> None:
        """Train on one batch."""
        jt.sync(self._arrays)  # those of the step before, as Jittor's optimisers do
        found = self._clipped(*batch)
        self._seed = None
        optimizers.step_on(self._optimizer, self._formula, self._by_array(self._noisy(found)))
        self._loss = found.loss

    def _clipped(self, inputs: Any, targets: Any) -> Found:
        """Return loss, norms and the sums of clipped gradients, in the way that was chosen."""
        return self._looped(inputs, targets) if self._layers is None else self._in_closed_form(inputs, targets)

    def _looped(self, inputs: Any, targets: Any) -> Found:
        """Take one sample after another; each is computed before the next, or the graph would grow with the batch."""
        losses, norms = [], []
        sums = [jt.zeros(array.shape).stop_grad() for array in self._arrays]
        for place in range(_count(inputs)):
            alone, label = (_at(place, part) for part in (inputs, targets))
            loss = self._loss_of(nn, self._network(alone), label, alone)
            gradients = jt.grad(loss, self._arrays)
            norm = jt.sqrt(sum(map(optimizers.squares, gradients)))
            factor = self._factors(norm)
            sums = [(total + factor * one).stop_grad() for total, one in zip(sums, gradients, strict=True)]
            losses.append(jt.reshape(loss, (1,)).stop_grad())
            norms.append(jt.reshape(norm, (1,)).stop_grad())
            jt.sync([*sums, losses[-1], norms[-1]])
        return Found(jt.mean(jt.concat(losses)), jt.concat(norms), sums)

    def _in_closed_form(self, inputs: Any, targets: Any) -> Found:
        """Take all samples in one pass; the loss is the mean of theirs, or they are taken one by one."""
        assert self._layers is not None
        with self._layers.seen() as seen:
            outputs = self._network(inputs)
            loss = self._loss_of(nn, outputs, targets, inputs)
        if self._is_mean is None:
            self._is_mean = self._is_mean_of_samples(loss, outputs, targets, inputs)
        if not self._is_mean:
            self._way, self._layers = LOOP, None
            return self._looped(inputs, targets)
        slopes = jt.grad(loss * float(_count(inputs)), seen.outputs())
        parts = seen.parts(slopes)
        norms = jt.sqrt(sum(part.squares for part in parts))
        factors = self._factors(norms)
        by_array = {key: value for part in parts for key, value in part.sums(factors).items()}
        # A layer that the model never calls has given nothing.
        sums = [by_array[id(one)] if id(one) in by_array else jt.zeros(one.shape) for one in self._arrays]
        return Found(loss, norms, sums)

    def _is_mean_of_samples(self, loss: Any, outputs: Any, targets: Any, inputs: Any) -> bool:
        """Return whether a batch's loss is the mean of each sample's own, which the formulas take it for.

        A mean over known labels is none, where samples have different numbers of them. Raises UnsupportedError where
        the formulas were asked for by name.
        """
        count = _count(inputs)
        if not _has_rows(outputs, count):  # of what the model gives in training not all is of a sample
            return True
        parts = ([_at(place, part) for part in (outputs, targets, inputs)] for place in range(count))
        alone = jt.concat([jt.reshape(self._loss_of(nn, *part), (1,)) for part in parts])
        mean, whole = float(alone.numpy().mean()), float(loss.item())
        if not abs(mean - whole) > _ROUNDED * max(abs(mean), abs(whole)):
            return True
        if self._must:
            msg = (
                f"per_sample=closed-form: the first batch's loss, {whole:.6g}, is not the mean of its samples' own, "
                f"{mean:.6g}. Choose per_sample=loop"
            )
            raise UnsupportedError(msg)
        return False

    def _factors(self, norms: Any) -> Any:
        """Return what gradients of these norms are multiplied with: 1 for a norm of 0."""
        return self._asked.max_norm / jt.maximum(norms, self._asked.max_norm)

    def _noisy(self, found: Found) -> list[Any]:
        """Return what the optimiser is given for each parameter; the noise of all is one draw, whatever runs first."""
        count = float(found.norms.shape[0])
        if not self._asked.is_noisy:
            return [one / count for one in found.sums]
        noise = jt.randn((sum(array.numel() for array in self._arrays),), requires_grad=False)
        given, start = [], 0
        for one in found.sums:
            drawn = jt.reshape(noise[start : start + one.numel()], one.shape)
            given.append((one + self._asked.deviation * drawn) / count)
            start += one.numel()
        return given

    def _by_array(self, values: list[Any]) -> dict[int, Any]:
        """Return values by the identity of their parameters."""
        return {id(array): value for array, value in zip(self._arrays, values, strict=True)}

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Return the mean of the clipped gradients, without noise."""
        found = self._clipped(*batch)
        return self._canonical([one / float(found.norms.shape[0]) for one in found.sums])

    def noisy_gradients(self, batch: DeviceBatch) -> Arrays:
        """Return what the next step is given: Jittor's generator is set to a seed before it, and again afterwards.

        Jittor tells no state of its generator, it takes a seed.
        """
        if self._seed is None:
            self._seed = int(np.random.default_rng().integers(2**31))
        jt.sync_all(True)  # noqa: FBT003 - wait for the device, too
        jt.set_seed(self._seed)
        found = self._canonical(self._noisy(self._clipped(*batch)))
        jt.set_seed(self._seed)
        return found

    def norms(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the norm of each sample's gradient."""
        return np.array(self._clipped(*batch).norms.numpy(), np.float64)

    def _canonical(self, values: list[Any]) -> Arrays:
        """Return an array for each parameter in canonical layout."""
        by_array = self._by_array(values)
        found = nn.read(self._network, lambda array: by_array[id(array)])
        jt.sync_all(True)  # noqa: FBT003 - wait for the device, too
        return found

    def restore(self, snapshot: snapshots.Snapshot) -> None:
        """Put a snapshot back; the noise is that of its seed."""
        super().restore(snapshot)
        self._seed = None

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with how gradients are clipped."""
        asked = {"max_norm": self._asked.max_norm, "noise_multiplier": self._asked.noise_multiplier}
        return super().settings() | {OPTION: self._way} | asked


def _chosen(asked: str, network: Any) -> str:
    """Return the way to a model's gradients; raise UnsupportedError where the formulas are asked for and lacking."""
    if asked == LOOP:
        return LOOP
    reason = closed_form.why_not(network)
    if not reason:
        return CLOSED_FORM
    if asked == DEFAULT:
        return LOOP
    msg = f"per_sample=closed-form: {reason}. Choose per_sample=loop"
    raise UnsupportedError(msg)


def _at(place: int, part: Any) -> Any:
    """Return one sample of an array, or of each of several, as a batch of one."""
    if isinstance(part, dict):
        return {name: _at(place, one) for name, one in part.items()}
    if isinstance(part, (tuple, list)):
        return type(part)(_at(place, one) for one in part)
    return part[place : place + 1]


def _has_rows(part: Any, count: int) -> bool:
    """Return whether an array, or each of several, has a row for each sample."""
    if isinstance(part, (tuple, list, dict)):
        return all(_has_rows(one, count) for one in (part.values() if isinstance(part, dict) else part))
    return bool(part.ndim > 0 and part.shape[0] == count)


def _count(inputs: Any) -> int:
    """Return how many samples a batch has."""
    return int((next(iter(inputs.values())) if isinstance(inputs, dict) else inputs).shape[0])
