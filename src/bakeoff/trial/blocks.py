"""One block: untimed steps, a saved state put back, timed steps, and the counters read around all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.measure import contention
from bakeoff.spec.record import Block
from bakeoff.trial.compiled import compiled_between

if TYPE_CHECKING:
    from bakeoff.trial.built import Running
    from bakeoff.trial.saved import SavedState


def timed(  # noqa: PLR0913 - the sizes of a block, and what belongs to its turn
    running: Running,
    state: SavedState,
    *,
    lead: int,
    steps: int,
    turn: int,
    repeats: int | None = None,
    together: bool = False,
) -> Block:
    """Run `lead` untimed steps, put the state back if there is one, and run and time `steps` steps.

    With `together`, the timed part begins when all replicas of the group are ready for it.
    """
    stepper, step, clock = running.stepper, running.step, running.opened.clock
    before = contention.read(running.processes())
    _, lead_ns = stepper.streamed(lead)
    began_ns = clock()
    state.put_back()
    restore_ns = clock() - began_ns if state.is_saved else None
    first_step = stepper.position
    began_ns = clock()
    compiled_before = step.compilation()
    asked_ns = clock() - began_ns
    if together:
        running.opened.companions.await_start()
    steps_ns, elapsed_ns = stepper.streamed(steps)
    after = contention.read(running.processes())
    return Block(
        turn=turn,
        repeats=repeats,
        first_step=first_step,
        restore_ns=restore_ns,
        asked_ns=asked_ns,
        lead_steps=lead,
        lead_ns=lead_ns,
        steps_ns=steps_ns,
        elapsed_ns=elapsed_ns,
        signals=contention.between(before, after),
        compilations=compiled_between(compiled_before, step.compilation()).count,
    )
