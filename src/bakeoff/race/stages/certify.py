"""The evidence for the certificates: the reference's in float64, and every contender's in the settings to be timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.race.progress import Certified, Event
from bakeoff.race.stages.stage import State, Wanted, alone, built_then
from bakeoff.spec.protocol import Certify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.trial import Purpose


def wanted(state: State) -> Iterator[Wanted | Event]:
    """Want the reference's trial and one of each contender, and report each certificate."""
    if state.comparison.reference is not None:
        yield evidence(state, state.comparison.reference, "reference")
    for plan in state.comparison.contenders:
        yield evidence(state, plan, "certify")
        yield Certified(state.certificate(plan))


def evidence(state: State, plan: ContenderPlan, purpose: Purpose) -> Wanted:
    """Return the trial that computes a contender's evidence."""
    return alone(state.specs.trial(plan, purpose), built_then(purpose, Certify()))
