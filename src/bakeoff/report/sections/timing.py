"""What is timed: the timed region, the latency of a batch, and the timers' self-tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.standings import ranked
from bakeoff.report.units import duration, listed, percent, unit_for
from bakeoff.report.words import earlier, timed_region
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.selftest import TimerOutcome

TIMER_WORDS: dict[TimerOutcome, str] = {
    "passed": "passed",
    "failed": "failed",
    "untold": "inconclusive",
    "unavailable": "not available",
}

DEAR_WAIT = 0.02
"""From this share of a fenced step on, the cost of waiting is told: what `benchmarks/ping_pong.py` calls the same."""

_HIDDEN = (
    "The table of step times has both: fenced p50 and p90 with the number of steps, and as hidden the host time that "
    "asynchronous dispatch hides: the fenced median beyond the streamed one, where its 95 % interval is above zero."
)


def region(outcome: Outcome) -> str:
    """Return what one timed step is, for the ways of input that these contenders have."""
    return timed_region({one.label: one.plan.contender.options.get("input", "resident") for one in outcome.contenders})


def latency(outcome: Outcome) -> list[str]:
    """Return each contender's fenced p50 and p90; nothing in training, where nobody waits for a single step."""
    timed = [contender for contender in ranked(outcome) if contender.fenced_p50_s is not None]
    if not (SCENARIOS[outcome.comparison.scenario].measures_latency and timed):
        return []
    unit = unit_for(contender.fenced_p50_s for contender in timed)
    each = [
        f"{contender.label} p50 {duration(contender.fenced_p50_s, unit)}, p90 {duration(contender.fenced_p90_s, unit)} "
        f"(n {contender.fenced_steps:,})"
        for contender in timed
    ]
    size = count(outcome.comparison.batch_size, "sample")
    return [f"Latency of a batch of {size}, from its call to its outputs: {'; '.join(each)}."]


def timers_line(outcome: Outcome) -> str:
    """Return how the self-tests have ended, and where they were made before this comparison."""
    tested = [one for one in outcome.contenders if one.timer is not None]
    if not tested:
        return "The timers' self-test was not made."
    ended = [f"{one.label} {TIMER_WORDS[one.timer.outcome]}" for one in tested if one.timer]
    before = earlier([(one.label, one.timer.tested_at, one.timer.comparison) for one in tested if one.timer], outcome)
    where = f" It was made before: {before}." if before else ""
    return f"The timers' self-test: {listed(ended)}.{where}"


def timer_table(outcome: Outcome) -> Table:
    """Return every check of every timer's self-test; what failed or could not be decided is marked."""
    lines = []
    for one in outcome.contenders:
        if one.timer is None:
            continue
        for check in one.timer.checks:
            marked = check.outcome in ("failed", "untold")
            lines.append(Line([one.label, check.name, TIMER_WORDS[check.outcome], check.detail], marked=marked))
        if not one.timer.checks:
            lines.append(Line([one.label, "", TIMER_WORDS[one.timer.outcome], one.timer.reason], marked=True))
    return Table(["timer of", "check", "", "finding"], lines, words=4)


def _cautions(outcome: Outcome) -> list[str]:
    """Return the contenders without a steady state, dear waits, and timers that a busy machine has left untested."""
    unsteady = [
        f"{one.label}: its warm-up found no steady state, so its step time may still drift; --epochs times whole runs."
        for one in outcome.contenders
        if not one.steady
    ]
    dear = [_dear(one) for one in outcome.contenders if _wait_share(one) > DEAR_WAIT]
    untested = [
        f"{one.label}: its timer's self-test was inconclusive, which refuses nobody: {one.timer.reason}."
        for one in outcome.contenders
        if one.timer is not None and one.timer.outcome == "untold"
    ]
    return [*unsteady, *dear, *untested]


def _wait_share(contender: ContenderOutcome) -> float:
    """Return which share of a fenced step the waiting by itself is; 0 where it is not known."""
    return (contender.wait_s or 0.0) / contender.fenced_p50_s if contender.fenced_p50_s else 0.0


def _dear(contender: ContenderOutcome) -> str:
    """Return the sentence on a wait that costs much beside the step."""
    return (
        f"{contender.label}: waiting for it costs {duration(contender.wait_s)} where there is nothing to wait for, "
        f"{percent(_wait_share(contender))} of its fenced step; the fenced times hold that, the step time hardly does."
    )


def _sections(outcome: Outcome) -> list[Section]:
    """Return the latency, and the fold on what is timed."""
    notes = [region(outcome), _HIDDEN, timers_line(outcome)]
    fold = Section(kind="fold", title="What is timed", notes=notes, tables=[timer_table(outcome)])
    return [Section(words=latency(outcome)), fold]


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return a contender's self-test."""
    return {"timer": msgspec.to_builtins(contender.timer)}


TIMING = Subject(
    sections=_sections, cautions=_cautions, data=lambda outcome: {"timed_region": region(outcome)}, fields=_fields
)
