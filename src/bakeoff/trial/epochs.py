"""Whole epochs in a worker: streamed, waited for once at the end of each; then what the model has learned."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bakeoff.certify.errors import finite
from bakeoff.measure import contention
from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.protocol import Ran
from bakeoff.spec.record import EpochRun
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.trial.compiled import compiled_between
from bakeoff.trial.evidence import accuracy_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.frameworks.engine import Arrays, Step
    from bakeoff.measure.clock import Stepper
    from bakeoff.spec.metric import MetricReading
    from bakeoff.spec.record import Compilation
    from bakeoff.spec.trial import TrialSpec
    from bakeoff.trial.inputs import Batches


class LongRun:
    """One run on its way."""

    def __init__(self, metric: Callable[[Arrays], MetricReading] | None = None) -> None:
        """Start with no epoch; `metric` reads the workload's own of parameters."""
        self._metric = metric
        self._steps: list[int] = []
        self._epochs_ns: list[int] = []
        self._foreign_shares: list[float | None] = []
        self._compilations: list[int | None] = []

    def epoch(
        self,
        stepper: Stepper,
        steps: int,
        read: Callable[[], contention.Counters],
        compiled: Callable[[], Compilation],
    ) -> Ran:
        """Run one epoch, with the counters and what was compiled read around it."""
        before, compiled_before = read(), compiled()
        _, elapsed_ns = stepper.streamed(steps)
        signals = contention.between(before, read())
        self._compilations.append(compiled_between(compiled_before, compiled()).count)
        self._steps.append(steps)
        self._epochs_ns.append(elapsed_ns)
        self._foreign_shares.append(signals.foreign_share)
        return Ran(steps=steps, elapsed_ns=elapsed_ns)

    def conclude(self, step: Step, trial: TrialSpec, batches: Batches) -> EpochRun:
        """Return what was run, with the loss, the accuracy and the workload's metric at its end."""
        scenario = SCENARIOS[trial.scenario]
        loss = float(step.result()) if scenario.has_loss else None
        test = batches.test if scenario.trains else None
        accuracy = None if test is None else accuracy_of(step, test, batch_size=trial.batch_size)
        return EpochRun(
            steps=self._steps,
            epochs_ns=self._epochs_ns,
            foreign_shares=self._foreign_shares,
            compilations=self._compilations,
            loss=None if loss is None else finite(loss),
            accuracy=accuracy,
            test_samples=0 if test is None or accuracy is None else len(test),
            training_accuracy=_on_training(step, trial, batches) if scenario.trains and test is None else None,
            metric=self._reading(step),
        )

    def _reading(self, step: Step) -> MetricReading | None:
        """Return the workload's metric of the present parameters; None where it has none, or it fails."""
        with suppress(ModelFileError):  # A metric that cannot be computed costs no run.
            return self._metric(step.parameters()) if self._metric else None
        return None


def _on_training(step: Step, trial: TrialSpec, batches: Batches) -> float | None:
    """Return the accuracy on the batches that were trained on; None where they have no labels."""
    return accuracy_of(step, batches.samples(), batch_size=trial.batch_size)
