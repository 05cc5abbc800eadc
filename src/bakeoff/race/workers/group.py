"""A trial of several processes, one for each device: one worker to whoever asks, and one fate for all its replicas.

Each command goes to all replicas, and the first that fails ends them all: the others would wait for it in a collective.
What decides how many steps there are is a count that all get, never a replica's own clock.
"""

from __future__ import annotations

import math
import selectors
import statistics
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from bakeoff.certify.checksum import farthest
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec import protocol
from bakeoff.spec.errors import StoreError
from bakeoff.spec.group import replica_folder
from bakeoff.spec.record import NS
from bakeoff.store.files import RECORD_FILE, read_record, write_trial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bakeoff.race.workers.worker import Launcher, Worker
    from bakeoff.spec.protocol import Answer, Command, Ready
    from bakeoff.spec.record import ReplicaReport, TrialOutcome
    from bakeoff.spec.trial import TrialSpec

Result = TypeVar("Result")

GRACE_S = 2.0
"""A replica that dies takes its companions' collectives with it, and their complaint may arrive first: for so long the
others are looked at for a process that has ended."""

GONE = frozenset({"killed", "crashed"})
"""Outcomes of a replica whose process has ended: the cause, whatever its companions say."""


class GroupWorker:
    """The workers of one group, in the order of their ranks."""

    def __init__(self, workers: Sequence[Worker], folder: Path, tolerance: float = 0.0) -> None:
        """Take started workers, the first one's folder, and how far their parameters may be apart."""
        self._workers = workers
        self._folder, self._tolerance = folder, tolerance
        self._step_s = 0.0
        self.pids: tuple[int, ...] = tuple(pid for one in workers for pid in getattr(one, "pids", ()))
        """Of the replicas' processes."""
        self._own_ways: dict[type[Command], Callable[[Any, float], Answer]] = {
            protocol.Warm: self._warmed,
            protocol.Fence: self._fenced,
            protocol.RunBlock: self._block,
            protocol.RunEpoch: self._epoch,
            protocol.Note: self._first,
            protocol.NoteGpuMemory: self._first,
            protocol.Quit: self._quit,
        }
        """Commands that a group does in another way than by telling all of its replicas."""

    def ready(self, limit_s: float) -> Ready:
        """Wait until all have imported the framework and met; tell each who the others are."""
        processes = self._processes()
        if processes:
            answers = self._collected(processes, limit_s)
            for own in processes:
                own.send(protocol.Beside(pids=[one.pid for one in processes if one is not own]))
            self._collected(processes, limit_s)
        else:
            answers = [self._of(rank, partial(one.ready, limit_s)) for rank, one in enumerate(self._workers)]
        ready = [one for one in answers if isinstance(one, protocol.Ready)]
        return max(ready, key=lambda one: one.import_ns)

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Have all replicas do a command; return the group's answer."""
        own = self._own_ways.get(type(command))
        return self._all(command, limit_s)[0] if own is None else own(command, limit_s)

    def _warmed(self, command: protocol.Warm, limit_s: float) -> protocol.Warmed:
        """Warm up by a count: the first steps tell how many fit into the time that is asked for."""
        first = self._warm(max(1, command.steps), limit_s)
        left_s = command.seconds - sum(first) * NS
        more = min(command.limit - len(first), self._steps_in(left_s))
        return protocol.Warmed(steps_ns=first + (self._warm(more, limit_s) if more > 0 else []))

    def _fenced(self, command: protocol.Fence, limit_s: float) -> Answer:
        """Wait for each of so many steps as fit into the time."""
        steps = max(command.steps, min(command.limit, self._steps_in(command.seconds)))
        return self._all(msgspec.structs.replace(command, steps=steps, seconds=0.0), limit_s)[0]

    def _epoch(self, command: protocol.RunEpoch, limit_s: float) -> protocol.Ran:
        """Run an epoch, which ends with the last replica."""
        return max(self._ran(command, limit_s), key=lambda one: one.elapsed_ns)

    def _quit(self, command: protocol.Quit, limit_s: float) -> Answer:
        """End the trial, once all is gathered."""
        self._conclude(limit_s)
        return self._all(command, limit_s)[0]

    def _warm(self, steps: int, limit_s: float) -> list[int]:
        """Run so many steps in every replica; return the first one's times."""
        answer = self._all(protocol.Warm(steps=steps), limit_s)[0]
        assert isinstance(answer, protocol.Warmed)
        if answer.steps_ns:
            self._step_s = statistics.median(answer.steps_ns) * NS
        return answer.steps_ns

    def _steps_in(self, seconds: float) -> int:
        """Return how many steps fit into a time, by those of the last warm-up."""
        return math.ceil(seconds / self._step_s) if seconds > 0 and self._step_s > 0 else 0

    def _block(self, command: protocol.RunBlock, limit_s: float) -> protocol.Ran:
        """Run a block whose timed part all begin together; its time is from the first start to the last end."""
        processes = self._processes()
        if processes:
            together = msgspec.structs.replace(command, together=True)
            for rank, one in enumerate(processes):
                self._of(rank, partial(one.send, together))
            self._collected(processes, limit_s)
            ran = self._ran(protocol.Go(), limit_s)
        else:
            ran = self._ran(command, limit_s)
        began = [one.began_ns for one in ran if one.began_ns is not None]
        elapsed_ns = max(one.elapsed_ns for one in ran)
        if len(began) == len(ran):
            elapsed_ns = max(start + one.elapsed_ns for start, one in zip(began, ran, strict=True)) - min(began)
        note = protocol.NoteGroup(elapsed_ns=elapsed_ns, replicas_ns=[one.elapsed_ns for one in ran])
        self._first(note, limit_s)
        return msgspec.structs.replace(ran[0], elapsed_ns=elapsed_ns)

    def _ran(self, command: Command, limit_s: float) -> list[protocol.Ran]:
        """Return what each replica has run."""
        return [one for one in self._all(command, limit_s) if isinstance(one, protocol.Ran)]

    def _conclude(self, limit_s: float) -> None:
        """Hold the replicas against each other, and have the first one join what they have computed."""
        answers = self._all(protocol.Report(), limit_s)
        reports = [one.report for one in answers if isinstance(one, protocol.Reported)]
        for report in reports[1:]:
            if reason := why_apart(reports[0], report, self._tolerance):
                raise self._fallen(report.rank, WorkerLostError("failed", reason, is_recorded=False))
        self._first(protocol.Gather(reports=reports), limit_s)

    def _processes(self) -> list[ProcessWorker]:
        """Return the workers that are processes: all of them, or none in tests within this process."""
        return [one for one in self._workers if isinstance(one, ProcessWorker)]

    def _first(self, command: Command, limit_s: float) -> Answer:
        """Return the first replica's answer to a command that is for it alone."""
        return self._of(0, lambda: self._workers[0].ask(command, limit_s))

    def _all(self, command: Command, limit_s: float) -> list[Answer]:
        """Return every replica's answer, in the order of their ranks."""
        processes = self._processes()
        if not processes:
            return [self._of(rank, partial(one.ask, command, limit_s)) for rank, one in enumerate(self._workers)]
        for rank, one in enumerate(processes):
            self._of(rank, partial(one.send, command))
        return self._collected(processes, limit_s)

    def _of(self, rank: int, act: Callable[[], Result]) -> Result:
        """Return what a replica gives; where it is lost, the group is."""
        try:
            return act()
        except WorkerLostError as lost:
            raise self._fallen(rank, lost) from lost

    def _collected(self, processes: Sequence[ProcessWorker], limit_s: float) -> list[Answer]:
        """Return one answer of each process, as they come; the first that is lost ends all."""
        answers: dict[int, Answer] = {}
        deadline = time.monotonic() + limit_s
        with selectors.DefaultSelector() as selector:
            for rank, one in enumerate(processes):
                selector.register(one, selectors.EVENT_READ, rank)
            while len(answers) < len(processes):
                events = selector.select(max(0.0, deadline - time.monotonic()))
                if not events:
                    raise self._silent([rank for rank in range(len(processes)) if rank not in answers], limit_s)
                for key, _ in events:
                    answer = self._of(key.data, processes[key.data].arrived)
                    if answer is not None:
                        answers[key.data] = answer
                        selector.unregister(processes[key.data])
        return [answers[rank] for rank in range(len(processes))]

    def _silent(self, ranks: Sequence[int], limit_s: float) -> WorkerLostError:
        """End a group of which these have not answered in time; return the error that says so."""
        self.end()
        named = f"replica {ranks[0]}" if len(ranks) == 1 else f"replicas {', '.join(map(str, ranks))}"
        msg = f"{named} of {len(self._workers)}: no answer within the time limit of {limit_s:g} s"
        return WorkerLostError("timeout", msg)

    def _fallen(self, rank: int, lost: WorkerLostError) -> WorkerLostError:
        """End a group for what a replica, or the cause of its complaint, has come to; return the error that says so."""
        rank, lost = self._cause(rank, lost)
        self.end()
        if rank == 0:
            return lost
        # What the first replica has recorded is what it saw of the others' end.
        (self._folder / RECORD_FILE).unlink(missing_ok=True)
        outcome, detail = lost.outcome, lost.detail
        if lost.is_recorded:
            outcome, detail = self._recorded(rank, lost)
        reason = f"replica {rank}: {lost.reason}"
        return WorkerLostError(outcome, reason, detail, killed_by=lost.killed_by, is_recorded=False)

    def _cause(self, rank: int, lost: WorkerLostError) -> tuple[int, WorkerLostError]:
        """Return the replica whose process has ended, where one has; else the one that was seen first."""
        deadline = time.monotonic() + GRACE_S
        others = {other: one for other, one in enumerate(self._processes()) if other != rank}
        if lost.outcome in GONE:
            return rank, lost
        with selectors.DefaultSelector() as selector:
            for other, one in others.items():
                if not one.has_ended:
                    selector.register(one, selectors.EVENT_READ, other)
            while selector.get_map() and (events := selector.select(max(0.0, deadline - time.monotonic()))):
                for key, _ in events:
                    try:
                        others[key.data].arrived()
                    except WorkerLostError as found:
                        if found.outcome in GONE:
                            return key.data, found
                        selector.unregister(key.fd)
        return rank, lost

    def _recorded(self, rank: int, lost: WorkerLostError) -> tuple[TrialOutcome, str]:
        """Return the outcome and the detail that a replica has recorded in its own folder."""
        try:
            record = read_record(self._folder / replica_folder(rank))
        except (StoreError, OSError):
            return lost.outcome, lost.detail
        return record.outcome, record.detail

    def end(self) -> None:
        """End all processes of the group."""
        for one in self._workers:
            one.end()


