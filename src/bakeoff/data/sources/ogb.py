"""The Open Graph Benchmark's ogbn-arxiv and ogbg-molpcba, in the compressed tables in which OGB publishes them.

`ogb` fetches the one that a workload's arrays ask for; `ogb:/path` takes a folder that holds `raw` and `split` as
unpacked. Of ogbn-arxiv each citation counts in both directions, and labels are those of the training part. Of
ogbg-molpcba each bond counts in both directions, its features twice; molecules of the training part are taken in an
order from the seed, but for those with more atoms or bonds than the workload has room for; labels that are not known
are 0 there.
"""

from __future__ import annotations

import gzip
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.data.graphs import ROLES, matrix_of, undirected
from bakeoff.data.reading import downloaded, existing
from bakeoff.data.roles import DeclaredArrays, Roles, padded
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.spec.workload import Size

MOLECULES: Roles = {
    "atom_count": ("n_node", "num_nodes"),
    "bond_count": ("n_edge", "num_edges"),
    "atoms": ("node_feat",),
    "bonds": ("edge_feat",),
    "senders": (),
    "receivers": (),
    "labels": ("y",),
    "known": ("weights",),
}

ADDRESSES = {
    "ogbn-arxiv": "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip",
    "ogbg-molpcba": "https://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download/pcba.zip",
}
"""Those of ogb's own master.csv."""


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return the graph of ogbn-arxiv, or up to `count` molecules; raise UsageError for what is missing or misfits."""
    is_molecules = "atoms" in size.sample.arrays or "node_feat" in size.sample.arrays
    name = "ogbg-molpcba" if is_molecules else "ogbn-arxiv"
    folder = downloaded("ogb", ADDRESSES[name]) if location is None else existing("ogb", location)
    source = f"ogb:{location}" if location else f"ogb ({name})"
    raw = _raw(folder)
    return _molecules(size, count, seed, raw, source) if is_molecules else _graph(size, raw, source)


def _graph(size: Size, raw: Path, source: str) -> DataSet:
    """Return the one graph."""
    wanted = DeclaredArrays("ogb", ROLES, size)
    features = _table(raw / "node-feat.csv.gz")
    labels = _table(raw / "node-label.csv.gz", rows=len(features)).astype(np.int64)[:, 0]
    edges = undirected(_places(raw / "edge.csv.gz", len(features), columns=2).T, len(features))
    nodes = np.sort(_places(_split(raw, "train"), len(features))[:, 0])
    graph = {
        "features": features,
        **matrix_of(wanted, edges, len(features)),
        "nodes": nodes,
        "labels": labels[nodes],
    }
    return DataSet(source=source, train=wanted.batch({role: graph[role][np.newaxis] for role in wanted.specs}))


def _molecules(size: Size, count: int, seed: int, raw: Path, source: str) -> DataSet:
    """Return molecules of the training part that the workload has room for."""
    wanted = DeclaredArrays("ogb", MOLECULES, size)
    room, bonds_room = wanted.entries("atoms"), wanted.entries("bonds")
    atoms = _table(raw / "num-node-list.csv.gz", np.int64)[:, 0]
    bonds = _table(raw / "num-edge-list.csv.gz", np.int64, rows=len(atoms))[:, 0]
    train = np.random.RandomState(seed).permutation(_places(_split(raw, "train"), len(atoms))[:, 0])
    fits = (atoms[train] <= room) & (2 * bonds[train] <= bonds_room) & (bonds[train] > 0)
    if not fits.any():
        msg = f"{source}: no molecule has at most {room} atoms and {bonds_room} bonds, each in both directions"
        raise UsageError(msg)
    chosen = train[fits][:count]
    found = _chosen(raw, chosen, atoms, bonds)
    order = np.argsort(np.argsort(chosen))  # files hold them in their own order
    parts: dict[str, list[Any]] = {role: [found[role][place] for place in order] for role in found}
    arrays = {
        "atom_count": atoms[chosen],
        "bond_count": 2 * bonds[chosen],
        "atoms": padded(parts["atoms"], room, dtype="float32"),
        "bonds": padded(parts["bonds"], bonds_room, dtype="float32"),
        **{role: padded(parts[role], bonds_room) for role in ("senders", "receivers")},
        "labels": np.nan_to_num(np.stack(parts["labels"])),
        "known": ~np.isnan(np.stack(parts["labels"])),
    }
    told = f"{fits.mean():.0%} of its molecules for training, which have at most {room} atoms and {bonds_room} bonds"
    return DataSet(source=f"{source}, {told}", train=wanted.batch({role: arrays[role] for role in wanted.specs}))


def _chosen(
    raw: Path, chosen: NDArray[np.int64], atoms: NDArray[np.int64], bonds: NDArray[np.int64]
) -> dict[str, list[NDArray[Any]]]:
    """Return the tables of some molecules, in the files' order; each bond in both directions."""
    keep = np.zeros(len(atoms), bool)
    keep[chosen] = True
    of_atoms, of_bonds = np.repeat(keep, atoms), np.repeat(keep, bonds)
    within = np.repeat(atoms[keep], bonds[keep])
    ends = _places(raw / "edge.csv.gz", within, columns=2, keep=of_bonds, of="a molecule")
    edges = _parts(ends, bonds[keep])
    features = _parts(_table(raw / "edge-feat.csv.gz", keep=of_bonds), bonds[keep])
    return {
        "atoms": _parts(_table(raw / "node-feat.csv.gz", keep=of_atoms), atoms[keep]),
        "bonds": [np.concatenate([one, one]) for one in features],
        "senders": [np.concatenate([one[:, 0], one[:, 1]]) for one in edges],
        "receivers": [np.concatenate([one[:, 1], one[:, 0]]) for one in edges],
        "labels": list(_table(raw / "graph-label.csv.gz", keep=keep)),
    }


