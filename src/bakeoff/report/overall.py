"""The answer of a study in a sentence: who is fastest where, by how much, and where that is not known yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.report.page import with_command
from bakeoff.report.points import winner
from bakeoff.report.standings import is_disturbed, kind, ratio_parts
from bakeoff.report.units import listed
from bakeoff.spec.text import count
from bakeoff.spec.verdict import between

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.report.points import PointRow, Points

MOST_OTHERS = 2
"""Up to so many other contenders each have a range of their own; of more it is that of the nearest."""


class PointAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the answer says of one point."""

    place: list[str]
    """Its value on each axis."""
    winner: str | None = None
    """Who is fastest there: "" is nobody decided, None is nothing to compare."""
    early: tuple[int, int] | None = None
    """Where there are too few rounds for any verdict: how many there are, and how many one needs."""
    leader: str = ""
    """Who has the shortest step there, so far or for good."""
    ratios: dict[str, tuple[float, str]] = {}
    """Each other's step time over the leader's, as a number and as it is shown."""


def place_of(row: PointRow, points: Points) -> PointAnswer:
    """Return what the answer says of a point."""
    found = winner(row, points.labels)
    if row.outcome is None or found is None:
        return PointAnswer(place=row.place)
    verdicts = row.outcome.verdicts
    early = None
    if all(kind(verdict) == "no verdict" for verdict in verdicts):
        early = max(verdict.rounds for verdict in verdicts), max(verdict.fewest for verdict in verdicts)
    rates = {label: cell.value for label, cell in row.cells.items() if cell.value is not None}
    leader = found or max(rates, key=lambda label: rates[label], default="")
    pairs = {label: between(verdicts, label, leader) for label in points.labels}
    ratios = {
        label: (pair.ratio, ratio_parts(pair, points.margin)[0])
        for label, pair in pairs.items()
        if pair is not None and pair.ratio is not None and not (early and is_disturbed(pair))
    }
    return PointAnswer(place=row.place, winner=found, early=early, leader=leader, ratios=ratios)


def headline(axes: list[str], places: Sequence[PointAnswer], contenders: int) -> str:
    """Return the answer in a sentence; of two contenders one is faster, of more one is the fastest."""
    measured = [one for one in places if one.winner is not None]
    if not measured:
        return "No point has a pair to compare."
    word = "faster" if contenders == 2 else "fastest"  # noqa: PLR2004 (of two there is no fastest)
    early = [one for one in measured if one.early]
    open_ = [one for one in measured if not one.early and not one.winner]
    winners = list(dict.fromkeys(one.winner for one in measured if one.winner))
    parts = []
    for name in winners:
        mine = [one for one in measured if one.winner == name]
        by_much = f": {_ranges(mine)}" if len(mine) == len(places) else ""
        parts.append(f"{name} is {word} {_where(axes, mine, places)}{by_much}")
    if open_:
        nobody, where = "none" if winners else "no contender", _where(axes, open_, places, "any")
        parts.append(f"{nobody} is {word} {where if winners or early else 'at any point'}")
    if early:
        parts.append(_early(axes, early, places))
    if len(measured) < len(places):
        parts.append(f"{count(len(places) - len(measured), 'point')} without a pair to compare")
    text = "; ".join(parts)
    # A contender's name keeps its own case.
    return f"{text if winners else text[:1].upper() + text[1:]}."


def _early(axes: list[str], early: Sequence[PointAnswer], places: Sequence[PointAnswer]) -> str:
    """Return where there are too few rounds for a verdict, and how the contenders stand there so far."""
    fewest = max(needed for one in early if one.early for needed in one.early[1:])
    done = sorted({one.early[0] for one in early if one.early})
    rounds = f"{done[0]}" if len(done) == 1 else f"{done[0]} to {done[-1]}"
    said = f"no verdict yet {_where(axes, early, places, 'any')} ({rounds} of the {fewest} rounds that one needs"
    known = [one for one in early if one.leader and one.ratios]
    leaders = list(dict.fromkeys(one.leader for one in known))
    each = [(name, [one for one in known if one.leader == name]) for name in leaders]
    if len(each) == 1:
        return f"{said}; so far {leaders[0]} leads: {_ranges(known)})"
    stand = [f"{name} leads {_where(axes, mine, places)}" for name, mine in each]
    return f"{said}; so far {listed(stand)})" if stand else f"{said})"


def _ranges(places: Sequence[PointAnswer]) -> str:
    """Return by how much one contender leads at these points: "1.5x to 1.7x torch"."""
    others = list(dict.fromkeys(label for one in places for label in one.ratios))
    if len(others) > MOST_OTHERS:
        return f"{_range(min(one.ratios.values()) for one in places if one.ratios)} the nearest other"
    each = [_range(one.ratios[label] for one in places if label in one.ratios) + f" {label}" for label in others]
    return ", ".join(each)


def _range(ratios: Iterable[tuple[float, str]]) -> str:
    """Return the least and the largest of some ratios: "1.5x to 1.7x"."""
    known = sorted(ratios)
    ends = dict.fromkeys(f"{text}x" for _, text in (known[0], known[-1]))
    return " to ".join(ends)


def _where(axes: list[str], there: Sequence[PointAnswer], places: Sequence[PointAnswer], every: str = "all") -> str:
    """Return some points: by value on one axis, else by their number."""
    if len(axes) == 1:
        return f"at {axes[0]} {listed(one.place[0] for one in there)}"
    noun = "point" if axes else "comparison"
    if len(there) < len(places):
        return f"at {len(there)} of {count(len(places), noun)}"
    number = f"all {count(len(places), noun)}" if every == "all" else f"any of {count(len(places), noun)}"
    return f"{'at' if axes else 'in'} {number}"


def unfinished(points: Points, command: str) -> list[str]:
    """Return the points that have too few rounds for a verdict, with the command that goes on; empty for none."""
    early = [row.title for row in points.rows if place_of(row, points).early]
    if not early:
        return []
    what = f"{count(len(early), 'point')} without a verdict yet ({'; '.join(early)}); with a longer --budget "
    if not command:
        return [f"{what}the same command with --resume goes on."]
    return [with_command(f"{what}this goes on", f"{command} --resume")]
