"""The search for the largest batch: certificates first, then attempts, each in a process of its own."""

from __future__ import annotations

import secrets
import shutil
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.comparison import certificate_of
from bakeoff.judge.search import Attempt, SearchOutcome, attempts_of, following, judge_search
from bakeoff.measure.machine import available_memory_bytes
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import Certified, Finished, Observer, Prepared, Running, Tried, silent
from bakeoff.race.rounds import Trials
from bakeoff.race.workers.bounded import bounded
from bakeoff.race.workers.guard import guarded
from bakeoff.race.workers.process import MARK, ProcessWorker
from bakeoff.race.workers.weighed import weighing
from bakeoff.spec import protocol
from bakeoff.spec.comparison import Search
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.locks import locked
from bakeoff.store.results import check_same_machine, read_records
from bakeoff.store.searches import read_search, searches, write_search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.race.workers.worker import Launcher, Worker
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.record import Record
    from bakeoff.spec.request import Request
    from bakeoff.spec.trial import TrialSpec

RACE_ONLY = {"aim", "max_rounds", "margin", "self_test", "epochs", "steps", "repeats"}
"""Fields of a request that have no meaning here; who makes the request refuses them."""

SHARE = 0.7
"""Of the memory that is available, unless the user names a limit: the rest is for what else runs, for what a process
takes before the watch sees it, and for its import."""

LARGEST_SHARE = 0.9
"""Of it, that a user may name: beyond, the machine would swap."""

PRECISION = 0.02
"""Step times would not show a difference below it, and each halving of it costs another process."""

STEPS = 2
"""After the first: the second is the first that finds the buffers of the one before it."""

COPIES = 3
"""Of a batch's samples, that exist at once while bakeoff puts them on the device: its own, one in the framework's
layout, and the framework's. They are no part of a step, and may not be what ends an attempt."""


def search_batches(
    request: Request, observe: Observer = silent, *, limit_bytes: int | None = None, launch: Launcher = ProcessWorker
) -> SearchOutcome:
    """Search each contender's largest batch that runs within the limit, by default a share of what is available.

    Raises UsageError before anything is started, StoreError when results cannot be written.
    """
    with _searching(request, limit_bytes, launch, observe) as searcher:
        searcher.certify()
        ended = searcher.run(request.budget_s)
    observe(Finished(ended))
    return judge_search(searcher.folder)


@contextmanager
def _searching(request: Request, limit_bytes: int | None, launch: Launcher, observe: Observer) -> Iterator[_Searcher]:
    """Prepare a new search, or one to go on with; it is this process's alone until the end."""
    with prepared(request) as (plan, inputs):
        results = Path(request.results)
        wanted = _wanted(plan, limit_bytes)
        folder, search = _resumed(results, wanted) if request.resume else _new(results, wanted)
        with locked(folder, "search"), guarded(MARK) if launch is ProcessWorker else nullcontext():
            write_search(folder, search)
            held = bounded(launch, int(SHARE * wanted.available_bytes))
            trials = Trials(search.plan, folder, inputs, launch=weighing(held), observe=observe)
            searcher = _Searcher(search, folder, trials, observe)
            observe(Prepared(search.plan, str(folder), len(searcher.records), None))
            yield searcher


def _wanted(plan: Comparison, asked_bytes: int | None) -> Search:
    """Fix the limit."""
    available = available_memory_bytes()
    on_device = {one.contender.options.get("device", "cpu") for one in plan.contenders} - {"cpu"}
    if asked_bytes is not None and on_device:
        msg = f"--memory limits the host's memory; on {', '.join(sorted(on_device))} the device's own is the limit"
        raise UsageError(msg)
    if available is None:
        msg = "this system does not tell how much memory is available, so a search for the largest batch is not safe"
        raise UsageError(msg)
    if asked_bytes is not None and not 0 < asked_bytes <= LARGEST_SHARE * available:
        most = LARGEST_SHARE * available / 1e9
        msg = f"--memory {asked_bytes / 1e9:.2f} GB: valid is up to {most:.2f} GB now, 90 % of what is available"
        raise UsageError(msg)
    return Search(
        plan=plan,
        limit_bytes=int(SHARE * available) if asked_bytes is None else asked_bytes,
        asked_bytes=asked_bytes,
        available_bytes=available,
        precision=PRECISION,
    )


def _new(results: Path, search: Search) -> tuple[Path, Search]:
    """Make the folder of a new search."""
    while True:
        name = f"{search.plan.workload.name}-max-batch-{secrets.token_hex(2)}"
        folder = results / name
        try:
            folder.mkdir()
        except FileExistsError:
            continue  # An id that is taken is drawn again.
        except OSError as error:
            msg = f"cannot make {folder}: {error.strerror or error}"
            raise StoreError(msg) from error
        return folder, msgspec.structs.replace(search, plan=msgspec.structs.replace(search.plan, id=name))


