"""Outcomes as one HTML page that needs nothing else: no network, no script, drawings inside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bakeoff.report import charts, details
from bakeoff.report.model import report_of
from bakeoff.report.region import region
from bakeoff.report.tiertables import preset_table, tier_table
from bakeoff.report.timers import timers_line
from bakeoff.report.whole import whole_lines, whole_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.outcome import Outcome
    from bakeoff.report.model import Report

_TABLES = {
    "Step time": details.step_table,
    "Time against steps": details.run_table,
    "Ratio by pair": details.pair_table,
}


def to_html(outcomes: Sequence[Outcome], folder: Path | None = None) -> str:
    """Give the page of these outcomes; links to records are relative to the `folder` it will stand in (here)."""
    sections = [_section(report_of(outcome), folder or Path()) for outcome in outcomes]
    text: str = environment().get_template("report.html.j2").render(sections=sections)
    return text


def environment() -> Any:
    """Give what makes pages of templates: all text is escaped, and a name that is not there is an error."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("bakeoff.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _section(report: Report, folder: Path) -> dict[str, Any]:
    """Give what the template shows of one outcome."""
    pictures = [
        {"finding": finding, "svg": charts.inline_svg(draw(report)), "table": _TABLES[name](report)}
        for name, finding, draw in charts.figures(report)
    ]
    return {
        "report": report,
        "tiers": tier_table(report),
        "pictures": pictures,
        "whole": _whole(report),
        "folds": _folds(report),
        "records": _link(report, folder),
    }


def _whole(report: Report) -> dict[str, Any]:
    """Give the runs of whole epochs, each process by itself."""
    return {"words": whole_lines(report), "table": whole_table(report)}


def _folds(report: Report) -> list[dict[str, Any]]:
    """Give what stands in folds: title, words, tables."""
    return [
        {"title": title, "words": words, "tables": [table for table in tables if table.lines]}
        for title, words, tables in (
            (
                "Settings",
                "Read back from each framework after its run; differences that nobody asked for are marked.",
                [details.settings_table(report), preset_table(report)],
            ),
            (
                "What is timed",
                f"{region(report.outcome)} {_HIDDEN} {timers_line(report.outcome)}",
                [details.timer_table(report)],
            ),
            ("Certificate", f"{report.certificate}.", [details.certificate_table(report)]),
            (
                "Compilation, memory, energy",
                f"{_COMPILATION} {details.energy_line(report)}",
                [
                    details.start_table(report),
                    details.memory_table(report),
                    details.device_memory_table(report),
                    details.energy_table(report),
                ],
            ),
            ("Noise", details.noise_line(report), [details.noise_table(report)]),
            ("Environment", _made(report), [details.machine_table(report), details.version_table(report)]),
        )
    ]


_HIDDEN = (
    "The table of step times has both: fenced p50 and p90 with the number of steps, and as hidden the host time that "
    "asynchronous dispatch hides: the fenced median beyond the streamed one, where its 95 % interval is above zero."
)
_COMPILATION = (
    "Medians over rounds, each in a fresh process without any cache of a compiler. Tracing and lowering go from Python "
    "to what the compiler is given; the first step holds both, autotuning and first allocations. Warm is one process "
    "that finds the compiler's cache of an earlier one. Programs are those traced or compiled from the first step on. "
    "Memory was measured in a process of its own: resident after the import, and at its peak. On a GPU the process's "
    "peak by NVML holds context, kernels and all that its allocator has reserved; what an allocator takes beforehand "
    "says nothing about the work, and its live peak does."
)


def _made(report: Report) -> str:
    """Tell when and by what the comparison was made, and of what it was made."""
    comparison = report.outcome.comparison
    return (
        f"bakeoff {comparison.bakeoff}, comparison {comparison.id}, begun {comparison.created_at}. "
        f"Data: {comparison.data.source}, SHA-256 {comparison.data.sha256[:12]}; "
        f"workload {comparison.workload.name}, SHA-256 {comparison.workload_sha256[:12]}."
    )


def _link(report: Report, folder: Path) -> str:
    """Give the address of the records, relative to the page's folder."""
    return quote(Path(os.path.relpath(report.outcome.path, folder)).as_posix()) + "/"
