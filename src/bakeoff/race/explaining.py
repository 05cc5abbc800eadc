"""What an explanation needs behind a race: traces of its contenders, and races of the suspects that they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.judge import explained
from bakeoff.measure.noise import PROBE_S
from bakeoff.race import conductor, counterfactual
from bakeoff.race.again import request_again
from bakeoff.race.budget import HALF, TRACES, Stopwatch, with_budget
from bakeoff.race.progress import Observer, silent
from bakeoff.race.stages import explain
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.spec.errors import ChangedError, StoreError
from bakeoff.store.absurd import told_if_absurd
from bakeoff.store.files import read_comparison

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Explanation
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.request import Request


def race(
    request: Request,
    observe: Observer = silent,
    *,
    launch: Launcher = ProcessWorker,
    probe_s: float = PROBE_S,
) -> Explanation:
    """Race contenders, trace them, race the suspects, and return the explanation; half of a time budget is the race's.

    Raises UsageError for what cannot be, StoreError where results cannot be written.
    """
    watch = Stopwatch(request.budget_s)
    outcome = conductor.run(with_budget(request, watch.left_s(HALF)), observe, launch=launch, probe_s=probe_s)
    folder = Path(outcome.path)
    explain_race(folder, with_budget(request, watch.left_s()), observe, launch=launch, probe_s=probe_s)
    return explained.explain(folder)


def explain_race(
    folder: Path,
    request: Request,
    observe: Observer = silent,
    *,
    launch: Launcher = ProcessWorker,
    probe_s: float = PROBE_S,
) -> None:
    """Trace the contenders of a comparison that was run, and race the suspects, within the request's time budget.

    `request` asks for the comparison in the folder again. Raises StoreError where that is not what it asks for.
    """
    watch = Stopwatch(request.budget_s)
    conductor.add(folder, with_budget(request, watch.left_s(TRACES)), [explain.wanted], observe, launch=launch)
    found = explained.explain(folder)
    left = with_budget(request, watch.left_s())
    counterfactual.check(found, left, observe, launch=launch, probe_s=probe_s)


def complete(
    folder: Path,
    observe: Observer = silent,
    *,
    budget_s: float | None = None,
    data: str | None = None,
    launch: Launcher = ProcessWorker,
    probe_s: float = PROBE_S,
) -> None:
    """Run what an explanation lacks, if anything; where nothing is, the comparison may be another machine's.

    Raises UsageError and StoreError where this comparison cannot be gone on with here.
    """
    with told_if_absurd():
        explained.explain(folder)
    comparison = read_comparison(folder)
    if not counterfactual.lacks_traces(folder) and counterfactual.is_checked(folder):
        return
    request = request_again(folder, comparison, budget_s=budget_s, data=data)
    try:
        explain_race(folder, request, observe, launch=launch, probe_s=probe_s)
    except (ChangedError, StoreError) as error:
        msg = f"{error} (--recorded explains by the records that there are, and runs nothing)"
        raise StoreError(msg) from error
