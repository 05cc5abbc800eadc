"""What can be conducted: a comparison, its certificates or its timers alone, and a search for the largest batch.

Each is a list of stages for the same loop.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.search import judge_search
from bakeoff.judge.timer import timer_verdict
from bakeoff.measure import gpu_facts
from bakeoff.measure.gpus import uuid_in
from bakeoff.measure.noise import PROBE_S, probe
from bakeoff.race.devices import on_gpu_of
from bakeoff.race.foresight import told_before
from bakeoff.race.loop import Loop
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import Finished, Observer, Prepared, silent
from bakeoff.race.scaling import check_single
from bakeoff.race.stages import (
    attempts,
    certify,
    compiling,
    energy,
    epochs,
    explain,
    late,
    memory,
    peaks,
    rounds,
    selftest,
)
from bakeoff.race.stages.stage import RaceState, Stage
from bakeoff.race.workers.group import grouped
from bakeoff.race.workers.guard import guarded
from bakeoff.race.workers.process import MARK, ProcessWorker
from bakeoff.race.workers.watched import bounded, watching, weighing
from bakeoff.spec.comparison import Procedure
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store import searches
from bakeoff.store.absurd import told_if_absurd
from bakeoff.store.files import forget_end, read_comparison, write_comparison, write_end
from bakeoff.store.folders import new_folder, resumable
from bakeoff.store.locks import locked
from bakeoff.store.results import take_up
from bakeoff.store.resuming import asked_of, continued, latest_like

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.search import SearchOutcome
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.comparison import Comparison, Search
    from bakeoff.spec.request import Request
    from bakeoff.spec.selftest import TimerVerdict
    from bakeoff.spec.verdict import Certificate

COMPARISON: tuple[Stage, ...] = (
    certify.wanted,
    rounds.wanted,
    late.wanted,
    epochs.wanted,
    selftest.wanted,
    peaks.wanted,
    memory.wanted,
    compiling.wanted,
    energy.wanted,
    rounds.wanted,
)
"""What a comparison runs, in this order: the answer comes first, and what is behind it while the time budget lasts.
Rounds come last once more: where a self-test or a peak has refused a contender, pairs of the others may be open."""

REMEMBERED: tuple[Stage, ...] = (selftest.wanted, peaks.wanted)
"""What is made once on a machine, and not at all where a request has no `self_test`."""

RACE_ONLY = {*Procedure.__struct_fields__, "self_test", "traced", "trace_rounds"} - {
    "budget_s",
    "trial_limit_s",
    "seed",
}
"""Fields of a request that have no meaning in a search; who makes the request refuses them."""


def run(  # noqa: PLR0913 - what a race is made of, each but the request with a usual value
    request: Request,
    observe: Observer = silent,
    *,
    launch: Launcher = ProcessWorker,
    probe_s: float = PROBE_S,
    sharing: int = 0,
    stages: Sequence[Stage] = COMPARISON,
    also: Sequence[Stage] = (),
) -> Outcome:
    """Run a comparison to its end, or resume one; return its outcome.

    `sharing` is how many comparisons share a time budget that the request's is a part of; 0: it has its own.
    `stages` are all that is run but `also`, which come behind and have no part in why the comparison has ended.
    Raises UsageError before anything is started, StoreError when results cannot be written.
    """
    _check_honest(request)
    with _comparison(request, observe, launch) as loop:
        told = told_before(loop.state.comparison, begun=bool(loop.state.records), sharing=sharing)
        observe(_prepared(loop.state, _is_calm(probe_s), told))
        wanted = with_traces(stages, request.trace_rounds) if request.traced else stages
        cut = loop.run(stage for stage in wanted if request.self_test or stage not in REMEMBERED)
        write_end(loop.state.folder, "budget" if rounds.wanted in cut else rounds.ended(loop.state))
        loop.run(also)
    outcome = judge_comparison(loop.state.folder)
    observe(Finished(outcome.ended))
    return outcome


def with_traces(stages: Sequence[Stage], trace_rounds: int | None) -> list[Stage]:
    """Return the stages with traces right behind the first rounds: what they are made for rests on them."""
    found = list(stages)
    found.insert(found.index(rounds.wanted) + 1, partial(explain.wanted, rounds=trace_rounds))
    return found


def add(
    folder: Path,
    request: Request,
    stages: Sequence[Stage],
    observe: Observer = silent,
    *,
    launch: Launcher = ProcessWorker,
) -> None:
    """Run more stages in a comparison's folder, which `request` asks for again; why it has ended stays as it is.

    Raises StoreError where what is asked for is not what was compared there, or this is another machine.
    """
    with prepared(request, observe, asking=launch is ProcessWorker) as (wanted, inputs):
        before = read_comparison(folder)
        if asked_of(before) != asked_of(wanted):
            msg = f"cannot go on with {before.id}: its contenders, options or data are not what they were"
            raise StoreError(msg)
        now = continued(before, on_gpu_of(before, wanted, request))
        with _owned(folder, "comparison", launch):
            again = take_up(folder)
            loop = _loop(RaceState(now, folder, inputs, again), launch, observe)
            observe(_prepared(loop.state))
            loop.run(stages)


def verify(request: Request, observe: Observer = silent, *, launch: Launcher = ProcessWorker) -> list[Certificate]:
    """Return the certificates of all contenders; nothing is timed."""
    with _comparison(request, observe, launch) as loop:
        observe(_prepared(loop.state))
        loop.run([certify.every_one])
        return [loop.state.certificate(plan) for plan in loop.state.comparison.contenders]


def check_timers(
    request: Request, observe: Observer = silent, *, launch: Launcher = ProcessWorker
) -> list[TimerVerdict]:
    """Test the timers of all contenders, also those that passed before; return the verdicts."""
    _check_honest(request)
    with _comparison(request, observe, launch) as loop:
        observe(_prepared(loop.state))
        loop.run([selftest.every_timer])
        return [timer_verdict(record) for record in loop.state.of("selftest")]


def search_batches(
    request: Request, observe: Observer = silent, *, limit_bytes: int | None = None, launch: Launcher = ProcessWorker
) -> SearchOutcome:
    """Search each contender's largest batch that runs within the limit, by default a share of what is available.

    Raises UsageError before anything is started, StoreError when results cannot be written.
    """
    _check_honest(request)
    with prepared(request, observe, asking=launch is ProcessWorker) as (plan, inputs):
        check_single(plan.contenders)
        wanted = attempts.within(plan, limit_bytes)
        folder, search = _search(request, wanted)
        with _owned(folder, "search", launch):
            again = take_up(folder)
            searches.write_search(folder, search)
            held = bounded(launch, attempts.ceiling_bytes(wanted))
            loop = Loop(RaceState(search.plan, folder, inputs, again), weighing(held), observe)
            observe(_prepared(loop.state))
            # What computes something else needs another memory, so certificates come first.
            cut = loop.run([certify.wanted, partial(attempts.wanted, search)])
    observe(Finished("budget" if cut else "decided"))
    return judge_search(folder)


def _check_honest(request: Request) -> None:
    """Raise UsageError where a fault is to be injected into anything but a certificate."""
    if request.inject:
        msg = "a fault is injected into certificates alone: bakeoff verify WORKLOAD CONTENDER --inject OPTION=VALUE"
        raise UsageError(msg)


@contextmanager
def _comparison(request: Request, observe: Observer, launch: Launcher) -> Iterator[Loop]:
    """Yield the loop of a new comparison or of one to resume; its folder is this process's alone until the end."""
    with prepared(request, observe, asking=launch is ProcessWorker) as (wanted, inputs):
        folder, comparison = _begun(request, wanted)
        with _owned(folder, "comparison", launch):
            if request.resume:  # A folder may be a stranger's: before anything rests on its records, they are judged.
                with told_if_absurd():
                    judge_comparison(folder)
            again = take_up(folder)
            if request.resume:
                comparison = rounds.made_up(comparison, folder, inputs)
            write_comparison(folder, comparison)
            forget_end(folder)
            yield _loop(RaceState(comparison, folder, inputs, again), launch, observe)


