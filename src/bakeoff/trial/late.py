"""Blocks from an early and a late state of one training: what the steps between them have done to a step's cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.measure import denormals
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.record import DenormalCount, LateReading
from bakeoff.trial import blocks
from bakeoff.trial.saved import SavedState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from bakeoff.spec.protocol import MeasureLate
    from bakeoff.spec.record import Block
    from bakeoff.trial.built import Running

    Arrays = Iterator[tuple[str, NDArray[Any]]]

FLOAT64 = "float64"
"""The one precision in which parameters are not in float32."""


def reading(running: Running, command: MeasureLate) -> LateReading:
    """Train on from the saved state to the late step, and run the pairs of blocks; count denormal numbers last.

    What gradients are read by may be compiled, so nothing is timed behind that.
    """
    early, late = running.saved, SavedState(running.step, running.stepper)
    early.put_back()
    early_step = running.stepper.position
    running.stepper.streamed(command.late_step - early_step)
    late.save()
    pairs = [
        _block(running, state, command, pair)
        for pair in range(command.pairs)
        for state in ((early, late) if pair % 2 == 0 else (late, early))
    ]
    return LateReading(
        early_step=early_step,
        late_step=command.late_step,
        blocks=pairs,
        early=_counts(running, early),
        late=_counts(running, late),
    )


def _block(running: Running, state: SavedState, command: MeasureLate, pair: int) -> Block:
    """Run one block; its lead-in begins with the same state as its timed part."""
    state.put_back()
    return blocks.timed(running, state, lead=command.lead, steps=command.steps, turn=pair)


def _counts(running: Running, state: SavedState) -> dict[str, DenormalCount]:
    """Return how many numbers of a state are denormal, in the type of the parameters."""
    state.put_back()
    within = FLOAT64 if running.opened.trial.contender.precision == FLOAT64 else "float32"
    found = denormals.counted(_arrays(running), within)
    return {name: DenormalCount(denormal=denormal, elements=elements) for name, (denormal, elements) in found.items()}


def _arrays(running: Running) -> Arrays:
    """Go through the parameters, the optimiser's arrays and, where a step has them to read, the gradients."""
    step = running.step
    for name, array in step.parameters().items():
        yield f"parameters/{name}", array
    yield from step.optimizer_state()
    if running.drops:
        return  # Gradients are read of models without Dropout.
    try:
        gradients = step.gradients(step.prepare(running.opened.batches.at(running.stepper.position)))
    except UnsupportedError:
        return
    for name, array in gradients.items():
        yield f"gradients/{name}", array
