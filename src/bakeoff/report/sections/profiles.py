"""What the profiles behind an explanation hold and hide: rules, mixtures, what is open, the profiler's own cost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bakeoff.report.page import Line, Section, Table
from bakeoff.report.sections.stages import CLASSES, stages_table
from bakeoff.report.standings import ranked
from bakeoff.report.units import UNKNOWN, duration, percent, rounded
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.explanation import ContenderProfile, Explanation, MeanOverRounds

MOST_COST = 1.25
"""From this ratio of a profiled step to a plain one on a reader is warned: a fifth of such a step is the profiler's."""

MOST_CHARACTERS = 12
"""Of a text: as many of a SHA-256 tell two programs apart; the JSON object has all."""

_LEVELS = {"layers": "kinds of operations and layers", "kinds": "kinds of operations alone", "none": "nothing"}

_FACTS = {
    "instructions_before": "instructions before the compiler's passes",
    "instructions_after": "instructions after them",
    "fusions": "fusions",
    "graphs": "graphs",
    "graph_breaks": "graph breaks",
    "fused_kernels": "fused kernels",
    "launches": "operations started in a step",
    "command_buffers": "command buffers",
    "program_sha256": "SHA-256 of the program without names",
}

_METHOD = (
    "Traces are of trials of their own, which are never timed for a verdict: blocks of plain and of profiled steps by "
    "turns, interleaved over rounds. Only the middle half of the steps by length counts. Each instant of a step is "
    "given to what ran then, so that the shares have the whole step as their sum; idle and host dispatch are among "
    "them. The shares are of profiled steps, the times are shares of raced ones."
)


def profiles(explanation: Explanation) -> list[Section]:
    """Return a sentence for each contender, and folds with the figures, the programs and the remarks."""
    said = [*map(_sentence, explanation.profiles), *_without(explanation), *_traces(explanation)]
    table = _table(explanation)
    found = [Section(title="What the profiles hold", words=said)] if said else []
    found.append(Section(kind="fold", title="How the time was attributed", notes=[_METHOD], tables=[table]))
    found.append(_folded("Each framework's program", _facts(explanation)))
    found += graphs(explanation)
    remarks = [Line([one.label, note]) for one in explanation.profiles for note in one.notes]
    found.append(_folded("What to know of each profile", Table(["profile", "remark"], remarks, words=2)))
    files = [Line([one.label, path]) for one in explanation.profiles for path in one.files]
    found.append(_folded("Raw traces", Table(["raw trace", "file"], files, words=2)))
    return [section for section in found if section.words or section.notes or section.tables]


def cautions(explanation: Explanation) -> list[str]:
    """Return what a reader must know before believing the shares."""
    return [
        f"{one.label}: a step under the profiler takes {rounded(one.profiled_ratio, 3)}x as long as a plain one; the "
        "shares are of that longer step, in which many short operations count for more than they are."
        for one in explanation.profiles
        if one.profiled_ratio is not None and one.profiled_ratio >= MOST_COST
    ]


def _sentence(profile: ContenderProfile) -> str:
    """Return what one profile holds, what of it follows from rules, and what it cost."""
    if profile.level == "none":
        return f"{profile.label} has no profile{_reason(profile)}."
    rule, mixed, rest = map(percent, (profile.inferred_share, profile.mixed_share, profile.unattributed_share))
    said = f"{profile.label}: {rule} of its step was placed by a rule, {mixed} is of operations fused from several, "
    said += f"{rest} is not attributed (idle, host dispatch, unknown operations or layers)"
    if profile.profiled_ratio is not None:
        said += f"; under the profiler a step takes {rounded(profile.profiled_ratio, 3)}x as long"
    if profile.level == "kinds":
        said += f"; its profile has kinds of operations alone, no layers{_reason(profile)}"
    return f"{said}."


def _reason(profile: ContenderProfile) -> str:
    """Return why a profile is no better, in brackets."""
    return f" ({profile.reason.rstrip('.')})" if profile.reason else ""


