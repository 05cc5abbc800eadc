from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from bakeoff.data import graphs
from bakeoff.data.sources import cora, ogb, synthetic
from bakeoff.data.sources import graphs as drawn
from bakeoff.spec.batch import ArraySpec, Batch
from bakeoff.spec.errors import UsageError
from bakeoff.spec.workload import Size
from bakeoff.workloads.gcn_cora import graph, labelled
from bakeoff.workloads.gnn_molecules import _inputs, _targets
from bakeoff.workloads.load import load

PAPERS = 6
GRAPH = Size(batch_size=1, inputs=graph(PAPERS, 20, 3), targets=labelled(PAPERS, 4, 2))
MOLECULES = Size(batch_size=2, inputs=_inputs(4, 6), targets=_targets(3))


def dense(batch: Batch, nodes: int) -> np.ndarray:
    """Give a sample's matrix, in which nothing stands at one place twice but padding."""
    found = np.zeros((nodes, nodes))
    np.add.at(found, (batch.inputs["rows"][0], batch.inputs["columns"][0]), batch.inputs["values"][0])
    return found


def by_formula(edges: list[tuple[int, int]], nodes: int) -> np.ndarray:
    """Give D^-1/2 (A + I) D^-1/2 of an undirected graph by matrices."""
    connected = np.eye(nodes)
    for a, b in edges:
        connected[a, b] = connected[b, a] = 1
    scale = np.diag(connected.sum(1) ** -0.5)
    return scale @ connected @ scale


def linqs(folder: Path) -> Path:
    """Write six papers of two subjects; one citation twice, one of itself, and one of a paper that is not there."""
    words = ["1 0 1", "0 1 0", "1 1 1", "0 0 0", "1 0 0", "0 0 1"]
    subjects = ["b", "a", "b", "a", "a", "b"]
    lines = [f"p{place}\t{one}\t{subject}" for place, (one, subject) in enumerate(zip(words, subjects, strict=True))]
    (folder / "small.content").write_text("\n".join(lines))
    (folder / "small.cites").write_text("p0 p1\np1 p0\np2 p4\np3 p3\np5 p0\np5 elsewhere\n")
    return folder


def test_cora_is_the_normalised_graph(tmp_path: Path) -> None:
    """Citations count once and in both directions, features sum to 1, and each subject has as many labels."""
    found = cora.load(GRAPH, 4, 0, str(linqs(tmp_path))).train
    assert len(found) == 1
    np.testing.assert_allclose(dense(found, PAPERS), by_formula([(0, 1), (2, 4), (0, 5)], PAPERS), rtol=1e-6)
    assert np.all(np.diff(found.inputs["rows"][0]) >= 0)
    np.testing.assert_allclose(found.inputs["features"][0].sum(1), [1, 1, 1, 0, 1, 1])
    subjects = np.array([1, 0, 1, 0, 0, 1])
    np.testing.assert_array_equal(found.targets["labels"][0], subjects[found.targets["nodes"][0]])
    assert sorted(found.targets["labels"][0]) == [0, 0, 1, 1]


def test_labelled_papers_are_drawn_from_the_seed(tmp_path: Path) -> None:
    """Another seed labels other papers."""
    folder = str(linqs(tmp_path))
    assert len({str(cora.load(GRAPH, 1, seed, folder).train.targets["nodes"]) for seed in range(6)}) > 1


def without_cites(folder: Path) -> None:
    """Take a file away."""
    (folder / "small.cites").unlink()


def ragged(folder: Path) -> None:
    """Write a paper with fewer words."""
    (folder / "small.content").write_text("p0 1 0 1 a\np1 1 a\n")


def no_numbers(folder: Path) -> None:
    """Write words that are no numbers."""
    (folder / "small.content").write_text("p0 x y z a\n")


def no_pair(folder: Path) -> None:
    """Write a citation of three papers."""
    (folder / "small.cites").write_text("p0 p1 p2\n")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (without_cites, r"one file that ends in \.cites; it holds none"),
        (ragged, "lines of 3, 5 entries"),
        (no_numbers, "the words of a paper are numbers"),
        (no_pair, "not a cited paper and a citing one"),
    ],
)
def test_files_that_are_not_linqs_are_refused(tmp_path: Path, spoil: Callable[[Path], None], told: str) -> None:
    """What is missing or wrong is told, with the file."""
    spoil(linqs(tmp_path))
    with pytest.raises(UsageError, match=told):
        cora.load(GRAPH, 1, 0, str(tmp_path))


def test_a_graph_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """A workload of another size says which, instead of a part of the graph."""
    small = msgspec.structs.replace(GRAPH, inputs=graph(PAPERS, 10, 3))
    with pytest.raises(
        UsageError, match="6 nodes and 12 elements of its matrix; this workload has 6 nodes and room for 10"
    ):
        cora.load(small, 1, 0, str(linqs(tmp_path)))


