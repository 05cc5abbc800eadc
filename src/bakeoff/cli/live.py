"""The live screen of a comparison: where it is, how long still, each contender, and every pair's narrowing interval."""

from __future__ import annotations

import math
import statistics
import time
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from bakeoff.cli.telling import (
    begins,
    certified,
    ended,
    finished,
    is_settled,
    notes,
    pair_name,
    pair_state,
    pairs_line,
    reading,
    rounds_left,
    study_lines,
    timer_text,
    title,
    to_come,
    tried,
    waiting,
)
from bakeoff.race.progress import (
    BlockTimed,
    Certified,
    ContenderActivity,
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
from bakeoff.report.called import pasteable
from bakeoff.report.standings import slower_first
from bakeoff.report.units import duration, elapsed
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.live import Live

    from bakeoff.race.progress import Event
    from bakeoff.spec.comparison import Comparison
    from bakeoff.spec.trial import Purpose
    from bakeoff.spec.verdict import Verdict

REDRAW_S = 0.25
"""At most so often: quicker than eyes follow a table, and a redraw takes some ms."""

BAR, SHORTEST_BAR = 24, 6
"""Characters of an interval's bar at most, and at least: what names and numbers leave of a line; else there is none."""

ASCII_BAR = ("|", "-", "o", "+")
DRAWN_BAR = (
    "\N{BOX DRAWINGS LIGHT VERTICAL}",
    "\N{BOX DRAWINGS HEAVY HORIZONTAL}",
    "\N{BLACK CIRCLE}",
    "\N{BOX DRAWINGS VERTICAL LIGHT AND HORIZONTAL HEAVY}",
)
"""Equality, the interval, the ratio, and equality within the interval."""

STEPS: dict[Purpose, str] = {
    "reference": "same work",
    "program": "same work",
    "certify": "same work",
    "time": "race",
    "late": "late steps",
    "epochs": "whole runs",
    "selftest": "timers' self-test",
    "peak": "machine's peaks",
    "memory": "memory",
    "compile": "compilation",
    "energy": "energy",
    "explain": "explanation",
    "batch": "largest batch",
}
"""What each kind of trial is for, in words."""


class ActivityTimes:
    """What is done one after another, and how long each has taken; one that is taken up again goes on."""

    def __init__(self) -> None:
        """Begin with none."""
        self.now = ""
        self._spent_s: dict[str, float] = {}
        self._since_s = time.monotonic()

    def begin(self, name: str) -> None:
        """Note that this is done from now on."""
        now_s = time.monotonic()
        if self.now and self.now != name:
            self._spent_s[self.now] = self._spent_s.get(self.now, 0.0) + now_s - self._since_s
        if self.now != name:
            self.now, self._since_s = name, now_s

    def done(self) -> list[tuple[str, float]]:
        """Return the others that were done, with the seconds that each has taken."""
        return [(name, spent_s) for name, spent_s in self._spent_s.items() if name != self.now]


class LiveScreen:
    """Draws what events tell, in place."""

    def __init__(self, screen: Live) -> None:
        """Draw on this screen."""
        self._screen = screen
        self._began_s = time.monotonic()
        self._drawn_s = -REDRAW_S
        self._point = ""
        """Where a study is: "2 of 5: "."""
        self._budget_s: float | None = None
        self._margin = 0.0
        self._forget()

    def _forget(self) -> None:
        """Begin anew: another comparison of a study."""
        self._title = ""
        self._comparison: Comparison | None = None
        self._steps = ActivityTimes()
        self._round, self._to_come, self._last = "", "", ""
        self._doing: dict[str, str] = {}
        self._others = ""
        self._certificates: dict[str, str] = {}
        self._times_s: dict[str, list[float]] = {}
        self._is_new_round = False
        self._verdicts: tuple[Verdict, ...] = ()

    def __call__(self, event: StudyEvent | Event) -> None:
        """Take note of an event; redraw at once for what is rare, now and then for the rest."""
        if isinstance(event, StudyEvent):
            self._go_on(event)
        else:
            self._note(event)
        now_s = time.monotonic()
        if not isinstance(event, ContenderActivity | BlockTimed) or now_s - self._drawn_s >= REDRAW_S:
            self._screen.update(self.drawing(), refresh=True)
            self._drawn_s = now_s

    def _go_on(self, event: StudyEvent) -> None:
        """Note where a study is; of a comparison that has ended its pairs stay above the screen."""
        match event:
            case StudyStarted(study):
                self._began_s, self._budget_s = time.monotonic(), study.budget_s
            case PointStarted(number, of):
                self._point = f"{number} of {of}: "
            case PointEnded(_, _, point):
                self._keep([f"{point.title}: {pairs_line(self._verdicts, self._margin)}"] if self._verdicts else [])
        self._keep(study_lines(event))
        self._forget()

    def _note(self, event: Event) -> None:
        """Keep what the screen shows; print above it what should stay."""
        match event:
            case ReadingData(source):
                self._last = reading(source)
            case Prepared(comparison):
                self._last, self._comparison = "", comparison
                self._title, self._margin = f"{self._point}{title(comparison)}", comparison.procedure.margin
                if not self._point:
                    self._budget_s, self._began_s = comparison.procedure.budget_s, time.monotonic()
                self._doing = {plan.contender.label: "" for plan in comparison.contenders}
                self._keep(notes(event))
            case TrialStarted(trial, label, purpose):
                self._steps.begin(STEPS[purpose])
                self._keep([line] if self._comparison and (line := begins(self._comparison, trial)) else [])
                self._to_come = self._to_come if purpose == "time" else ""
                self._now(label, "starting")
            case ContenderActivity(label, doing):
                self._now(label, doing)
            case BlockTimed(label, step_s):
                self._times_s = {} if self._is_new_round else self._times_s
                self._is_new_round = False
                self._times_s.setdefault(label, []).append(step_s)
            case TrialEnded(name, label, _, outcome):
                self._now(label, "")
                self._keep([] if outcome == "done" else [f"{name}: {ended(event)}"])
            case RoundStarted(number):
                self._round, self._last, self._is_new_round = f"round {number}", "", True
            case RoundEnded():
                left = rounds_left(event) if self._budget_s is None else ""
                self._to_come, self._verdicts = to_come(event) or left, event.verdicts
            case _:
                self._found(event)

    def _found(self, event: Event) -> None:
        """Keep what was found of one contender, and how it ends."""
        match event:
            case Certified(certificate):
                self._certificates[certificate.contender] = certified(certificate)
            case TimerTested(verdict):
                failed = verdict.outcome == "failed"
                self._keep([f"{verdict.contender}: timer {timer_text(verdict)}"] if failed else [])
            case Tried():
                self._keep([tried(event)])
            case Waiting():
                self._last = waiting(event)
            case Finished(reason):
                self._last = finished(reason)
            case _:
                pass

    def _now(self, label: str, doing: str) -> None:
        """Note that this contender has the machine: only one has. What computes the reference is no contender."""
        self._doing = dict.fromkeys(self._doing, "")
        self._others = ""
        if label in self._doing:
            self._doing[label] = doing
        elif doing:
            self._others = f"{label}: {doing}"

    def _keep(self, lines: list[str]) -> None:
        """Print lines above the screen, where they stay."""
        for line in lines:
            self._screen.console.print(Text(plain(pasteable(line))))

    # --- Drawing --------------------------------------------------------------------------------------------------

    def drawing(self) -> Group:
        """Return what the screen shows now."""
        passed_s = time.monotonic() - self._began_s
        clock = elapsed(passed_s)
        if self._budget_s is not None:  # The first round may end, and every one that has begun.
            budget = elapsed(self._budget_s)
            clock += f" of {budget}" if passed_s <= self._budget_s else f" (budget {budget})"
        now = "; ".join(part for part in (clock, self._place(), self._last or self._others or self._to_come) if part)
        head = [Text(plain(self._title), style="bold")] if self._title else []
        return Group(*head, Text(plain(now)), self._table(), *self._pairs())

    def _place(self) -> str:
        """Return the steps so far with the time that each took, and the one that is being done."""
        now, done = self._steps.now, self._steps.done()
        if not now:
            return "preparing"
        more = {"race": f", {self._round}", "same work": f" ({len(self._certificates)} of {len(self._doing)} done)"}
        return ", ".join([*(f"{name} {elapsed(spent_s)}" for name, spent_s in done), f"now {now}{more.get(now, '')}"])

    def _table(self) -> Table:
        """Return a line for each contender."""
        table = Table(box=None, pad_edge=False)
        for column in ("contender", "same work", "step so far", "now"):
            table.add_column(column, min_width=11)
        for label, doing in self._doing.items():
            times_s = self._times_s.get(label)
            step = duration(statistics.median(times_s)) if times_s else ""
            cells = (label, self._certificates.get(label, ""), step, doing)
            table.add_row(*(Text(plain(cell)) for cell in cells))
        return table

    def _pairs(self) -> list[Text]:
        """Return a line for each pair: its ratio, its interval as a bar beside 1, and how it stands."""
        pairs = [slower_first(verdict) for verdict in self._verdicts]
        ends = [end for pair in pairs for end in (pair.low, pair.ratio, pair.high) if end and math.isfinite(end)]
        reach = (min([1.0, *ends]), max([1.0, *ends]))
        is_ascii = not self._screen.console.encoding.lower().startswith("utf")
        states = [pair_state(pair, self._margin, "interim") for pair in pairs]
        width = max((len(pair_name(pair)) for pair in pairs), default=0)
        room = self._screen.console.width - width - max(map(len, states), default=0) - len("    ")
        bars = [
            bar(pair, reach, is_ascii=is_ascii, width=min(BAR, room)) if room >= SHORTEST_BAR else "" for pair in pairs
        ]
        return [
            Text(plain(f"{pair_name(pair):<{width}}  {drawn}{'  ' if drawn else ''}")).append(
                plain(state), style="green" if is_settled(pair) else "yellow"
            )
            for pair, drawn, state in zip(pairs, bars, states, strict=True)
        ]


def bar(pair: Verdict, reach: tuple[float, float], *, is_ascii: bool, width: int = BAR) -> str:
    """Return a pair's interval on a logarithmic axis over `reach`, with its ratio and the line of equality."""
    one, line, dot, both = ASCII_BAR if is_ascii else DRAWN_BAR
    least, most = map(math.log, reach)

    def place(value: float) -> int:
        share = (math.log(value) - least) / (most - least) if most > least else 0.0
        return round(share * (width - 1))

    cells = [" "] * width
    cells[place(1.0)] = one
    ends: Sequence[float | None] = (pair.low, pair.high)
    if pair.low and pair.high and all(end and math.isfinite(end) for end in ends):
        first, last = place(pair.low), place(pair.high)
        cells[first : last + 1] = [line] * (last + 1 - first)
        if first <= place(1.0) <= last:
            cells[place(1.0)] = both
    if pair.ratio:
        cells[place(pair.ratio)] = dot
    return "".join(cells)