def _loop(state: RaceState, launch: Launcher, observe: Observer) -> Loop:
    """Return the loop of a comparison, whose workers are watched."""
    return Loop(state, weighing(watching(grouped(launch))), observe)


@contextmanager
def _owned(folder: Path, kind: str, launch: Launcher) -> Iterator[None]:
    """Keep other parents away from a folder, and have processes ended when this one dies."""
    with locked(folder, kind), guarded(MARK) if launch is ProcessWorker else nullcontext():
        yield


def _is_calm(probe_s: float) -> bool | None:
    """Return whether others leave the machine alone; what just ends, as of a race before, is gone a moment later."""
    calm = probe(probe_s).calm
    return probe(probe_s).calm if calm is False else calm


def _prepared(state: RaceState, calm: bool | None = None, told: str = "") -> Prepared:  # noqa: FBT001 - what a probe saw
    """Return the event that all is ready; only a race foresees its budget."""
    uuid = uuid_in(state.comparison.machine)
    seen = gpu_facts.state(uuid) if uuid else {}
    return Prepared(state.comparison, str(state.folder), len(state.records), calm, told, state.again, seen)


def _begun(request: Request, wanted: Comparison) -> tuple[Path, Comparison]:
    """Return the folder of a new comparison, or of the latest that asked for the same, with what it compares."""
    results = Path(request.results)
    if not request.resume:
        folder = new_folder(results, wanted.workload.name)
        return folder, msgspec.structs.replace(wanted, id=folder.name)
    folder, before = resumable("comparison", results, latest_like(results, wanted))
    return folder, continued(before, on_gpu_of(before, wanted, request))


def _search(request: Request, wanted: Search) -> tuple[Path, Search]:
    """Return the folder of a new search, or of the latest that asked for the same, whose limit stays as it was."""
    results = Path(request.results)
    if not request.resume:
        folder = new_folder(results, f"{wanted.plan.workload.name}-max-batch")
        return folder, msgspec.structs.replace(wanted, plan=msgspec.structs.replace(wanted.plan, id=folder.name))
    folder, before = resumable("search", results, searches.latest_like(results, wanted))
    plan = continued(before.plan, on_gpu_of(before.plan, wanted.plan, request))
    return folder, msgspec.structs.replace(before, plan=plan)