def _without(explanation: Explanation) -> list[str]:
    """Return who was asked for and has no profile, and why."""
    known = {one.label for one in explanation.profiles}
    are_ranked = {one.label for one in ranked(explanation.outcome)}
    said = []
    for one in explanation.outcome.contenders:
        if one.label in are_ranked and one.label not in known:
            said.append(f"{one.label} has no profile: none of its traced trials came to an end.")
        elif one.label not in are_ranked:
            reason = f" ({one.reason.rstrip('.')})" if one.reason else ""
            said.append(f"{one.label} is not explained, because it is not ranked: {one.status}{reason}.")
    return said


def _traces(explanation: Explanation) -> list[str]:
    """Return where the raw traces are, and what opens them."""
    files = [path for one in explanation.profiles for path in one.files]
    if not files:
        return []
    folder = os.path.commonpath([os.path.dirname(path) for path in files])  # noqa: PTH120 - as they were written
    where = folder or "the folder of the records"
    opened = "Perfetto (ui.perfetto.dev) opens those in JSON, TensorBoard's profiler those that end in .xplane.pb"
    return [f"{count(len(files), 'raw trace')} in {where}: {opened}."]


def _table(explanation: Explanation) -> Table:
    """Return the figures of all profiles."""
    heads = ["contender", "holds", "rounds", "raced step", "by a rule", "mixed", "not attributed"]
    heads += ["operations ran", "device copies", "started a step", "profiled / plain", "events a step"]
    lines = []
    for one in explanation.profiles:
        ratio = UNKNOWN if one.profiled_ratio is None else rounded(one.profiled_ratio, 3)
        shares = [percent(share) for share in (one.inferred_share, one.mixed_share, one.unattributed_share)]
        shares += [_share(one.compute), _share(one.copies), _number(one.launches)]
        cells = [one.label, _LEVELS[one.level], f"{one.rounds}", duration(one.step_s), *shares, ratio]
        lines.append(Line([*cells, rounded(one.events_per_step, 3)]))
    return Table(heads, lines, words=2)


def _share(part: MeanOverRounds | None) -> str:
    """Return a share of the step, with its interval where there is one."""
    if part is None:
        return UNKNOWN
    if part.interval is None:
        return percent(part.mean)
    return f"{percent(part.mean)} ({percent(max(0.0, part.interval.low))} to {percent(min(1.0, part.interval.high))})"


def _number(part: MeanOverRounds | None) -> str:
    """Return a number of operations; a mean may have a fraction."""
    if part is None:
        return UNKNOWN
    return f"{part.mean:,.0f}" if part.mean == int(part.mean) else f"{part.mean:,.1f}"


def graphs(explanation: Explanation) -> list[Section]:
    """Return a fold with what compilers made of each step's graph, where any of them tells."""
    table = stages_table([(one.label, one.stages) for one in explanation.profiles])
    return (
        [Section(kind="fold", title="What became of each graph", notes=[CLASSES], tables=[table])]
        if table.lines
        else []
    )


def _facts(explanation: Explanation) -> Table:
    """Return what each framework says of its program, contenders side by side."""
    shown = [one for one in explanation.profiles if one.facts]
    names = list(dict.fromkeys(name for one in shown for name in one.facts))
    lines = [
        Line([_FACTS.get(name, name.replace("_", " ")), *(_fact(one.facts.get(name)) for one in shown)])
        for name in names
    ]
    return Table(["of its program", *(one.label for one in shown)], lines)


def _fact(value: float | str | None) -> str:
    """Return a fact as it is read; empty where a framework does not say it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value[:MOST_CHARACTERS]
    return rounded(value, 3) if isinstance(value, float) else f"{value:,}"


def _folded(title: str, table: Table) -> Section:
    """Return a fold, which is empty if its table is."""
    return Section(kind="fold", title=title, tables=[table] if table.lines else [])
