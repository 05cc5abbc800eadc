"""What compilers make of a step's graph: nodes by class, before their passes and after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from bakeoff.report.page import Line, Table
from bakeoff.report.units import tenths
from bakeoff.spec.explained import NodeClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.explained import GraphStage

CLASSES = (
    "Nodes are those of each compiler's own graph, functions inlined where they are called: nodes of one framework "
    "are no measure for another's. Expensive: convolutions, products of matrices, FFT, recurrent layers. No op: "
    "constants, identities, shapes, and what only runs other nodes. Cheap: all others. Instructions within fusions are "
    "counted, and a generated kernel counts once, by the dearest node that it was made of."
)


def stages_table(known: Sequence[tuple[str, list[GraphStage]]]) -> Table:
    """Return the nodes of each graph by class, before its compiler's passes and after them, by contender."""
    lines = [
        Line([label, " + ".join(stage.passes) or "as traced", *_counts(stage), _less(stages[0], stage)])
        for label, stages in known
        for stage in stages
    ]
    heads = ["graph", "after", "nodes", "expensive", "cheap", "no op", "fewer"]
    return Table(heads, lines, words=2, right=tuple(range(2, len(heads))))


def _counts(stage: GraphStage) -> list[str]:
    """Return how many nodes a graph has, in all and by class."""
    counts = [stage.nodes.get(name, 0) for name in get_args(NodeClass)]
    return [f"{count:,}" for count in (sum(counts), *counts)]


def _less(before: GraphStage, after: GraphStage) -> str:
    """Return by which share a graph has become smaller; a pass may also add nodes."""
    whole = sum(before.nodes.values())
    gone = 1 - sum(after.nodes.values()) / whole if whole and after.passes else 0.0
    return f"{tenths(gone)} %" if after.passes else ""
