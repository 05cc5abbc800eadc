"""Steps from a snapshot, and the same steps again from the same state: what they give, and what was compiled for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bakeoff.frameworks.engine import Step

BEFORE = 2
"""Steps before the snapshot: the optimiser's state is there, and its step count is not zero."""

STEPS = 3
PASSES = ("first", "again", "once more")
"""The steps after the snapshot, and those after each `restore`."""


def repeated(step: Step, batches: list[Any]) -> dict[str, Any]:
    """Return losses, parameters, statistics and optimiser state of each pass, and the counts of what was compiled."""
    for index in range(BEFORE):
        _run(step, batches[index % len(batches)])
    snapshot = step.snapshot()
    found = _pass(step, batches, PASSES[0])
    counts = []
    for name in PASSES[1:]:
        before = step.compilation().count
        step.restore(snapshot)
        found |= _pass(step, batches, name)
        counts.append([-1 if count is None else count for count in (before, step.compilation().count)])
    return found | {"counts": counts}


def _pass(step: Step, batches: list[Any], name: str) -> dict[str, Any]:
    """Run the steps that are compared, and return what they leave."""
    kept = {f"{name}/optimizer before/{key}": value.copy() for key, value in step.optimizer_state()}
    losses = []
    for index in range(BEFORE, BEFORE + STEPS):
        _run(step, batches[index % len(batches)])
        losses.append(step.result())
    arrays = {"parameter": step.parameters(), "statistic": step.state(), "optimizer": dict(step.optimizer_state())}
    flat = {f"{name}/{kind}/{key}": value for kind, named in arrays.items() for key, value in named.items()}
    return kept | flat | {f"{name}/losses": losses}


def _run(step: Step, batch: Any) -> None:
    """Run one step and wait for it."""
    step.run(batch)
    step.wait()
