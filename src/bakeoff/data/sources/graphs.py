"""Graphs drawn from a seed, for speed: degrees of a power law, normal features, uniform labels; nothing to learn.

Each sample is another graph, undirected, with a loop at each node, as its normalised matrix (`bakeoff.data.graphs`).
Its number of edges is as many as the workload's room for elements holds in both directions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.data.graphs import ROLES, drawn_pairs, matrix_of, undirected
from bakeoff.data.roles import DeclaredArrays
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bakeoff.spec.workload import Size

ENDLESS = True
"""It has no end of its own: its epoch is as many batches as a race takes."""

COPIES = 3
"""Of the batches, while they are drawn: each graph, all of them, and those that are written."""


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Draw `count` graphs; RandomState's streams are frozen (NEP 19), so a seed gives the same everywhere."""
    if location is not None:
        msg = f"graphs are drawn, and have no location: write 'graphs' instead of 'graphs:{location}'"
        raise UsageError(msg)
    wanted = DeclaredArrays("graphs", ROLES, size)
    stream = np.random.RandomState(seed)
    found = [_drawn(wanted, stream) for _ in range(count)]
    return DataSet(
        source=f"graphs (seed {seed})",
        train=wanted.batch({role: np.stack([one[role] for one in found]) for role in wanted.specs}),
    )


def _drawn(wanted: DeclaredArrays, stream: np.random.RandomState) -> dict[str, NDArray[Any]]:
    """Draw one graph."""
    nodes, room = wanted.below("rows"), wanted.entries("rows")
    pairs = drawn_pairs(nodes, max(0, room - nodes) // 2, stream)
    known = wanted.entries("nodes")
    return {
        "features": stream.standard_normal((nodes, wanted.features("features"))).astype(np.float32),
        **matrix_of(wanted, undirected(pairs, nodes), nodes),
        "nodes": np.sort(stream.permutation(nodes)[:known]),
        "labels": stream.randint(0, wanted.below("labels"), known),
    }
