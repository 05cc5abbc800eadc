"""The script's step with per-sample gradients: numbers that follow from the samples, clipped and summed as declared.

Each sample's gradient is a tenth of the weights, scaled to a norm between 0.5 and 2.5 that the sample's values give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.fake.engine import InferStep, Step
from bakeoff.frameworks.fake.training import MOVING
from bakeoff.spec.per_sample import OPTION, PerSample
from bakeoff.workloads.optimizers import norm_of, trajectory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.scenario import Scenario

SPREAD = 0.618  # an irrational number's first digits: whole numbers, too, spread over 0 to 1


class PerSampleStep(Step):
    """One scripted step."""

    def __init__(self, model: Model, options: Mapping[str, str]) -> None:
        """Draw the seed of this process's noise."""
        super().__init__(model, options)
        self._asked = model.per_sample or PerSample()
        self._seed = int(self._random.integers(2**31))
        self._base = {name: 0.1 * np.asarray(value, np.float64) for name, value in model.weights.items()}
        self._whole = norm_of(self._base)
        self._given: dict[int, Batch] = {}
        """The batch of each training step."""
        self._before: NDArray[np.float64] | None = None
        """The norms of the batch that was seen last."""

    def run(self, batch: Batch) -> None:
        """Let a step's time pass, and note what it was trained on."""
        step = self._trained
        super().run(batch)
        if self._trained > step and step < MOVING:
            self._given[step] = batch

    def norms(self, batch: Batch) -> NDArray[np.float64]:
        """Return the norm of each sample's gradient."""
        flat = np.concatenate([np.asarray(one, np.float64).reshape(len(one), -1) for one in batch.inputs.values()], 1)
        found: NDArray[np.float64] = 0.5 + 2.0 * ((SPREAD * np.abs(flat).sum(axis=1)) % 1.0)
        own = found.copy()
        if self._options["wrong"] == "stale" and self._before is not None:
            found[0] = self._before[0]
        if self._options["wrong"] == "batch-gradient":
            found[:] = found.mean()
        self._before = own
        return found

    def gradients(self, batch: Batch) -> Arrays:
        """Return the mean of the clipped gradients."""
        super().gradients(batch)  # its memory, and its faults
        return self._clipped(batch)

    def _clipped(self, batch: Batch) -> Arrays:
        """Return the mean of the clipped gradients, or what a fault makes of it."""
        norms, most, wrong = self.norms(batch), self._asked.max_norm, self._options["wrong"]
        parts = {name: norms * float(np.linalg.norm(value)) / self._whole for name, value in self._base.items()}
        each = norms * most / np.maximum(norms, most)
        mean = {
            "clipped-sum": min(norms.sum(), most) / len(norms),
            "unclipped": norms.mean(),
            "mean-norm": norms.mean() * most / max(norms.mean(), most),
            "undivided": each.sum(),
        }.get(wrong, each.mean())
        means = dict.fromkeys(self._base, float(mean))
        if wrong == "layer-norms":
            means = {name: float((norms * most / np.maximum(part, most)).mean()) for name, part in parts.items()}
        return {name: means[name] / self._whole * value for name, value in self._base.items()}

    def noisy_gradients(self, batch: Batch) -> Arrays:
        """Return the same with the noise of the next step."""
        return self._with_noise(self._clipped(batch), batch, self._trained)

    def _with_noise(self, plain: Arrays, batch: Batch, step: int) -> Arrays:
        """Add the noise of a step, or what a fault makes of it."""
        wrong, count = self._options["wrong"], len(batch)
        kept, share = 1.0, {"no-noise": 0.0, "double-noise": 2.0, "noise-each": count**0.5}.get(wrong, 1.0)
        if wrong == "noise-before":
            dimensions = sum(value.size for value in plain.values())
            total = np.hypot(self.norms(batch), self._asked.deviation * dimensions**0.5)
            kept = float((self._asked.max_norm / np.maximum(total, self._asked.max_norm)).mean())
            share = kept * count**0.5
        deviation = share * self._asked.deviation / count
        noisy = {}
        for place, (name, value) in enumerate(plain.items()):
            stream = (self._seed, 0 if wrong == "same-noise" else step, 0 if wrong == "one-noise" else place)
            noisy[name] = kept * value + deviation * np.random.default_rng(stream).standard_normal(value.shape)
        return noisy

    def _after(self, steps: int, optimizer: Optimizer) -> Arrays:
        """Return the weights after so many steps."""
        given = [self._clipped(self._given[step]) for step in range(steps)]
        if self._asked.is_noisy and self._options["wrong"] != "told-noise":
            given = [self._with_noise(one, self._given[step], step) for step, one in enumerate(given)]
        return trajectory(optimizer, self._model.weights, given)[-1]

    def settings(self) -> dict[str, Any]:
        """Return the options back, with how gradients are clipped."""
        found = {"max_norm": self._asked.max_norm, "noise_multiplier": self._asked.noise_multiplier}
        return super().settings() | {OPTION: self._options[OPTION]} | found


STEPS: dict[Scenario, type[Step]] = {"train": Step, "infer": InferStep, "per-sample-gradients": PerSampleStep}
"""The step of each scenario."""
