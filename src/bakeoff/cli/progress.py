"""What a user sees while a comparison runs: one live table on a terminal, plain lines elsewhere.

Both draw only when the conductor tells something, which it does between commands: while a worker is being timed nothing
here runs, and no thread of rich's refreshes the screen beside it.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from bakeoff.cli import PROCESS
from bakeoff.race.progress import (
    Certified,
    Finished,
    PointEnded,
    PointStarted,
    Prepared,
    RoundEnded,
    RoundStarted,
    Running,
    StudyEvent,
    StudyStarted,
    TimerTested,
    TrialEnded,
    TrialStarted,
    Tried,
    Waiting,
)
from bakeoff.race.workers import orphans
from bakeoff.report.called import pasteable
from bakeoff.report.standings import kind, ratio_text, slower_first
from bakeoff.report.units import count, duration, size
from bakeoff.spec.text import plain
from bakeoff.stats.pairs import is_open

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.race.progress import Event, StudyObserver
    from bakeoff.spec.comparison import Comparison
    from bakeoff.spec.selftest import TimerVerdict
    from bakeoff.spec.verdict import Certificate, Verdict

REDRAW_S = 0.25
"""At most so often: quicker than eyes follow a table, and a redraw takes some ms."""

INTERIM = "interim, not a verdict"

_FIRST = "certificates come first"


@contextmanager
def shown(stream: TextIO, *, live: bool = True) -> Iterator[StudyObserver]:
    """Return the observer that fits the stream; what is run meanwhile leaves no process, where this one is its own."""
    if PROCESS.is_own:
        orphans.adopt()
    console = Console(file=stream, highlight=False)
    if not (live and console.is_terminal and not console.is_dumb_terminal):
        yield Narrator(Lines(stream))
        return
    with Live(console=console, auto_refresh=False, transient=True) as screen:
        yield Narrator(LiveTable(screen))


class Narrator:
    """Hands events to an observer for as long as its stream is there: a stream that is lost ends no race."""

    def __init__(self, observer: StudyObserver) -> None:
        """Take the observer."""
        self._observer: StudyObserver | None = observer

    def __call__(self, event: StudyEvent | Event) -> None:
        """Hand an event on, unless that has failed before."""
        if self._observer is None:
            return
        try:
            self._observer(event)
        except (OSError, SystemExit):  # rich ends the process when a pipe is closed.
            self._observer = None


class Lines:
    """One plain line for each trial and each round."""

    def __init__(self, stream: TextIO) -> None:
        """Write to this stream, and flush after each line: a log is read while it grows."""
        self._stream = stream
        self._margin = 0.0
        self._waits = False

    def __call__(self, event: StudyEvent | Event) -> None:
        """Write what is worth a line."""
        match event:
            case Prepared(comparison):
                self._margin = comparison.procedure.margin
                self._write("\n".join([f"{_title(comparison)}; records in {event.path}", *_notes(event)]))
            case TrialEnded() | Certified() | TimerTested() | Tried():
                self._write(_of_one(event))
            case Waiting():
                self._waited(event)
            case RoundStarted():
                self._waits = False
            case RoundEnded():
                self._write(f"{_round(event)}; {_pairs(event.verdicts, self._margin)}")
            case Finished(reason):
                self._write(_finished(reason))
            case StudyStarted() | PointStarted() | PointEnded():
                for line in _study(event):
                    self._write(line)
            case _:
                pass  # Too small for a line in a log.

    def _waited(self, event: Waiting) -> None:
        """Write that rounds wait, once until they go on."""
        if not self._waits:
            self._write(_waiting(event))
        self._waits = True

    def _write(self, line: str) -> None:
        """Write a line where a reader of the log sees it at once."""
        self._stream.write(f"{plain(pasteable(line), keep=chr(10))}\n")
        self._stream.flush()


class LiveTable:
    """One table that shows who runs now, and how the pairs stand."""

    def __init__(self, screen: Live) -> None:
        """Draw on this screen."""
        self._screen = screen
        self._title = ""
        self._round = _FIRST
        self._standing = ""
        self._doing: dict[str, str] = {}
        self._certificates: dict[str, str] = {}
        self._verdicts: tuple[Verdict, ...] = ()
        self._margin = 0.0
        self._drawn_s = -REDRAW_S

    def __call__(self, event: StudyEvent | Event) -> None:
        """Take note of an event; redraw at once for what is rare, now and then for the rest."""
        if isinstance(event, StudyEvent):
            self._place(event)
        else:
            self._note(event)
        if isinstance(event, Tried):
            self._round = "searching the largest batch"
            self._keep([_tried(event)])
        now = time.monotonic()
        if not isinstance(event, Running) or now - self._drawn_s >= REDRAW_S:
            self._screen.update(self._table(), refresh=True)
            self._drawn_s = now

    def _note(self, event: StudyEvent | Event) -> None:
        """Keep what the table shows; print above it what should stay."""
        match event:
            case Prepared(comparison):
                self._title, self._margin = _title(comparison), comparison.procedure.margin
                self._doing = {plan.contender.label: "" for plan in comparison.contenders}
                self._keep(_notes(event))
            case TrialStarted(_, label, purpose):
                self._now(label, f"starting ({purpose})")
            case Running(label, doing):
                self._now(label, doing)
            case TrialEnded(name, label, _, outcome):
                self._now(label, "")
                self._keep([] if outcome == "done" else [f"{name}: {_ended(event)}"])
            case Certified(certificate):
                self._certificates[certificate.contender] = _certificate(certificate)
            case TimerTested(verdict):
                passed = verdict.outcome == "passed"
                self._keep([] if passed else [f"{verdict.contender}: timer {timer_text(verdict)}"])
            case RoundStarted() | Waiting():
                self._round = f"round {event.round_number}" if isinstance(event, RoundStarted) else _waiting(event)
            case RoundEnded():
                self._standing, self._verdicts = _round(event), event.verdicts
            case Finished(reason):
                self._round = _finished(reason)

    def _place(self, event: StudyEvent) -> None:
        """Print where a study is, and forget the comparison before."""
        self._keep(_study(event))
        self._certificates, self._verdicts, self._standing = {}, (), ""
        self._round = _FIRST

    def _now(self, label: str, doing: str) -> None:
        """Note that this contender has the machine: only one has."""
        self._doing = dict.fromkeys(self._doing, "") | {label: doing}

    def _keep(self, lines: list[str]) -> None:
        """Print lines above the table, where they stay."""
        for line in lines:
            self._screen.console.print(Text(plain(pasteable(line))))

    def _table(self) -> Group:
        """Draw the table, and under it the pairs."""
        table = Table(box=None, pad_edge=False)
        for column in ("contender", "certificate", "now"):
            table.add_column(column, min_width=12)
        for label, doing in self._doing.items():
            table.add_row(*(Text(plain(cell)) for cell in (label, self._certificates.get(label, ""), doing)))
        pairs = [_pair(verdict, self._margin) for verdict in self._verdicts]
        lines = [line for line in (self._title, self._round, self._standing) if line]
        return Group(*(Text(plain(line)) for line in lines), table, *(Text(plain(pair)) for pair in pairs))


def _study(event: StudyEvent) -> list[str]:
    """Return where a study is."""
    match event:
        case StudyStarted(study, path, done):
            budget = "" if study.budget_s is None else f", sharing {duration(study.budget_s)}"
            lines = [f"{study.title}: {count(len(study.points), 'comparison')}{budget}; records in {path}"]
            return lines + ([f"{done} of them are finished already"] if done else [])
        case PointStarted(number, of, point, budget_s):
            share = "" if budget_s is None else f", at most {duration(budget_s)} after its first round"
            left_out = [f"{label} does not race there: {reason}" for label, reason in point.left_out.items()]
            return [f"{number} of {of}: {point.title}{share}", *left_out]
        case PointEnded(_, _, point, reason):
            return [f"{point.title}: {reason}"] if reason else []


def _title(comparison: Comparison) -> str:
    """Return what is raced."""
    work = f"{comparison.workload.name}, {comparison.scenario}, batch {comparison.batch_size}, {comparison.data.source}"
    return f"{work}: {', '.join(plan.contender.label for plan in comparison.contenders)}"


def _notes(event: Prepared) -> list[str]:
    """Return what a reader should know before the first trial."""
    notes = [f"{label} does not race: {reason}" for label, reason in event.comparison.excluded.items()]
    if event.resumed:
        notes.append(f"going on with {event.resumed} trials that are there already")
    if event.again:
        notes.append(f"doing again what was killed, timed out, crashed or could not start: {', '.join(event.again)}")
    if event.foreseen:
        notes.append(event.foreseen)
    if event.calm is False:
        notes.append("the machine is not calm: other processes load it, so intervals will be wide")
    return notes


def _of_one(event: TrialEnded | Certified | TimerTested | Tried) -> str:
    """Return what became of one contender's trial."""
    match event:
        case TrialEnded(name):
            return f"{name}: {_ended(event)}"
        case Certified(certificate):
            return f"{certificate.contender}: certificate {_certificate(certificate)}"
        case TimerTested(verdict):
            return f"{verdict.contender}: timer {timer_text(verdict)}"
        case Tried():
            return _tried(event)


