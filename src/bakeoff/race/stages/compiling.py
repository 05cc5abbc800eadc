"""What a compiler's cache saves: the first step with an empty cache (cold), and with what that left (warm)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from bakeoff.race.stages.stage import State, Wanted, alone, built_then

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.trial import CacheState


def wanted(state: State) -> Iterator[Wanted]:
    """Want a cold and a warm trial of each contender whose compiler can keep its work."""
    for plan in state.racing():
        if plan.cache_variables is None:
            continue
        cache = state.specs.cache_folder(plan)
        if not _done(state, plan, "cold"):
            shutil.rmtree(cache, ignore_errors=True)
            yield _first_step(state, plan, "cold")
        # Where the cold trial failed or left nothing, a warm one would find nothing.
        if _done(state, plan, "cold") and cache.is_dir() and any(cache.iterdir()):
            yield _first_step(state, plan, "warm")
        shutil.rmtree(cache, ignore_errors=True)


def _first_step(state: State, plan: ContenderPlan, cache: CacheState) -> Wanted:
    """Return a trial of the first step alone."""
    return alone(state.specs.trial(plan, "compile", cache=cache), built_then("compile"))


def _done(state: State, plan: ContenderPlan, cache: CacheState) -> bool:
    """Return whether such a trial has come to its end."""
    return any(record.trial.cache == cache and record.outcome == "done" for record in state.of("compile", plan))
