"""What a stage is: it sees the records so far and says which trials it wants next, each with its script of commands."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from bakeoff.judge.certificate import certificate_of
from bakeoff.judge.comparison import assess
from bakeoff.judge.timer import timer_verdict
from bakeoff.race import fitting
from bakeoff.race.progress import ContenderActivity, Event
from bakeoff.race.specs import Specs, Trial
from bakeoff.race.workers.worker import Worker, WorkerLostError
from bakeoff.spec import protocol
from bakeoff.spec.record import NS, Record
from bakeoff.store.results import Records, read_records

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.race.progress import Observer
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.trial import Purpose, TrialSpec
    from bakeoff.spec.verdict import Certificate

Result = TypeVar("Result")


class WarmUp(msgspec.Struct, frozen=True, kw_only=True):
    """How long a worker is warmed up, waiting for each step; later rounds run as many steps as the first."""

    fewest: int = 10
    """At least, unless steps are long: two batches of MSER-5."""
    few: int = 6
    """Of long steps: those of a certificate, of large ones two more."""
    steps: int = 20
    """At least where steps are short: MSER-5 needs several batches of 5."""
    seconds: float = 0.3
    """At least."""
    limit: int = 400
    """Steps at most."""


WARM_UP = WarmUp()

LONG_S = 10.0
"""Steps of which the usual number takes longer are long, and fewer are run before and behind the blocks."""


def fewer_of_long(step_s: float, usual: int, few: int) -> int:
    """Return the usual number of steps, or of long ones as many as LONG_S holds, and `few` at least."""
    return min(usual, max(few, math.ceil(LONG_S / step_s)))


UNDISTURBED = 10
"""One warm step in so many, at least, is taken for undisturbed."""

PROCESS_S = 4.0
"""About what a trial takes beside its own work, to start, import and build: a budget with less left starts none."""

SHORTEST_STEP_S = 1e-6
"""No step of Python is shorter; a scripted one may be, and numbers of steps are its quotients."""


class Session:
    """One worker at work, under the time limit of a trial; the observer hears what it does."""

    def __init__(self, worker: Worker, label: str, limit_s: float, observe: Observer, pass_steps: int = 1) -> None:
        """Take a started worker; so many of its steps have seen every shape of batches."""
        self.worker = worker
        self.label = label
        self.limit_s = limit_s
        self.pass_steps = pass_steps
        self._observe = observe

    def tell(self, doing: str) -> None:
        """Report to the observer what this worker does now."""
        self.report(ContenderActivity(self.label, doing))

    def report(self, event: Event) -> None:
        """Report an event to the observer."""
        self._observe(event)

    def ask(self, command: protocol.Command, limit_s: float | None = None) -> protocol.Answer:
        """Return the answer to a command; raise WorkerLostError."""
        return self.worker.ask(command, self.limit_s if limit_s is None else limit_s)

    def warm_up(self, steps: int | None = None) -> list[int]:
        """Build the step and warm it up, by so many steps or as long as it takes; return each warm step's time in ns.

        Of long steps, few are enough. Where the shapes of batches differ, it runs two passes over them at least: the
        first one compiles, the second one tells how long steps are.
        """
        self.tell("building")
        self.ask(protocol.Build())
        self.tell("warming up")
        if steps is not None:
            return self.warm(protocol.Warm(steps=steps))
        passes = 2 * self.pass_steps if self.pass_steps > 1 else 0
        warm_ns = self.warm(protocol.Warm(steps=max(WARM_UP.few, passes)))
        fewest = max(passes, fewer_of_long(step_s(warm_ns, self.pass_steps), WARM_UP.fewest, WARM_UP.few))
        if len(warm_ns) < fewest:
            warm_ns += self.warm(protocol.Warm(steps=fewest - len(warm_ns)))
        left_s = WARM_UP.seconds - sum(warm_ns) * NS
        if left_s > 0:
            missing, limit = (max(0, count - len(warm_ns)) for count in (WARM_UP.steps, WARM_UP.limit))
            warm_ns += self.warm(protocol.Warm(steps=missing, seconds=left_s, limit=limit))
        return warm_ns

    def whole(self, steps: int) -> int:
        """Return at least so many steps: whole passes over the batches where their shapes differ."""
        return -(-steps // self.pass_steps) * self.pass_steps

    def warm(self, command: protocol.Warm) -> list[int]:
        """Run steps of a warm-up; return the time of each in ns."""
        answer = self.ask(command)
        assert isinstance(answer, protocol.Warmed)
        return answer.steps_ns


class Team:
    """The workers of WantedTrials that still answer."""

    def __init__(self, sessions: dict[str, Session], lose: Callable[[str, WorkerLostError], None]) -> None:
        """Take sessions by label, and what to do when a worker is lost."""
        self._sessions = sessions
        self._lose = lose

    @property
    def labels(self) -> list[str]:
        """Return who still answers."""
        return list(self._sessions)

    def each(self, act: Callable[[Session], Result]) -> dict[str, Result]:
        """Return what `act` gives for each worker, one after another; a lost one drops out, the others go on."""
        results = {}
        for label in self.labels:
            try:
                results[label] = act(self._sessions[label])
            except WorkerLostError as lost:
                self._drop(label, lost)
        return results

    def ask(self, label: str, doing: str, command: protocol.Command) -> protocol.Answer | None:
        """Have one worker do a command; return its answer, None where it is lost or was lost before."""
        if label not in self._sessions:
            return None
        try:
            self._sessions[label].tell(doing)
            return self._sessions[label].ask(command)
        except WorkerLostError as lost:
            self._drop(label, lost)
            return None

    def report(self, label: str, event: Event) -> None:
        """Report an event of one worker to the observer, if it still answers."""
        if label in self._sessions:
            self._sessions[label].report(event)

    def only(self, label: str) -> Team:
        """Return a team of one of these workers, which drops out of this one when it is lost."""
        return Team({label: self._sessions[label]}, self._forget)

    def _forget(self, label: str, lost: WorkerLostError) -> None:
        """Have the record written of a worker that was lost in a smaller team."""
        self._sessions.pop(label)
        self._lose(label, lost)

    def _drop(self, label: str, lost: WorkerLostError) -> None:
        """End a worker that was lost and have its record written."""
        self._sessions.pop(label).worker.end()
        self._lose(label, lost)


class WantedTrials(msgspec.Struct, frozen=True):
    """Trials that are to be run now, in fresh processes that are resident together, and their script of commands."""

    trials: tuple[Trial, ...]
    script: Callable[[Team], object]


class Adopted(msgspec.Struct, frozen=True):
    """A record of an earlier comparison that stands for a trial of this one."""

    record: Record
    arrays: Path | None = None
    """The file of its evidence, where it has any."""
    instead: WantedTrials | None = None
    """What is run where that file is another by now: other processes remember, and make room, at the same time."""


def adopted(
    record: Record, trial: TrialSpec, arrays: Path | None = None, instead: WantedTrials | None = None
) -> Adopted:
    """Return a record that stands for a trial; it goes on to name the comparison that it was made in.

    And what its compiler found in its cache, which may be other than what it would find now.
    """
    made_in = msgspec.structs.replace(trial, comparison=record.trial.comparison, cache=record.trial.cache)
    return Adopted(msgspec.structs.replace(record, trial=made_in), arrays, instead)


class Checkpoint(msgspec.Struct, frozen=True):
    """The stage ends here where the time budget is spent, or where what comes next takes longer than is left."""

    needs_s: float = 0.0


Stage = Callable[["RaceState"], Iterator[WantedTrials | Adopted | Checkpoint | Event]]
"""A generator: when it goes on behind WantedTrials, the records of these trials are in the state."""


def alone(trial: Trial, script: Callable[[Session], object]) -> WantedTrials:
    """Return a trial that has the machine for itself."""
    return WantedTrials((trial,), lambda team: team.each(script))


def in_turn(trials: Sequence[WantedTrials]) -> WantedTrials:
    """Return several trials as one: they start together, so that their imports overlap, and work one after another.

    A worker rests while another one works; contenders have one trial each.
    """
    scripts = {trial.spec.contender.label: one.script for one in trials for trial in one.trials}

    def script(team: Team) -> None:
        for label in team.labels:
            scripts[label](team.only(label))

    return WantedTrials(tuple(trial for one in trials for trial in one.trials), script)


def behind(state: RaceState, asked: Sequence[WantedTrials], needs_s: float) -> Iterator[WantedTrials | Checkpoint]:
    """Yield trials that come behind the verdict and take about so long in all, if there is time for them.

    They start together where they fit in memory together; else, and where not all of them have time, one by one.
    """
    labels = {trial.spec.contender.label for one in asked for trial in one.trials}
    plans = [plan for plan in state.comparison.contenders if plan.contender.label in labels]
    left_s = state.left_s()
    if len(asked) > 1 and (left_s is None or left_s > needs_s) and not state.why_apart(plans):
        yield in_turn(asked)
        return
    for one in asked:
        yield Checkpoint(needs_s=needs_s / len(asked))
        yield one


def built_then(doing: str, *commands: protocol.Command, limit_s: float = 0.0) -> Callable[[Session], None]:
    """Return the script that builds the step and then gives these commands, each with this time limit at least."""

    def script(session: Session) -> None:
        session.tell(doing)
        for command in (protocol.Build(), *commands):
            session.ask(command, max(session.limit_s, limit_s))

    return script


def step_s(warm_ns: list[int], pass_steps: int = 1) -> float:
    """Return a step's time, estimated from the second half of the warm steps: the first may still be warming up.

    Where the shapes of batches differ it is the mean of the last pass over them.

    It plans how many steps there are, and no result rests on it: so it is a low quantile, which other processes that
    disturb the warm-up hardly move.
    """
    if pass_steps > 1:
        last_ns = warm_ns[-pass_steps:]
        return max(SHORTEST_STEP_S, sum(last_ns) / len(last_ns) / 1e9)
    steady_ns = sorted(warm_ns[len(warm_ns) // 2 :])
    return max(SHORTEST_STEP_S, steady_ns[len(steady_ns) // UNDISTURBED] / 1e9)


class RaceState:
    """What stages decide by: the comparison, the records so far, and the time."""

    def __init__(self, comparison: Comparison, folder: Path, inputs: Path, again: tuple[str, ...] = ()) -> None:
        """Read what is on disk; `inputs` is the folder of the batches, `again` names trials that are done again."""
        self.comparison = comparison
        self.again = again
        self.folder = folder
        self.specs = Specs(comparison, folder, inputs)
        before = read_records(folder)
        self.records: dict[str, Record] = before.records
        self._damaged = before.damaged
        self._certificates: dict[str, Certificate] = {}
        self._began = time.monotonic()

    def of(self, purpose: Purpose, plan: ContenderPlan | None = None) -> list[Record]:
        """Return the records of a kind of trial, of one contender or of all."""
        return [
            record
            for record in self.records.values()
            if record.trial.purpose == purpose
            and (plan is None or record.trial.contender.label == plan.contender.label)
        ]

    def certificate(self, plan: ContenderPlan) -> Certificate:
        """Return a contender's certificate; it is judged once, when its evidence is there."""
        label = plan.contender.label
        if label in self._certificates:
            return self._certificates[label]
        certificate = certificate_of(self.comparison, self.records, self.folder, plan)
        if self.of("certify", plan):
            self._certificates[label] = certificate
        return certificate

    def certified(self) -> list[ContenderPlan]:
        """Return the contenders whose certificate passed."""
        return [plan for plan in self.comparison.contenders if self.certificate(plan).passed]

    def racing(self) -> list[ContenderPlan]:
        """Return the certified contenders whose timer did not fail its self-test."""
        failed = {
            record.trial.contender.label for record in self.of("selftest") if timer_verdict(record).outcome == "failed"
        }
        return [plan for plan in self.certified() if plan.contender.label not in failed]

    def why_apart(self, plans: Sequence[ContenderPlan]) -> str:
        """Return why workers of these contenders cannot be resident together; empty where they can."""
        return fitting.why_apart(self.comparison, [self._need(plan) for plan in plans])

    def _need(self, plan: ContenderPlan) -> fitting.MemoryNeed:
        """Return what a contender's workers hold, by the rounds and the certificate's trial."""
        records = [*self.of("time", plan), *self.of("certify", plan)]
        return fitting.need_of(self.comparison, plan, [one.memory for one in records if one.memory])

    def outcome(self) -> Outcome:
        """Return the judgement on the records so far."""
        so_far = Records(records=self.records, damaged=self._damaged)
        certificates = {plan.contender.label: self.certificate(plan) for plan in self.comparison.contenders}
        return assess(self.comparison, so_far, self.folder, certificates=certificates)

    def elapsed_s(self) -> float:
        """Return the time since this run began."""
        return time.monotonic() - self._began

    def left_s(self) -> float | None:
        """Return what is left of the time budget, at least 0; None where there is none."""
        budget_s = self.comparison.procedure.budget_s
        return None if budget_s is None else max(0.0, budget_s - self.elapsed_s())
