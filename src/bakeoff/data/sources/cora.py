"""Cora and other citation graphs in the plain text of LINQS: papers with their words and subject, and who cites whom.

`cora` fetches it from LINQS (cora.tgz); `cora:/path` takes a folder with one `.content` file, whose lines are a paper,
its words as 0 or 1, and its subject, and one `.cites` file, whose lines are a cited and a citing paper.

Features are divided by their sum over each paper, as Kipf and Welling have them. As many papers of each subject are
labelled, in an order from the seed: the kind of Planetoid's split (Yang et al. 2016), but not its papers, which are
known by their places in its own pickled files alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.data.graphs import ROLES, matrix_of, undirected
from bakeoff.data.reading import downloaded, existing, text_of
from bakeoff.data.roles import DeclaredArrays
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.spec.workload import Size

ADDRESS = "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz"


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return the one graph, however many are asked for; raise UsageError for what is not there or does not fit."""
    del count
    wanted = DeclaredArrays("cora", ROLES, size)
    folder = downloaded("cora", ADDRESS) if location is None else existing("cora", location)
    content, cites = (_file(folder, ending) for ending in ("content", "cites"))
    papers, features, labels = _papers(content)
    edges = undirected(_edges(cites, papers), len(papers))
    nodes = labelled(labels, wanted.entries("nodes"), np.random.RandomState(seed))
    graph = {
        "features": features / np.maximum(features.sum(1, keepdims=True), 1),
        **matrix_of(wanted, edges, len(papers)),
        "nodes": nodes,
        "labels": labels[nodes],
    }
    name = f"cora:{location}" if location else f"cora ({ADDRESS.rpartition('/')[2]} of LINQS)"
    return DataSet(
        source=f"{name}, labelled papers drawn (seed {seed})",
        train=wanted.batch({role: graph[role][np.newaxis] for role in wanted.specs}),
    )


def labelled(labels: NDArray[Any], count: int, stream: np.random.RandomState) -> NDArray[Any]:
    """Return the places of so many nodes in ascending order, as many of each class as far as the count divides."""
    if count > len(labels):
        msg = f"cora: {count} labelled papers of {len(labels)}: the workload asks for more than there are"
        raise UsageError(msg)
    order = stream.permutation(len(labels))
    turns = np.zeros(len(labels), np.int64)
    for number in range(int(labels.max()) + 1):
        own = order[labels[order] == number]
        turns[own] = np.arange(len(own))
    return np.sort(order[np.argsort(turns[order], kind="stable")][:count])


def _file(folder: Path, ending: str) -> Path:
    """Return the one file of an ending, in the folder or below; raise UsageError where there is not one."""
    found = sorted(path for path in folder.rglob(f"*.{ending}") if not path.name.startswith("."))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        msg = f"cora:{folder} has to hold one file that ends in .{ending}; it holds {names}"
        raise UsageError(msg)
    return found[0]


def _papers(path: Path) -> tuple[dict[str, int], NDArray[np.float32], NDArray[np.int64]]:
    """Return each paper's place by its name, the features of all, and the numbers of their subjects in their order."""
    lines = [line.split() for line in text_of(path).splitlines() if line.strip()]
    widths = {len(line) for line in lines}
    if len(widths) != 1 or min(widths) < 3:  # noqa: PLR2004 - a paper, one word, a subject
        told = ", ".join(map(str, sorted(widths))) or "no"
        msg = f"{path} has lines of {told} entries; each is a paper, its words, and its subject"
        raise UsageError(msg)
    try:
        features = np.array([line[1:-1] for line in lines], np.float32)
    except ValueError as error:
        msg = f"{path}: the words of a paper are numbers: {error}"
        raise UsageError(msg) from error
    subjects = sorted({line[-1] for line in lines})
    labels = np.array([subjects.index(line[-1]) for line in lines])
    return {line[0]: place for place, line in enumerate(lines)}, features, labels


def _edges(path: Path, papers: dict[str, int]) -> NDArray[np.int64]:
    """Return the citations (2, edges) between the papers that there are; CiteSeer's file names some that are not."""
    lines = [line.split() for line in text_of(path).splitlines() if line.strip()]
    if any(len(line) != 2 for line in lines):  # noqa: PLR2004 - the cited and the citing one
        msg = f"{path} has a line that is not a cited paper and a citing one"
        raise UsageError(msg)
    found = [[papers[paper] for paper in line] for line in lines if papers.keys() >= set(line)]
    return np.array(found, np.int64).reshape(-1, 2).T
