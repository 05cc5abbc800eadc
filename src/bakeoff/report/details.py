"""The tables under the pictures and in the folds of the page: everything that is known, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.ledger import ledger
from bakeoff.report.devices import device_cells
from bakeoff.report.model import blocks_of
from bakeoff.report.pairs import kind, ratio_parts, slower_first
from bakeoff.report.runs import crossings, longest, steps_text
from bakeoff.report.timers import TIMER_WORDS
from bakeoff.report.units import JOULES, UNKNOWN, duration, error, percent, quantity, rounded, size, unit_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bakeoff.judge.ledger import Entry
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.report.model import Report
    from bakeoff.report.units import Unit
    from bakeoff.spec.verdict import Interval

Value = str | int | float | bool | None


class Line(msgspec.Struct, frozen=True):
    """One line of a table; a marked one is worth a look."""

    cells: list[str]
    marked: bool = False


class Table(msgspec.Struct, frozen=True):
    """A table; the first `words` columns and the last `last_words` are words, the others numbers."""

    heads: list[str]
    lines: list[Line]
    words: int = 1
    last_words: int = 0


def step_table(report: Report) -> Table:
    """Give what the first picture shows."""
    heads = ["contender", "step time", "95 %", "mean", "fenced p50", "p90 (n)", "hidden", "blocks"]
    lines = []
    for row, one in zip(report.rows, report.ranked, strict=True):
        calm, flagged = blocks_of(one)
        interval = f"{row.low} to {row.high} {report.unit.name}" if row.high else ""
        p50, p90 = (duration(value, report.unit) for value in (one.fenced_p50_s, one.fenced_p90_s))
        fenced = [p50, f"{p90} ({one.fenced_steps:,})" if one.fenced_steps else p90, hidden(one.hidden_s)]
        mean = duration(one.mean_step_s, report.unit)
        lines.append(Line([row.label, row.step, interval, mean, *fenced, f"{len(calm + flagged)}", f"{len(flagged)}"]))
    return Table([*heads, "beside foreign load"], lines)


def hidden(time_s: Interval | None) -> str:
    """Give the host time that asynchronous dispatch hides: "none seen" where its interval is not above zero."""
    if time_s is None:
        return UNKNOWN
    if time_s.low <= 0:
        return "none seen"
    return duration(time_s.estimate)


def run_table(report: Report) -> Table:
    """Give what the second picture shows: the time of runs of some lengths, and the break-evens."""
    last = longest(report.runs, report.outcome.verdicts, None)
    lengths = [10**power for power in range(len(f"{last}"))]
    found = crossings(report.runs, report.outcome.verdicts)
    lines = []
    for run in report.runs:
        overtakes = [f"{one.early} at step {steps_text(one.steps)}" for one in found if one.late == run.label]
        lines.append(Line([run.label, *(duration(run.seconds(steps)) for steps in lengths), ", ".join(overtakes)]))
    return Table(
        ["contender", *(f"{steps:,} {'step' if steps == 1 else 'steps'}" for steps in lengths), "overtakes"], lines
    )


def pair_table(report: Report) -> Table:
    """Give what the third picture shows."""
    heads = ["pair", "verdict", "ratio", "interval", "rounds", "of means", "flagged blocks", "without them"]
    lines = []
    for pair in map(slower_first, report.outcome.verdicts):
        means, without = (rounded(ratio, 3) if ratio else "" for ratio in (pair.ratio_of_means, pair.ratio_unflagged))
        ratio = ratio_parts(pair, report.margin)
        name = f"{pair.first} / {pair.second}"
        lines.append(
            Line(
                [name, kind(pair), *ratio, f"{pair.rounds}", means, f"{pair.flagged_blocks} of {pair.blocks}", without]
            )
        )
    return Table(heads, lines, words=2)


def settings_table(report: Report) -> Table:
    """Give what was asked and what was really in force, contenders side by side; what nobody asked for is marked."""
    contenders = report.outcome.contenders
    asked = _side_by_side(contenders, lambda one: one.plan.contender.options, "asked: ", mark=False)
    in_force = [
        Line(
            [entry.key, *(_value(entry, one.label) for one in contenders), _WHY[entry.kind]],
            marked=entry.kind == "mismatch",
        )
        for entry in ledger(contenders)
    ]
    lines = [Line([*line.cells, ""]) for line in asked] + in_force
    return Table(["setting", *(one.label for one in contenders), "differs"], lines, words=len(contenders) + 2)


_WHY = {"same": "", "asked": "as asked", "nature": "by the frameworks' nature", "mismatch": "nobody asked for it"}


def _value(entry: Entry, label: str) -> str:
    """Give one contender's value of a setting; nothing where it has none."""
    if label not in entry.values:
        return ""
    value = entry.values[label]
    return UNKNOWN if value is None else str(value)


