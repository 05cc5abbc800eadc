"""An outcome as GitHub Markdown, fit for a README."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bakeoff.report.model import Report, report_of
from bakeoff.report.packages import packages
from bakeoff.report.region import region
from bakeoff.report.tiertables import tier_table
from bakeoff.report.whole import whole_lines, whole_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.outcome import Outcome

# What Markdown, or the HTML in it, would take for itself. A bracket is harmless unless it could become a link.
_SPECIAL = re.compile(r"[\\`*_<>|#~&]|\](?=[(\[])")


def to_markdown(outcomes: Sequence[Outcome]) -> str:
    """Give one section for each outcome."""
    return "\n".join(_section(report_of(outcome)) for outcome in outcomes)


def escaped(text: str) -> str:
    """Give text that Markdown shows as it is, on one line."""
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return _SPECIAL.sub(r"\\\g<0>", shown)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Lay out a table; `numbers` are the columns that are set right."""
    rule = ["--:" if index in numbers else ":--" for index in range(len(heads))]
    lines = [heads, rule, *([escaped(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _section(report: Report) -> str:
    """Give headline, table, sentences, warnings and how to repeat it."""
    parts = [
        f"## {escaped(report.work)}\n",
        f"**{escaped(report.headline)}**\n",
        f"{escaped(report.machine)}. Certificate: {escaped(report.certificate)}.\n",
        _figures(report),
        _tiers(report),
        _whole(report),
        _absent(report),
        _list(_said(report)),
        _list([f"Warning: {caution}" for caution in report.cautions]),
        _again(report),
    ]
    return "\n".join(part for part in parts if part)


def _figures(report: Report) -> str:
    """Give the table of those that are ranked, and what its memory column means."""
    if not report.rows:
        return ""
    heads = ["contender", "step time", "95 %", "samples/s", "first step", "memory", report.against, "verdict"]
    rows = [
        [
            row.label,
            row.step,
            f"{row.low} to {row.high}" if row.high else "",
            row.samples_per_s,
            row.first_step,
            row.memory,
            f"{row.ratio} {row.interval}".strip(),
            row.verdict,
        ]
        for row in report.rows
    ]
    return f"{table(heads, rows, numbers=range(1, 6))}\nMemory: {report.memory_meaning}. Ratios: times as long.\n"


def _whole(report: Report) -> str:
    """Give the runs of whole epochs, each process by itself."""
    heads, lines = (found := whole_table(report)).heads, found.lines
    laid = table(heads, [line.cells for line in lines], numbers=range(1, len(heads))) if lines else ""
    return "\n".join(part for part in [*(f"{escaped(line)}\n" for line in whole_lines(report)), laid] if part)


def _tiers(report: Report) -> str:
    """Give the tiers of each framework side by side, where there are several."""
    found = tier_table(report)
    return table(found.heads, [line.cells for line in found.lines]) if found.lines else ""


def _absent(report: Report) -> str:
    """Give the table of those that are not ranked."""
    if not report.absent:
        return ""
    rows = [[one.label, one.status, one.reason] for one in report.absent]
    return table(["not ranked", "status", "reason"], rows)


def _said(report: Report) -> list[str]:
    """Give all sentences but the headline."""
    evidence = f"Evidence: {report.evidence}."
    lines = [
        *report.sentences,
        report.short_runs,
        report.latency,
        report.accuracy,
        report.device_memory,
        evidence,
        region(report.outcome),
    ]
    return [line for line in lines if line and line != report.headline]


def _list(lines: list[str]) -> str:
    """Give a list; nothing for nothing."""
    return "".join(f"- {escaped(line)}\n" for line in lines)


def _again(report: Report) -> str:
    """Give what repeats a comparison."""
    comparison = report.outcome.comparison
    return again([report.outcome], comparison.bakeoff, comparison.created_at, comparison.command)


def again(outcomes: Sequence[Outcome], bakeoff: str, created_at: str, command: str) -> str:
    """Give what repeats these outcomes, in a block that shows every character as it is."""
    contenders = [one for outcome in outcomes for one in outcome.contenders]
    versions = packages(contenders)
    measured = f"Measured on {created_at.partition('T')[0]} with bakeoff {escaped(bakeoff)}"
    measured += f"; {escaped(versions)}" if versions else ""
    if not command:
        return f"{measured}.\n"
    # A fence longer than any run of backticks within cannot be closed by the command.
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", command) or [""]))
    return f"{measured}; repeat it with\n\n{fence}\n{command}\n{fence}\n"
