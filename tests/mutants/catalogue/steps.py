"""Faults of a training step whose text is the same in several frameworks' engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogue.mutant import HALVES, LATER, SKIPS, Mutant

if TYPE_CHECKING:
    from collections.abc import Callable

UPDATE = {"mlp-mnist/train": "update"}
"""What the faults of a step are asked."""

TAKEN = "optimizer = training_parts(model)\n"
"""How every engine takes the workload's optimiser, which its steps are made with; `Engine.optimize` has another."""

HALF_RATE = """\
        import msgspec
        optimizer = msgspec.structs.replace(optimizer, learning_rate=0.5 * optimizer.learning_rate)
"""

ANOTHER = """\
        from bakeoff.spec.optimizer import SGD
        optimizer = SGD(learning_rate=0.01)
"""


def of_batches(in_steps: Callable[..., Mutant], begins: str, concatenate: str) -> list[Mutant]:
    """Return the faults that a step begins with, before a line that takes `batch`; arrays are joined by a function."""

    def first(lines: str) -> list[tuple[str, str]]:
        return [(begins, lines + begins)]

    def labels(parts: str) -> list[tuple[str, str]]:
        return first(f"{LATER}batch = batch[0], {concatenate}([{parts}], 0)\n")

    return [
        in_steps("every second step does nothing", first(SKIPS), UPDATE),
        in_steps("half the batch", first(HALVES), {"mlp-mnist/train": "loss"}),
        in_steps("half the batch from the second step on", first(LATER + HALVES.lstrip()), UPDATE),
        in_steps("labels of other samples from the second step on", labels("batch[1][-1:], batch[1][:-1]"), UPDATE),
        in_steps("one wrong label from the second step on", labels("batch[1][1:2], batch[1][1:]"), UPDATE),
    ]


def of_formulas(in_steps: Callable[..., Mutant]) -> list[Mutant]:
    """Return the faults of an optimiser that computes what the workload does not ask for."""
    return [
        in_steps("half the learning rate", [(TAKEN, TAKEN + HALF_RATE)], UPDATE),
        in_steps("another optimiser than the workload's", [(TAKEN, TAKEN + ANOTHER)], UPDATE),
    ]
