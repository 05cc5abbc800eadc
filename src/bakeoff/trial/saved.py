"""The state of training that every timed part of a process begins with.

A step's cost can depend on how far training is: units die, values become denormal. So each process saves its state
after the same number of steps, and puts it back, outside of the timed part, before each part that is timed: all
contenders time the same steps of the same training, in every turn of every round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bakeoff.frameworks.engine import Step
    from bakeoff.measure.clock import Stepper


class SavedState:
    """The state of one step after some steps of training; until it is saved, nothing is put back."""

    def __init__(self, step: Step, stepper: Stepper) -> None:
        """Take the step and what runs it."""
        self._step, self._stepper = step, stepper
        self._snapshot: Any = None
        self.position: int | None = None
        """The steps that had run when the state was saved; None before."""

    @property
    def is_saved(self) -> bool:
        """Whether there is a state to put back."""
        return self.position is not None

    def save(self) -> None:
        """Save the present state, and which batch comes next."""
        self._snapshot, self.position = self._step.snapshot(), self._stepper.position

    def put_back(self) -> None:
        """Put the saved state back, if there is one; return when it is complete on the device."""
        if self.position is not None:
            self._step.restore(self._snapshot)
            self._stepper.rewind(self.position)