def why_apart(first: ReplicaReport, other: ReplicaReport, tolerance: float) -> str:
    """Return why two replicas do not have the same parameters; empty where they do."""
    if first.parameters_sha256 == other.parameters_sha256:
        return ""
    apart = farthest(other.checksums, first.checksums) if first.checksums and other.checksums else math.inf
    if 0.0 < apart <= tolerance:
        return ""
    how = f"by {apart:.1e} of the largest" if math.isfinite(apart) and apart > 0.0 else "in some bit"
    return f"its parameters are not those of replica 0 after the same steps: they differ {how}"


def grouped(launch: Launcher) -> Launcher:
    """Return a launcher that starts a worker for each replica where a trial is a group's."""

    def start(folder: Path, trial: TrialSpec, interpreter: str) -> Worker:
        group = trial.group
        if group is None:
            return launch(folder, trial, interpreter)
        workers: list[Worker] = []
        try:
            for rank in range(group.world):
                own = msgspec.structs.replace(trial, group=msgspec.structs.replace(group, rank=rank))
                place = folder / replica_folder(rank) if rank else folder
                if rank:
                    place.mkdir(exist_ok=True)
                    write_trial(place, own)
                workers.append(launch(place, own, interpreter))
        except BaseException:
            for one in workers:
                one.end()
            raise
        return GroupWorker(workers, folder, trial.tolerance)

    return start