def table(path: Path, rows: list[str]) -> None:
    """Write a compressed table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.write("\n".join(rows) + "\n")


def arxiv(folder: Path) -> Path:
    """Write a graph as ogbn-arxiv is, one folder further down, as it is unpacked."""
    raw = folder / "arxiv" / "raw"
    table(raw / "edge.csv.gz", ["0,1", "1,0", "2,4", "3,3", "5,0"])
    table(raw / "node-feat.csv.gz", [f"{place}.5,-1,2" for place in range(PAPERS)])
    table(raw / "node-label.csv.gz", ["1", "0", "1", "0", "0", "1"])
    table(raw.parent / "split" / "time" / "train.csv.gz", ["5", "0", "3", "2"])
    return folder


def test_ogbn_arxiv_is_the_normalised_graph(tmp_path: Path) -> None:
    """Citations count in both directions, features are as they are, and labels are those of the training part."""
    found = ogb.load(GRAPH, 4, 0, str(arxiv(tmp_path))).train
    np.testing.assert_allclose(dense(found, PAPERS), by_formula([(0, 1), (2, 4), (0, 5)], PAPERS), rtol=1e-6)
    np.testing.assert_array_equal(found.inputs["features"][0, :, 0], np.arange(PAPERS) + 0.5)
    assert found.targets["nodes"].tolist() == [[0, 2, 3, 5]]
    assert found.targets["labels"].tolist() == [[1, 1, 0, 1]]


def molpcba(folder: Path) -> Path:
    """Write four molecules as ogbg-molpcba is, of which one has too many atoms, and one is not for training."""
    raw = folder / "raw"
    atoms, bonds = [2, 5, 3, 4], [1, 4, 2, 3]
    table(raw / "num-node-list.csv.gz", list(map(str, atoms)))
    table(raw / "num-edge-list.csv.gz", list(map(str, bonds)))
    table(raw / "node-feat.csv.gz", [f"{one},{place},0,0,0,0,0,0,7" for one in range(4) for place in range(atoms[one])])
    table(raw / "edge.csv.gz", [f"{place},{place + 1}" for one in range(4) for place in range(bonds[one])])
    table(raw / "edge-feat.csv.gz", [f"{one},{place},9" for one in range(4) for place in range(bonds[one])])
    table(raw / "graph-label.csv.gz", ["1,,0", ",,", "0,1,", "1,1,1"])
    table(folder / "split" / "scaffold" / "train.csv.gz", ["0", "1", "2"])
    return folder


def test_molecules_are_those_for_training_that_fit(tmp_path: Path) -> None:
    """Bonds go both ways with their features, what is beyond a molecule is zero, and unknown labels are told."""
    found = ogb.load(MOLECULES, 9, 0, str(molpcba(tmp_path)))
    assert "67% of its molecules for training" in found.source
    order = np.argsort(found.train.inputs["atom_count"])
    inputs, targets = (
        {name: array[order] for name, array in arrays.items()} for arrays in (found.train.inputs, found.train.targets)
    )
    assert inputs["atom_count"].tolist() == [2, 3]
    assert inputs["bond_count"].tolist() == [2, 4]
    assert inputs["senders"].tolist() == [[0, 1, 0, 0, 0, 0], [0, 1, 1, 2, 0, 0]]
    assert inputs["receivers"].tolist() == [[1, 0, 0, 0, 0, 0], [1, 2, 0, 1, 0, 0]]
    assert inputs["bonds"][1].tolist() == [[2, 0, 9], [2, 1, 9], [2, 0, 9], [2, 1, 9], [0, 0, 0], [0, 0, 0]]
    assert inputs["atoms"][0, :, :2].tolist() == [[0, 0], [0, 1], [0, 0], [0, 0]]
    assert targets["labels"].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert targets["known"].tolist() == [[True, False, True], [True, True, False]]


def test_tables_that_are_none_are_refused(tmp_path: Path) -> None:
    """A folder without OGB's tables is told what it lacks, and a table of something else which one it is."""
    with pytest.raises(UsageError, match=r"has no raw/edge\.csv\.gz"):
        ogb.load(GRAPH, 1, 0, str(tmp_path))
    (arxiv(tmp_path) / "arxiv" / "raw" / "node-feat.csv.gz").write_text("a,b")
    with pytest.raises(UsageError, match=r"node-feat\.csv\.gz cannot be read as a compressed table of numbers"):
        ogb.load(GRAPH, 1, 0, str(tmp_path))