def _parts(table: NDArray[Any], lengths: NDArray[np.int64]) -> list[NDArray[Any]]:
    """Return a table's parts of these lengths."""
    return np.split(table, np.cumsum(lengths)[:-1])


def _raw(folder: Path) -> Path:
    """Return the folder `raw`, in the folder or one below; raise UsageError where there is none."""
    for path in (folder, *sorted(one for one in folder.iterdir() if one.is_dir())):
        if (path / "raw" / "edge.csv.gz").is_file():
            return path / "raw"
    msg = f"ogb:{folder} has no raw/edge.csv.gz, as ogbn-arxiv and ogbg-molpcba have when they are unpacked"
    raise UsageError(msg)


def _split(raw: Path, part: str) -> Path:
    """Return the file of a part's places; OGB has one split of each data set: by time, by scaffold."""
    found = sorted((raw.parent / "split").glob(f"*/{part}.csv.gz"))
    if len(found) != 1:
        msg = f"{raw.parent} has {len(found)} files split/*/{part}.csv.gz; it has to have one"
        raise UsageError(msg)
    return found[0]


def _places(
    path: Path,
    below: int | NDArray[np.int64],
    *,
    columns: int = 1,
    keep: NDArray[np.bool_] | None = None,
    of: str = "a table",
) -> NDArray[np.int64]:
    """Return a table of places in another one, or in one of its own for each row; those to keep, or all.

    Raises UsageError where it names one that is not there.
    """
    found = _table(path, np.int64, keep)
    if found.shape[1] != columns:
        msg = f"{path} has rows of {found.shape[1]} numbers; it has to have {columns}"
        raise UsageError(msg)
    limits = np.broadcast_to(np.reshape(below, (-1, 1)), found.shape)
    wrong = (found < 0) | (found >= limits)
    if wrong.any():
        msg = f"{path} names row {found[wrong][0]} of {of} that has {limits[wrong][0]}: "
        raise UsageError(msg + "one of both is not whole; fetch them again")
    return found


def _table(
    path: Path, dtype: Any = np.float32, keep: NDArray[np.bool_] | None = None, *, rows: int | None = None
) -> NDArray[Any]:
    """Return a compressed table's rows, or those to keep; what is empty is NaN.

    Raises UsageError for what is no table, and for one of other than `rows` rows, or that lacks a row to keep.
    """
    wanted = rows if keep is None else int(keep.sum())
    try:
        with gzip.open(path, "rt", encoding="ascii") as lines:
            chosen: Iterable[str] = lines if keep is None else itertools.compress(lines, keep)
            found = np.loadtxt(map(_filled, chosen), dtype, delimiter=",", ndmin=2)
    except (OSError, EOFError, ValueError) as error:
        msg = f"{path} cannot be read as a compressed table of numbers: {error}"
        raise UsageError(msg) from error
    if wanted is not None and len(found) != wanted:
        msg = f"{path} has {len(found)} rows where the tables beside it ask for {wanted}; fetch them again"
        raise UsageError(msg)
    return found


def _filled(line: str) -> str:
    """Return a line with NaN for what is empty, as labels that are not known are."""
    if ",," not in line and not line.startswith(",") and not line.rstrip().endswith(","):
        return line
    return ",".join(entry or "nan" for entry in line.strip().split(","))