def version_table(report: Report) -> Table:
    """Give Python and packages, contenders side by side."""
    contenders = report.outcome.contenders
    python = Line(["Python", *(one.python or UNKNOWN for one in contenders)])
    packages = _side_by_side(contenders, lambda one: one.versions, "", mark=False)
    return Table(["package", *(one.label for one in contenders)], [python, *packages], words=len(contenders) + 1)


def _side_by_side(
    contenders: list[ContenderOutcome],
    read: Callable[[ContenderOutcome], Mapping[str, Value]],
    prefix: str,
    *,
    mark: bool = True,
) -> list[Line]:
    """Give one line for each name that any contender has; marked where those that have it differ."""
    names = list(dict.fromkeys(name for one in contenders for name in read(one)))
    lines = []
    for name in names:
        values = [read(one).get(name, "") for one in contenders]
        there = {str(value) for value in values if value != ""}
        cells = [UNKNOWN if value is None else str(value) for value in values]
        lines.append(Line([prefix + name, *cells], marked=mark and len(there) > 1))
    return lines


def certificate_table(report: Report) -> Table:
    """Give every check of every certificate, with what was found and what is allowed; what failed is marked."""
    lines = []
    for one in report.outcome.contenders:
        if one.certificate is None:
            lines.append(Line([one.label, "", "no certificate", one.reason, "", ""], marked=True))
            continue
        if not one.certificate.checks:
            lines.append(Line([one.label, "", "not passed", one.certificate.reason, "", ""], marked=True))
        for check in one.certificate.checks:
            numbers = ["" if value is None else error(value) for value in (check.error, check.allowed)]
            state = "passed" if check.passed else "not passed"
            lines.append(Line([one.label, check.name, state, check.detail, *numbers], marked=not check.passed))
    return Table(["contender", "check", "", "finding", "largest error", "allowed"], lines, words=4)


def timer_table(report: Report) -> Table:
    """Give every check of every timer's self-test; what failed or could not be told is marked."""
    lines = []
    for one in report.outcome.contenders:
        if one.timer is None:
            continue
        for check in one.timer.checks:
            marked = check.outcome in ("failed", "untold")
            lines.append(Line([one.label, check.name, TIMER_WORDS[check.outcome], check.detail], marked=marked))
        if not one.timer.checks:
            lines.append(Line([one.label, "", TIMER_WORDS[one.timer.outcome], one.timer.reason], marked=True))
    return Table(["timer of", "check", "", "finding"], lines, words=4)


def start_table(report: Report) -> Table:
    """Give the parts of a start: import, build, and the first step with what of it was tracing and compiling."""
    heads = ["contender", "import", "build", "trace and lower", "compile", "first step", "beyond a steady one"]
    warm_heads = ["warm: trace and lower", "compile", "first step"]
    lines = []
    for one in report.ranked:
        known = one.compiling
        cold, warm = (known.cold, known.warm) if known else (None, None)
        parts = [None, None] if cold is None else [cold.trace_s, cold.compile_s]
        times = [one.import_s, one.build_s, *parts, one.first_step_s, one.compile_s]
        unit = unit_for([max((value or 0.0) for value in times)])
        cells = [duration(value, unit) for value in times]
        cells[2:4] = [_part(value, unit) for value in parts] if cold else [UNKNOWN, UNKNOWN]
        kept = [""] * 3
        if warm:
            kept = [_part(warm.trace_s, unit), _part(warm.compile_s, unit), duration(warm.first_step_s, unit)]
        count = UNKNOWN if known is None or known.count is None else f"{known.count}"
        again = known.again if known else []
        lines.append(Line([one.label, *cells, *kept, count, ", ".join(again)], marked=bool(again)))
    return Table([*heads, *warm_heads, "programs", "compiled again in"], lines)