@pytest.mark.parametrize(
    ("name", "rows", "told"),
    [
        ("raw/edge", ["0,1", "6,0"], r"edge\.csv\.gz names row 6 of a table that has 6"),
        ("raw/edge", ["0,1", "-1,0"], r"edge\.csv\.gz names row -1 of a table that has 6"),
        ("raw/edge", ["0", "1"], r"edge\.csv\.gz has rows of 1 numbers; it has to have 2"),
        ("raw/node-label", ["1", "0"], r"node-label\.csv\.gz has 2 rows where the tables beside it ask for 6"),
        ("split/time/train", ["5", "9"], r"train\.csv\.gz names row 9 of a table that has 6"),
    ],
)
def test_a_graphs_tables_that_do_not_belong_together_are_refused(
    tmp_path: Path, name: str, rows: list[str], told: str
) -> None:
    """A table that is not whole gives no other graph, and no traceback: it is named."""
    table(arxiv(tmp_path) / "arxiv" / f"{name}.csv.gz", rows)
    with pytest.raises(UsageError, match=told):
        ogb.load(GRAPH, 1, 0, str(tmp_path))


@pytest.mark.parametrize(
    ("name", "rows", "told"),
    [
        ("raw/num-edge-list", ["1"], r"num-edge-list\.csv\.gz has 1 rows where the tables beside it ask for 4"),
        ("raw/edge", ["0,1", "1,2"], r"edge\.csv\.gz has 1 rows where the tables beside it ask for 3"),
        ("raw/edge", [*["0,1"] * 5, "0,3", *["1,2"] * 4], r"edge\.csv\.gz names row 3 of a molecule that has 3"),
        ("raw/graph-label", ["1,,0"], r"graph-label\.csv\.gz has 1 rows where the tables beside it ask for 2"),
        ("split/scaffold/train", ["0", "4"], r"train\.csv\.gz names row 4 of a table that has 4"),
    ],
)
def test_molecules_tables_that_do_not_belong_together_are_refused(
    tmp_path: Path, name: str, rows: list[str], told: str
) -> None:
    """A table that is not whole gives no molecule without its bonds, and no traceback: it is named."""
    table(molpcba(tmp_path) / f"{name}.csv.gz", rows)
    with pytest.raises(UsageError, match=told):
        ogb.load(MOLECULES, 9, 0, str(tmp_path))


def test_drawn_graphs_are_normalised_and_undirected() -> None:
    """Every sample is another graph of exactly as many edges, with the matrix that its edges have."""
    found = drawn.load(load("gcn-cora").size("reduced"), 2, 0, None).train
    nodes = 100
    for place in range(2):
        one = found.taken(slice(place, place + 1))
        matrix = dense(one, nodes)
        edges = [(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(matrix, 1)), strict=True)]
        assert len(edges) == 200
        np.testing.assert_allclose(matrix, by_formula(edges, nodes), rtol=1e-6, atol=1e-9)
    assert not np.array_equal(found.inputs["columns"][0], found.inputs["columns"][1])
    again = drawn.load(load("gcn-cora").size("reduced"), 2, 0, None).train
    assert all(np.array_equal(array, again.arrays[name]) for name, array in found.arrays.items())


def test_degrees_follow_a_power_law() -> None:
    """The largest hundredth of 20,000 nodes has many times its share of edges, and half of all nodes have few."""
    nodes, pairs = 20_000, 100_000
    edges = graphs.drawn_pairs(nodes, pairs, np.random.RandomState(0))
    assert len(np.unique(edges.min(0) * nodes + edges.max(0))) == pairs
    degrees = np.sort(np.bincount(edges.ravel(), minlength=nodes))[::-1]
    assert degrees[: nodes // 100].sum() > 0.15 * 2 * pairs
    assert np.median(degrees) < pairs / nodes * 2


def test_a_graph_that_is_too_dense_is_refused() -> None:
    """Pairs are drawn at random, which needs room."""
    with pytest.raises(UsageError, match="at most half of all pairs"):
        graphs.drawn_pairs(4, 4, np.random.RandomState(0))


def test_integers_are_below_their_own_limit() -> None:
    """Bonds of a drawn molecule are between its own atoms, and an integer without its limit is refused."""
    found = synthetic.load(load("gnn-molecules").size("full"), 200, 0, None).train.inputs
    assert np.all(found["senders"] < found["atom_count"][:, None])
    assert np.all(found["receivers"][np.arange(56) >= found["bond_count"][:, None]] == 0)
    assert found["receivers"].max() >= 24
    alone = Size(batch_size=1, inputs={"x": ArraySpec(shape=(2,), dtype="int32", high=4, within="count")}, classes=2)
    with pytest.raises(UsageError, match="x is to be below count: declare that before it"):
        synthetic.load(alone, 1, 0, None)