def _resumed(results: Path, wanted: Search) -> tuple[Path, Search]:
    """Find the latest search that asked for the same; its limit stays as it was."""
    for folder in reversed(searches(results)):
        before = read_search(folder)
        if _what(before) == _what(wanted):
            check_same_machine(before.plan, wanted.plan.machine)
            procedure = msgspec.structs.replace(
                before.plan.procedure, trial_limit_s=wanted.plan.procedure.trial_limit_s
            )
            return folder, msgspec.structs.replace(
                before, plan=msgspec.structs.replace(before.plan, procedure=procedure)
            )
    msg = f"nothing to go on with: no search in {results} asked for the same; run it without --resume"
    raise UsageError(msg)


def _what(search: Search) -> tuple[object, ...]:
    """Give what must agree for one run to go on with another's records."""
    plan = search.plan
    return (
        plan.workload_sha256,
        plan.scenario,
        plan.size,
        plan.batch_size,
        plan.data.sha256,
        [one.contender for one in plan.contenders],
        plan.procedure.seed,
        search.asked_bytes,
        search.precision,
    )


class _Searcher:
    """One search on its way: what is done already is read from its records, never done twice."""

    def __init__(self, search: Search, folder: Path, trials: Trials, observe: Observer) -> None:
        self._search = search
        self.folder = folder
        self._trials = trials
        self._observe = observe
        self._began = time.monotonic()
        self.records: dict[str, Record] = read_records(folder).records

    def certify(self) -> None:
        """Compute every contender's certificate: what computes something else needs another memory."""
        plan = self._search.plan
        if plan.reference is not None and not self._of("reference", plan.reference):
            self._keep(self._trials.certify(plan.reference, "reference"))
        self._certified: list[ContenderPlan] = []
        for one in plan.contenders:
            if not self._of("certify", one):
                self._keep(self._trials.certify(one, "certify"))
            certificate = certificate_of(plan, self.records, self.folder, one)
            self._observe(Certified(certificate))
            self._certified += [one] if certificate.passed else []

    def run(self, budget_s: float | None) -> str:
        """Try sizes until each contender's largest batch is known; say why it ended."""
        for plan in self._certified:
            while (batch := following(self._search, self._attempts(plan))) is not None:
                if budget_s is not None and time.monotonic() - self._began >= budget_s:
                    return "budget"
                self._keep(self._attempt(plan, batch))
                self._tell(plan, batch)
        return "decided"

    def _attempt(self, plan: ContenderPlan, batch: int) -> Record:
        """Try one size in a process of its own."""

        def act(worker: Worker) -> None:
            self._observe(Running(plan.contender.label, f"batch {batch}"))
            for command in (protocol.Build(), protocol.MeasureMemory(steps=STEPS)):
                worker.ask(command, self._search.plan.procedure.trial_limit_s)

        return self._trials.whole(self._spec(plan, batch), plan, act)

    def _spec(self, plan: ContenderPlan, batch: int) -> TrialSpec:
        """Compose what is asked of a worker."""
        spec = self._trials.spec(plan, "batch")
        size = self._search.plan.workload.sizes[self._search.plan.size]
        copies_bytes = COPIES * batch * size.sample.sample_bytes
        return msgspec.structs.replace(
            spec, name=f"{spec.name}-{batch}", batch_size=batch, ceiling_bytes=self._search.limit_bytes + copies_bytes
        )

    def _tell(self, plan: ContenderPlan, batch: int) -> None:
        """Tell how an attempt went."""
        one = next(one for one in self._attempts(plan) if one.batch_size == batch)
        self._observe(Tried(plan.contender.label, batch, one.fits, one.peak_bytes, one.reason))

    def _attempts(self, plan: ContenderPlan) -> list[Attempt]:
        """Give a contender's attempts so far."""
        return attempts_of(self._search, self._of("batch", plan))

    def _of(self, purpose: str, plan: ContenderPlan) -> list[Record]:
        """Give the records of a contender's trials of one purpose."""
        return [
            record
            for record in self.records.values()
            if (record.trial.purpose, record.trial.contender.label) == (purpose, plan.contender.label)
        ]

    def _keep(self, record: Record) -> None:
        """Take a finished trial in; one with other versions than before is no part of this search."""
        for before in self.records.values():
            same = before.trial.contender == record.trial.contender and before.outcome == record.outcome == "done"
            if same and before.versions != record.versions:
                shutil.rmtree(self.folder / record.trial.name)
                label, had, has = record.trial.contender.label, before.versions, record.versions
                msg = f"cannot go on with {self.folder.name}: {label} had {had} and has {has} here"
                raise StoreError(msg)
        self.records[record.trial.name] = record