def _part(seconds: float | None, unit: Unit) -> str:
    """Give a part of a first step: what the framework does not tell apart is in the whole."""
    if seconds == 0:
        return "none"
    return "not told apart" if seconds is None else duration(seconds, unit)


def energy_table(report: Report) -> Table:
    """Give the energy of a sample, where it was measured."""
    lines = []
    for one in report.ranked:
        if one.energy is None:
            continue
        known = one.energy
        unit = unit_for([known.joules_per_sample], JOULES)
        ends = quantity(known.interval, unit) if known.interval else None
        told = ends.estimate if ends else rounded(known.joules_per_sample * unit.per_base)
        interval = f"{ends.low} to {ends.high} {unit.name}" if ends else ""
        lines.append(Line([one.label, f"{told} {unit.name}", interval, f"{known.rounds}", known.source]))
    return Table(["contender", "energy of a sample", "95 %", "rounds", "counted by"], lines)


def energy_line(report: Report) -> str:
    """Tell what the energy is that of, or why there is none."""
    reason = report.outcome.comparison.no_energy
    if reason:
        return f"Energy: not available here, {reason}."
    if not any(one.energy for one in report.ranked):
        return "Energy: not measured, no time was left after the rounds."
    return "Energy is that of all that the meters see, idle power and other processes too, in trials of their own."


def memory_table(report: Report) -> Table:
    """Give memory, processors and page faults."""
    heads = ["contender", "memory after import", "peak"]
    lines = []
    for one in report.ranked:
        memory = one.memory
        counts = [memory.baseline_bytes, memory.peak_bytes] if memory else [None] * 2
        cells = [one.label, *(size(number) for number in counts)]
        numbers = [_number(one.counters.cores_used), _number(one.counters.minor_faults_per_step)]
        lines.append(Line([*cells, *numbers]))
    return Table([*heads, "cores used", "page faults a step"], lines)


def device_memory_table(report: Report) -> Table:
    """Give what accelerators hold: of the whole process from outside, and of the framework's allocator."""
    heads = ["contender", "process, by NVML", "allocator: live at most", "reserved at most", "taken beforehand"]
    return Table(heads, [Line(cells) for cells in device_cells(report.ranked)])


def noise_table(report: Report) -> Table:
    """Give, for each round and contender, how many of its blocks ran beside foreign load; such rounds are marked."""
    rounds = sorted({block.round_number for one in report.ranked for block in one.blocks})
    lines = []
    for number in rounds:
        mine = [[block for block in one.blocks if block.round_number == number] for one in report.ranked]
        flagged = [sum(block.flagged for block in blocks) for blocks in mine]
        cells = [f"{some} of {len(all_)}" if all_ else "" for some, all_ in zip(flagged, mine, strict=True)]
        lines.append(Line([f"round {number}", *cells], marked=any(flagged)))
    return Table(["blocks beside foreign load", *(one.label for one in report.ranked)], lines)


def machine_table(report: Report) -> Table:
    """Give the machine's facts."""
    facts = report.outcome.comparison.machine.items()
    return Table(["machine", ""], [Line([_fact_name(name), _fact(name, value)]) for name, value in facts], words=2)


def noise_line(report: Report) -> str:
    """Tell how calm the machine was."""
    outcome = report.outcome
    if outcome.foreign_share is None:
        return "Foreign load: not known here."
    share = percent(outcome.foreign_share)
    return f"Other processes took {share} of the processors (median over blocks); {report.evidence}.{_clock(outcome)}"


def _clock(outcome: Outcome) -> str:
    """Tell the clock of the processors; nothing where it is not known."""
    if outcome.clock_mhz is None:
        return ""
    clocks = " to ".join(dict.fromkeys(f"{clock:,.0f}" for clock in outcome.clock_mhz))
    return f" Clock of the processors at the ends of trials: {clocks} MHz."


def _fact_name(name: str) -> str:
    """Give the name of a fact without its unit, which its value will have."""
    return name.removesuffix("_bytes").replace("_", " ")


def _fact(name: str, value: Value) -> str:
    """Give a fact with its unit."""
    if value is None:
        return UNKNOWN
    return size(int(value)) if name.endswith("_bytes") and isinstance(value, int | float) else str(value)


def _number(value: float | None) -> str:
    """Give a number of unknown uncertainty."""
    return UNKNOWN if value is None else rounded(value)