def _ended(event: TrialEnded) -> str:
    """Return how a trial has ended."""
    return f"{event.outcome} in {event.seconds:.1f} s" + (f": {event.reason}" if event.reason else "")


def _tried(event: Tried) -> str:
    """Return how an attempt at a batch size went."""
    name = f"{event.label}: batch {event.batch_size:,}"
    held = f" in {size(event.peak_bytes)} beyond the import" if event.peak_bytes is not None else ""
    if event.fits:
        return f"{name} fits{held}"
    return f"{name} {'failed' if event.fits is None else 'does not fit'}: {event.reason}"


def _certificate(certificate: Certificate) -> str:
    """Return whether there is a certificate."""
    state = "ready-made, held against nothing" if certificate.ready_made else "passed"
    return state if certificate.passed else f"not passed: {certificate.reason}"


def timer_text(verdict: TimerVerdict) -> str:
    """Return how the self-test of a timer has ended."""
    said = {"passed": "passed", "failed": "failed", "untold": "could not be told"}[verdict.outcome]
    return f"self-test {said}" + (f": {verdict.reason}" if verdict.reason else "")


def _waiting(event: Waiting) -> str:
    """Return what a round waits for."""
    return f"waiting for a calm machine, at most {duration(event.left_s)}: others take {event.share:.0%} of it"


