"""Energy: steps in a row between two readings of meters outside of the process, after the race."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from bakeoff.measure.energy import Meter, counted, meters, names
from bakeoff.measure.gpus import uuid_in, uuids_for
from bakeoff.race.stages.stage import Checkpoint, RaceState, Session, WantedTrials, alone, step_s
from bakeoff.spec.protocol import Note, RunBlock
from bakeoff.spec.record import EnergyReading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bakeoff.spec.comparison import ContenderPlan

ROUNDS = 5
"""They give each contender an interval, and no verdict rests on it."""

STEPS_S = 2.0
"""Steps between two readings last about this long: a thousand times as long as RAPL takes for a new count (1 ms)."""


def wanted(state: RaceState) -> Iterator[WantedTrials | Checkpoint]:
    """Want a trial of each contender in every round, where the machine has meters and while the budget lasts."""
    if state.comparison.no_energy:
        return
    uuid = uuid_in(state.comparison.machine)
    # Contenders on different devices have different meters: one on the processor is not charged for an idle GPU.
    found = {plan.contender.label: meters_of(plan, uuid) for plan in state.racing()}
    plans = [plan for plan in state.racing() if found[plan.contender.label]]
    for round_number in range(1, ROUNDS + 1):
        for plan in state.specs.shuffled(plans, round_number):
            yield Checkpoint()
            yield alone(
                state.specs.trial(plan, "energy", round_number), partial(_between_readings, found[plan.contender.label])
            )


def meters_of(plan: ContenderPlan, uuid: str) -> list[Meter]:
    """Return the meters of all of a contender's devices, of which `uuid` is the first GPU; none where one has none.

    What several GPUs have in common, the processor that feeds them, is counted once.
    """
    contender = plan.contender
    found: list[Meter] = []
    for one in uuids_for(uuid, plan.devices) if contender.on_cuda else [uuid]:
        own, _ = meters(contender.device, one)
        if not own:
            return []
        found += [meter for meter in own if meter not in found]
    return found


def _between_readings(available: Sequence[Meter], session: Session) -> None:
    """Warm up, and run steps between two readings."""
    steps = session.whole(math.ceil(STEPS_S / step_s(session.warm_up(), session.pass_steps)))
    session.tell("energy")
    with counted(available) as joules:
        session.ask(RunBlock(lead=0, steps=steps, turn=0))
    reading = EnergyReading(joules=sum(joules), steps=steps, source=names(available))
    session.ask(Note(facts={"energy": reading}))
