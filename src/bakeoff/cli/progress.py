"""What a user sees while a comparison runs: a live screen on a terminal, plain lines elsewhere.

Both draw only when the conductor tells something, which it does between commands: while a worker is being timed nothing
here runs, and no thread of rich's refreshes the screen beside it.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rich.live import Live

from bakeoff.cli import PROCESS
from bakeoff.cli.live import LiveScreen
from bakeoff.cli.telling import (
    begins,
    finished,
    notes,
    of_one,
    pairs_line,
    rounds_line,
    study_lines,
    title,
    waiting,
)
from bakeoff.race.progress import (
    Certified,
    Finished,
    PointEnded,
    PointStarted,
    Prepared,
    ReadingData,
    RoundEnded,
    RoundStarted,
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
from bakeoff.report.forms import consoles
from bakeoff.report.units import elapsed
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.race.progress import Event, StudyObserver
    from bakeoff.spec.comparison import Comparison


@contextmanager
def shown(stream: TextIO, *, live: bool = True) -> Iterator[StudyObserver]:
    """Return the observer that fits the stream; what is run meanwhile leaves no process, where this one is its own."""
    if PROCESS.is_own:
        orphans.adopt()
    console = consoles.console(stream)
    if not (live and console.is_terminal and not console.is_dumb_terminal):
        yield Narrator(Lines(stream))
        return
    with Live(console=console, auto_refresh=False, transient=True) as screen:
        yield Narrator(LiveScreen(screen))


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
    """One plain line for each trial and each round, with the time since the start in front: a log."""

    def __init__(self, stream: TextIO) -> None:
        """Write to this stream, and flush after each line: a log is read while it grows."""
        self._stream = stream
        self._began_s = time.monotonic()
        self._comparison: Comparison | None = None
        self._margin = 0.0
        self._waits = False

    def __call__(self, event: StudyEvent | Event) -> None:
        """Write what is worth a line."""
        match event:
            case Prepared(comparison):
                self._comparison, self._margin = comparison, comparison.procedure.margin
                for line in [f"{title(comparison)}; records in {event.path}", *notes(event)]:
                    self._write(line)
            case TrialStarted():
                self._started(event)
            case ReadingData() | TrialEnded() | Certified() | TimerTested() | Tried():
                self._write(of_one(event))
            case Waiting() | RoundStarted():
                self._waited(event)
            case RoundEnded():
                self._write(": ".join(filter(None, [rounds_line(event), pairs_line(event.verdicts, self._margin)])))
            case Finished(reason):
                self._write(finished(reason))
            case StudyStarted() | PointStarted() | PointEnded():
                for line in study_lines(event):
                    self._write(line)
            case _:
                pass  # Too small for a line in a log.

    def _started(self, event: TrialStarted) -> None:
        """Write that a trial begins which is waited for."""
        if self._comparison is not None and (line := begins(self._comparison, event.name)):
            self._write(line)

    def _waited(self, event: Waiting | RoundStarted) -> None:
        """Write that rounds wait, once until they go on."""
        if isinstance(event, Waiting) and not self._waits:
            self._write(waiting(event))
        self._waits = isinstance(event, Waiting)

    def _write(self, line: str) -> None:
        """Write a line where a reader of the log sees it at once."""
        self._stream.write(f"{elapsed(time.monotonic() - self._began_s):>7}  {plain(pasteable(line))}\n")
        self._stream.flush()