def _finished(reason: str) -> str:
    """Return why it is over."""
    return f"finished: {'nobody is left to race' if reason == 'lost' else reason}"


def _round(event: RoundEnded) -> str:
    """Return how far the rounds are."""
    left = "" if event.left_s is None else f", at most {duration(event.left_s)} left"
    most = "" if event.max_rounds is None else f" of at most {event.max_rounds}"
    more = max((verdict.more_rounds or 0 for verdict in event.verdicts if is_open(verdict)), default=0)
    if event.max_rounds is not None and event.round_number + more > event.max_rounds:
        return f"round {event.round_number}{most} done after {duration(event.elapsed_s)}{left}"
    left += f"; about {count(more, 'more round')}, {duration(more * event.round_s)}, to a full answer" if more else ""
    return f"round {event.round_number}{most} done after {duration(event.elapsed_s)}{left}"


def _pairs(verdicts: tuple[Verdict, ...], margin: float) -> str:
    """Return how all pairs stand, in one line."""
    return "; ".join(_pair(verdict, margin) for verdict in verdicts) or "no pair yet"


def _pair(verdict: Verdict, margin: float) -> str:
    """Return how one pair stands: what is not settled is marked as interim."""
    pair = slower_first(verdict)
    settled = kind(pair) in {"faster", "slower", "equal"}
    state = kind(pair) if settled else f"given up ({pair.stopped})" if pair.stopped else INTERIM
    return f"{pair.first} / {pair.second} {ratio_text(pair, margin)} {state}"
