"""Words for what comparisons were over time, and how two of them differ; the commands print them in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.standings import kind, ratio_text
from bakeoff.report.units import rounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.judge.change import Change
    from bakeoff.spec.verdict import Verdict

TEST = (
    "Whether a size changed is told by Welch's test on the logarithms: two independent comparisons, each with the "
    "standard error that its own interval stands for. A change is told as one where its 99 % interval, in brackets, "
    "leaves 1 out: by chance about one size in a hundred does. What differs between two runs beside their rounds, such "
    "as the machine's warmth, is in no interval."
)


def verdict_text(verdict: Verdict, margin: float) -> str:
    """Return "1.28 [1.25, 1.31] slower"."""
    return f"{ratio_text(verdict, margin)} {kind(verdict)}"


def change_text(change: Change | None) -> str:
    """Return "changed: x1.12 [1.06, 1.19], p 0.003; the intervals overlap"; empty where none was computed."""
    if change is None:
        return ""
    low, high = (rounded(end, 3) for end in (change.factor.low, change.factor.high))
    interval = f"x{rounded(change.factor.estimate, 3)} ({low} to {high}), p {p_text(change.p)}"
    apart = "apart" if change.is_apart else "overlap"
    return f"{'changed' if change.is_sure else 'no change shown'}: {interval}; the intervals {apart}"


def p_text(p: float) -> str:
    """Return a probability with one digit, and none smaller than one in a thousand."""
    return "< 0.001" if p < 0.001 else f"{p:.1g}"  # noqa: PLR2004 - smaller ones are no better known


def machine_text(machine: Mapping[str, str | int | float | None]) -> str:
    """Return what a machine is: "AMD EPYC, 2 cores"."""
    cores = machine.get("usable_cores") or machine.get("cores")
    parts = [machine.get("gpu"), machine.get("processor") or "unknown processor", f"{cores} cores" if cores else ""]
    return ", ".join(str(part) for part in parts if part)
