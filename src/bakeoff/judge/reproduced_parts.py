"""What a document says that steps and graphs consist of, beside what traces of the same contenders tell here."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec

from bakeoff.judge.explanation import MeanOverRounds
from bakeoff.judge.reproduction import both, hole
from bakeoff.spec.explained import GraphStage, NodeClass
from bakeoff.spec.parts import PartOf, PublishedPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.explanation import ContenderProfile
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.spec.published import PublishedStudy

NO_DEVICE = "a processor computes where the batch already lies, so that nothing is copied to a device"
NO_GRAPH = "no graph is told of what ran, before its passes and after them"
NO_PASSES = "its compiler does not tell this pass apart"
NOT_FOLLOWED = "its compiler names nodes anew, so that none of them is known to be gone"
NONE_REMOVED = "no node is gone"

BEFORE = "instructions_before"
"""The fact by which a framework tells of a graph that it tells no stages of."""

TOGETHER = " and "
"""Joins the names of passes that a document gives one figure for."""


class PartLine(msgspec.Struct, frozen=True, kw_only=True):
    """One part of one row's step or graph: as published, and as it was traced here."""

    comparison: str
    row: str
    of: PartOf
    published: PublishedPart | None
    """None: the document gives no number."""
    measured: MeanOverRounds | None
    """A share, 0 to 1; of launches their number. Counts of a graph are the same in every round and have no interval."""
    rounds: int = 0
    """Of traces, behind its interval."""
    hole: str
    """Why nothing was measured; empty where something was."""

    @property
    def scale(self) -> float:
        """Return what a published value is divided by to be as the measured one is."""
        return 1.0 if self.of == "launches" else 100.0


def part_lines(study: StudyOutcome, published: PublishedStudy) -> list[PartLine]:
    """Return every part that the study is about, of every row of every comparison."""
    is_processor = study.study.reproduces is not None and study.study.reproduces.kind == "cpu"
    found = []
    for of in published.parts:
        for declared, point in both(study, published):
            told = {one.row: one for one in declared.parts if one.of == of}
            for row in published.rows_of(declared):
                known = profile_of(point, row.name)
                measured, why = (None, hole(point, row.name)) if known is None else _measured(known, of, is_processor)
                found.append(
                    PartLine(
                        comparison=declared.name,
                        row=row.name,
                        of=of,
                        published=told.get(row.name) or told.get(""),
                        measured=measured,
                        rounds=known.rounds if known else 0,
                        hole=why or ("" if measured else "not traced"),
                    )
                )
    return found


def graph_lines(study: StudyOutcome, published: PublishedStudy) -> list[tuple[str, ContenderProfile]]:
    """Return the profile of each row whose framework tells of its graph, with the names of comparison and row."""
    return [
        (f"{declared.name}, {row.name}", known)
        for declared, point in both(study, published)
        for row in published.rows_of(declared)
        if (known := profile_of(point, row.name)) is not None and (known.stages or BEFORE in known.facts)
    ]


def profile_of(point: PointOutcome, row: str) -> ContenderProfile | None:
    """Return what was traced of a row's contender; None where nothing was."""
    label = point.point.rows.get(row)
    return next((one for one in point.profiles if one.label == label and one.rounds), None)


def _measured(known: ContenderProfile, of: PartOf, is_processor: bool) -> tuple[MeanOverRounds | None, str]:  # noqa: FBT001 - a fact
    """Return one part of a profile, or why it has none."""
    if of == "copies" and is_processor:
        return None, NO_DEVICE
    parts = {"compute": known.compute, "copies": known.copies, "launches": known.launches}
    if of in parts:
        return parts[of], ""
    if not known.stages:
        return None, NO_GRAPH
    share = _of_classes(known.stages, of) if of in get_args(NodeClass) else _of_passes(known.stages, of)
    return (None, share) if isinstance(share, str) else (MeanOverRounds(mean=share), "")


def _of_classes(stages: Sequence[GraphStage], of: PartOf) -> float | str:
    """Return the share of a class among the nodes that all passes together take away, or why it is not known."""
    removed = _whole(stages).removed
    if not removed:
        return NOT_FOLLOWED
    gone = sum(removed.values())
    return sum(count for name, count in removed.items() if name == of) / gone if gone else NONE_REMOVED


def _of_passes(stages: Sequence[GraphStage], of: PartOf) -> float | str:
    """Return the share of the graph's nodes that passes take away where they run, or why it is not known.

    A pass may add nodes, such as constants: its share is then below 0.
    """
    before = _nodes(stages[0])
    if not before:
        return NO_GRAPH
    if of == "removed":
        return (before - _nodes(_whole(stages))) / before
    counts = {stage.passes: _nodes(stage) for stage in stages}
    chain = _whole(stages).passes
    gone = 0
    for name in of.split(TOGETHER):
        place = chain.index(name) if name in chain else None
        if place is None or not {chain[:place], chain[: place + 1]} <= counts.keys():
            return NO_PASSES
        gone += counts[chain[:place]] - counts[chain[: place + 1]]
    return gone / before


def _whole(stages: Sequence[GraphStage]) -> GraphStage:
    """Return the graph after all passes."""
    return max(stages, key=lambda stage: len(stage.passes))


def _nodes(stage: GraphStage) -> int:
    """Return how many nodes a graph has."""
    return sum(stage.nodes.values())
