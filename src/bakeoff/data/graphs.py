"""What sources of graphs have in common: an undirected graph's normalised matrix, and graphs that are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bakeoff.data.roles import DeclaredArrays, Roles

ROLES: Roles = {
    "features": ("x", "node_features"),
    "rows": ("receivers", "targets"),
    "columns": ("senders", "sources"),
    "values": ("weights", "edge_weights"),
    "nodes": ("labelled", "train_nodes"),
    "labels": ("classes", "y"),
}
"""Of one graph; `nodes` are those whose `labels` are known."""

EXPONENT = 2.5
"""Of the degrees' power law: in the middle of the range from 2 to 3 in which those of many networks lie (Clauset,
Shalizi and Newman 2009)."""

DENSEST = 0.5
"""Of all pairs of nodes, the share up to which distinct ones are drawn at random."""


def drawn_pairs(nodes: int, pairs: int, stream: np.random.RandomState) -> NDArray[np.int64]:
    """Return so many distinct pairs of different nodes, (2, pairs), whose degrees follow a power law.

    Both ends are drawn by weights (i + 1)^(-1 / (EXPONENT - 1)) of the i-th node, as Chung and Lu (2002) have them;
    raises UsageError where there are too few nodes for so many.
    """
    if pairs > DENSEST * nodes * (nodes - 1) / 2:
        msg = f"{pairs} edges between {nodes} nodes: a graph is drawn with at most half of all pairs of nodes"
        raise UsageError(msg)
    ends = np.cumsum((1.0 + np.arange(nodes)) ** (-1.0 / (EXPONENT - 1.0)))
    names = stream.permutation(nodes)
    codes = np.zeros(0, np.int64)
    while len(codes) < pairs:
        draws = np.searchsorted(ends, stream.random_sample((2, 2 * (pairs - len(codes)) + 16)) * ends[-1])
        low, high = np.sort(np.minimum(draws, nodes - 1), axis=0)
        drawn = np.append(codes, (low * nodes + high)[low != high])
        _, first = np.unique(drawn, return_index=True)
        codes = drawn[np.sort(first)]
    found = names[np.stack(np.divmod(codes[:pairs], nodes))]
    return np.asarray(found, np.int64)


def undirected(edges: NDArray[Any], nodes: int) -> NDArray[np.int64]:
    """Return each edge of (2, edges) in both directions and once, without those from a node to itself."""
    both = np.concatenate([edges, edges[::-1]], axis=1).astype(np.int64)
    both = both[:, both[0] != both[1]]
    return np.stack(np.divmod(np.unique(both[0] * nodes + both[1]), nodes))


def normalised(edges: NDArray[Any], nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return rows, columns and values of D^-1/2 (A + I) D^-1/2, in the order of rows; D are the degrees of A + I.

    `edges` is (2, edges), in both directions, each once. Source: Kipf and Welling, arXiv 1609.02907, section 2.
    """
    loops = np.arange(nodes)
    rows, columns = np.concatenate([edges, np.stack([loops, loops])], axis=1)
    scale = np.bincount(rows, minlength=nodes) ** -0.5
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    return rows, columns, scale[rows] * scale[columns]


def matrix_of(wanted: DeclaredArrays, edges: NDArray[Any], nodes: int) -> dict[str, NDArray[Any]]:
    """Return a graph's matrix as a workload declares it: zeros at the last place, in its end, fill it up.

    Raises UsageError where it has more elements or nodes than the workload has room for.
    """
    room, most = wanted.entries("rows"), wanted.below("rows")
    rows, columns, values = normalised(edges, nodes)
    if len(rows) > room or nodes != most:
        msg = (
            f"{wanted.source}: a graph of {nodes} nodes and {len(rows)} elements of its matrix; "
            f"this workload has {most} nodes and room for {room} elements"
        )
        raise UsageError(msg)
    padding = (0, room - len(rows))
    last = nodes - 1
    return {
        "rows": np.pad(rows, padding, constant_values=last),
        "columns": np.pad(columns, padding, constant_values=last),
        "values": np.pad(values, padding),
    }
