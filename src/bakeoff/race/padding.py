"""Batches of several shapes: whether the model can be run on each of them, and whether contenders can take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.errors import UsageError
from bakeoff.spec.options import RESIDENT
from bakeoff.spec.trial import FIXED
from bakeoff.workloads.interpreter import check_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.request import Request
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.trial import Inputs
    from bakeoff.spec.workload import Size
    from bakeoff.workloads.load import LoadedWorkload


def check_shapes(loaded: LoadedWorkload, size: Size, scenario: Scenario, inputs: Inputs) -> None:
    """Raise ModelFileError, with the line, for a model that cannot be run on one of the shapes of batches."""
    for entries in {repr(one): one for one in inputs.shapes() if one}.values():
        check_model(loaded, size, scenario, entries)


def own_steps(request: Request) -> int:
    """Return the steps of an epoch of whole runs, which have batches of their own where shapes differ; else 0."""
    return 0 if request.padding == FIXED else request.steps or 0


def check_input(padding: str, plans: Sequence[ContenderPlan]) -> None:
    """Raise UsageError for ways of input that have batches of one shape alone, where they are to differ."""
    own = [plan.contender.label for plan in plans if plan.contender.options.get("input", RESIDENT) != RESIDENT]
    if padding != FIXED and own:
        msg = (
            f"padding {padding} makes batches of several shapes, which lie on the device; {', '.join(own)} would take "
            "batches by a way of input of its own, which has one shape: leave out the option input, or --padding"
        )
        raise UsageError(msg)
