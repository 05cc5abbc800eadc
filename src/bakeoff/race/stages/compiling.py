"""The cold start of what shares its compiler's work with all comparisons before: a process without it.

Of any other compiler the first round is the cold start, and the later ones find what that has left.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from bakeoff.race.stages.stage import Checkpoint, RaceState, WantedTrials, alone, built_then

if TYPE_CHECKING:
    from collections.abc import Iterator


def wanted(state: RaceState) -> Iterator[WantedTrials | Checkpoint]:
    """Want one trial of each such contender, while the time budget lasts."""
    for plan in state.racing():
        if plan.cache_variables is None or not plan.cache_kept:
            continue
        yield Checkpoint()
        shutil.rmtree(state.specs.cache_folder(plan), ignore_errors=True)
        yield alone(state.specs.trial(plan, "compile", cache="cold"), built_then("compile"))
        shutil.rmtree(state.specs.cache_folder(plan), ignore_errors=True)
