"""The events of a comparison, a search or a study while it runs; the command line shows them, tests read them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from bakeoff.spec.comparison import Comparison
from bakeoff.spec.record import TrialOutcome
from bakeoff.spec.selftest import TimerVerdict
from bakeoff.spec.study import Point, Study
from bakeoff.spec.trial import Purpose
from bakeoff.spec.verdict import Certificate, Verdict


class ReadingData(msgspec.Struct, frozen=True):
    """Data are about to be read, or made by the workload's own file, which may take long."""

    source: str


class Prepared(msgspec.Struct, frozen=True):
    """The comparison is fixed and its folder exists; `resumed` trials are there already."""

    comparison: Comparison
    path: str
    resumed: int
    calm: bool | None
    """False: other processes were busy before the start; None: not known here."""
    foreseen: str = ""
    """What the time budget cannot buy, and what would; that it is an A/A test; empty where nothing is foreseen."""
    again: tuple[str, ...] = ()
    """Trials that came to nothing before, and are done again."""
    gpu: dict[str, str | int | float | None] = {}
    """What goes on on the GPU before anything is started on it; empty where none of the contenders runs on one."""


class TrialStarted(msgspec.Struct, frozen=True):
    """A worker was started."""

    name: str
    label: str
    purpose: Purpose


class TrialEnded(msgspec.Struct, frozen=True):
    """A worker has ended and its record is there."""

    name: str
    label: str
    purpose: Purpose
    outcome: TrialOutcome
    reason: str
    seconds: float


class Certified(msgspec.Struct, frozen=True):
    """A contender's certificate was judged."""

    certificate: Certificate


class TimerTested(msgspec.Struct, frozen=True):
    """The self-test of a contender's timer was judged."""

    verdict: TimerVerdict


class Waiting(msgspec.Struct, frozen=True):
    """Others take processor time, and the next round waits until they rest, at most so long."""

    share: float
    """Of all processor time, what others take."""
    left_s: float


class RoundStarted(msgspec.Struct, frozen=True):
    """A round begins with these contenders, by label."""

    round_number: int
    labels: tuple[str, ...]


class ContenderActivity(msgspec.Struct, frozen=True):
    """This contender has the machine now, doing what `doing` says ("compiling", "warming up", "block 3 of 8")."""

    label: str
    doing: str


class BlockTimed(msgspec.Struct, frozen=True):
    """A block of a round has run: its time of a step, which decides nothing by itself."""

    label: str
    step_s: float


class RoundEnded(msgspec.Struct, frozen=True):
    """A round is over; `verdicts` of pairs that are not settled are interim, not verdicts."""

    round_number: int
    max_rounds: int | None
    elapsed_s: float
    left_s: float | None
    """At most, until the last round or the end of the budget; None where neither limits it."""
    round_s: float
    """How long this round took."""
    verdicts: tuple[Verdict, ...]


class Tried(msgspec.Struct, frozen=True):
    """An attempt at a batch size has ended; `fits` is None where it failed for another reason than memory."""

    label: str
    batch_size: int
    fits: bool | None
    peak_bytes: int | None
    reason: str
    device_peak_bytes: int | None = None
    """Live at most on an accelerator, where that is known."""


class Finished(msgspec.Struct, frozen=True):
    """The comparison has ended."""

    reason: str


Event = (
    ReadingData
    | Prepared
    | TrialStarted
    | TrialEnded
    | Certified
    | TimerTested
    | Waiting
    | RoundStarted
    | ContenderActivity
    | BlockTimed
    | RoundEnded
    | Tried
    | Finished
)
Observer = Callable[[Event], None]


def silent(event: object) -> None:
    """Observe nothing."""
    del event


class StudyStarted(msgspec.Struct, frozen=True):
    """The study is on disk; `done` points are finished already and are not run again."""

    study: Study
    path: str
    done: int


class PointStarted(msgspec.Struct, frozen=True):
    """A point's comparison begins; `number` counts from 1."""

    number: int
    of: int
    point: Point
    budget_s: float | None
    """Its share of the time that is left; None: no limit."""


class PointEnded(msgspec.Struct, frozen=True):
    """A point's comparison has ended, or could not be had: then `reason` says why."""

    number: int
    of: int
    point: Point
    reason: str


StudyEvent = StudyStarted | PointStarted | PointEnded
StudyObserver = Callable[[StudyEvent | Event], None]
