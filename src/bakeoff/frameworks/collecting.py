"""What the steps of all frameworks have in common whose model collects: first it collects, then it updates.

A folder's `CollectingStep` has this class before its own training step, and says how the model's `collect` is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays


class Collected(NamedTuple):
    """A batch on the device whose inputs have what a step has collected among them; a step on it is one update."""

    inputs: dict[str, Any]
    targets: Any


class Collecting:
    """A training step that collects, and then updates the parameters so many times on what it has collected."""

    updates: int
    """How many updates a step makes."""

    def collected(self, inputs: Any) -> dict[str, Any]:
        """Return what the model collects of its inputs by the present parameters, without a gradient."""
        raise NotImplementedError

    def parts(self, batch: Any) -> list[Collected]:
        """Collect, and return what `run` makes of a batch: `run` on each of them, in order, is `run` on the batch."""
        return [self.whole(batch)] * self.updates

    def whole(self, batch: Any) -> Collected:
        """Return a batch with what is collected of it, as it is where that is done already."""
        if isinstance(batch, Collected):
            return batch
        inputs, targets = batch
        return Collected(inputs | self.collected(inputs), targets)

    def run(self: Any, batch: Any) -> None:
        """Start one step: collect, and update; on a batch that is collected already, one update."""
        for part in [batch] if isinstance(batch, Collected) else self.parts(batch):
            super().run(part)  # type: ignore[misc]

    def outputs(self: Any, batch: Any) -> NDArray[np.float64]:
        """Return the model's outputs in evaluation mode on what is collected by the present parameters."""
        found: NDArray[np.float64] = super().outputs(self.whole(batch))  # type: ignore[misc]
        return found

    def gradients(self: Any, batch: Any) -> Arrays:
        """Return the gradients of the first update, or of the one on a batch that is collected already."""
        found: Arrays = super().gradients(self.whole(batch))  # type: ignore[misc]
        return found
