"""A study in sentences: who is fastest where, and how sure all of it is together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.units import count, listed, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

ERROR_RATE = 0.05
"""Of one comparison: the chance that any of its verdicts is false (docs/method.md)."""

Place = tuple[list[str], str | None]
"""A point's values, and who is fastest there: "" is nobody decided, None is nothing measured."""


def headline(axes: list[str], places: Sequence[Place], contenders: int) -> str:
    """Answer in a sentence; of two contenders one is faster, of more one is the fastest."""
    measured = [(place, winner) for place, winner in places if winner is not None]
    if not measured:
        return "No point has a pair to compare."
    winners = list(dict.fromkeys(winner for _, winner in measured if winner))
    word = "faster" if contenders == 2 else "fastest"  # noqa: PLR2004 (of two there is no fastest)
    everywhere = _everywhere(axes, places)
    if len(winners) == 1 and len(measured) == len(places) and all(winner for _, winner in measured):
        return f"{winners[0]} is {word} {everywhere}."
    if not winners:
        return f"No {word} one is named at any point; {count(len(measured), 'point')} measured."
    parts = [f"{winner} is {word} {_where(axes, measured, winner)}" for winner in winners]
    if any(not winner for _, winner in measured):
        parts.append(f"no {word} one is named {_where(axes, measured, '')}")
    if len(measured) < len(places):
        parts.append(f"{count(len(places) - len(measured), 'point')} without a pair to compare")
    return f"{'; '.join(parts)}."


def _everywhere(axes: list[str], places: Sequence[Place]) -> str:
    """Name all points: on one axis by their values, else by their number."""
    if len(axes) == 1:
        return f"at {axes[0]} {listed(place[0] for place, _ in places)}"
    return f"at all {count(len(places), 'point')}" if axes else f"in all {count(len(places), 'comparison')}"


def _where(axes: list[str], measured: Sequence[Place], wanted: str) -> str:
    """Name the points with this winner: by value on one axis, else by their number."""
    there = [place for place, winner in measured if winner == wanted]
    if len(axes) == 1:
        return f"at {axes[0]} {listed(place[0] for place in there)}"
    return f"at {len(there)} of {count(len(measured), 'point')}"


def error_rate(comparisons: int) -> str:
    """Say what the points' verdicts are worth one by one and all together; empty for a single comparison."""
    if comparisons < 2:  # noqa: PLR2004 (with one there is no together)
        return ""
    together = comparisons * ERROR_RATE
    all_of_them = (
        f"the chance that any of all {comparisons} names anything false is at most {percent(together)}"
        if together < 1
        else f"of all {comparisons}, about one in {1 / ERROR_RATE:.0f} may do so"
    )
    return (
        f"Each point is decided by itself, and the chance that it names anything false is at most "
        f"{percent(ERROR_RATE)}; {all_of_them}. The intervals of samples/s hold point by point, at 95 %."
    )
