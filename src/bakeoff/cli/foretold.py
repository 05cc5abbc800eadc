"""What is said before a study starts: how many comparisons it has, how long they take, and what that is known from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.cli.dryrun import span, time_text
from bakeoff.study.foreseen import together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.study.foreseen import Foreseen, ForeseenPoint

_KNOWN_FROM = {
    "measured": "by what was measured on this machine before",
    "declared": "by what the study declares for two calm cores",
    "counted": "by what was measured here with other sizes of the same models, and operations counted in each",
    "rough": "roughly: nothing like it was run here before, and a large network takes longer",
}
"""What a time is known from, by its basis."""


def sentence(told: Foreseen) -> str:
    """Return a study's comparisons and their time in a sentence."""
    from bakeoff.spec.text import count

    open_points = [one for one in told.points if not one.problem]
    said = count(len(told.study.points), "comparison")
    said += f", {told.finished} of them finished" if told.finished else ""
    said += _gone(len(told.points) - len(open_points))
    if not open_points:
        return f"{said}: nothing is left to run."
    return f"{said}; {span(told.low_s, told.high_s)}, {_basis(open_points)}{_budget(told.study.budget_s)}."


def sentence_of_all(told: Sequence[Foreseen], budget_s: float | None) -> str:
    """Return the comparisons of several studies and their time in a sentence."""
    from bakeoff.spec.text import count

    comparisons = sum(len(one.study.points) for one in told)
    done = sum(one.finished for one in told)
    finished = f", {done} of them finished" if done else ""
    points = [point for one in told for point in one.points if not point.problem]
    cannot = sum(len(one.points) for one in told) - len(points)
    said = f"{len(told)} studies, {count(comparisons, 'comparison')}{finished}{_gone(cannot)}"
    if not points:
        return f"{said}: nothing is left to run."
    low_s, high_s = sum(one.low_s for one in told), together(one.high_s for one in told)
    return f"{said}; {span(low_s, high_s)}, {_basis(points)}{_budget(budget_s)}."


def _gone(cannot: int) -> str:
    """Return how many comparisons cannot be had here; empty where all can."""
    return f", {cannot} of which cannot be had here" if cannot else ""


def _basis(points: Sequence[ForeseenPoint]) -> str:
    """Return what times are known from."""
    by = {basis: sum(one.basis == basis for one in points) for basis in _KNOWN_FROM}
    kinds = [basis for basis, number in by.items() if number]
    if len(kinds) == 1:
        return _KNOWN_FROM[kinds[0]]
    return "; ".join(f"{by[basis]} of them {_KNOWN_FROM[basis]}" for basis in kinds)


def _budget(budget_s: float | None) -> str:
    """Return that no more is begun when a budget has ended."""
    return "" if budget_s is None else f". They share a budget of {time_text(budget_s)}; --resume goes on with the rest"
