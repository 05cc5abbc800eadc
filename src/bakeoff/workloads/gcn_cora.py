"""Graph convolutional network (GCN) of two layers on a graph of Cora's size: 2,708 papers, 1,433 words, 7 classes.

h = ReLU(A X W0); logits = A h W1, with 16 hidden features and no biases, dropout of 0.5 on the inputs of both layers. A
is D^-1/2 (A + I) D^-1/2 of the undirected graph, with each paper's citation in both directions: 10,556 elements and
2,708 of the diagonal. Mean cross-entropy over 140 labelled papers; Adam at 0.01 with an L2 of 5e-4 on W0 alone.

Source: Kipf and Welling, arXiv 1609.02907, and tkipf/gcn (train.py, models.py, utils.py), but for these: there the
features are a sparse matrix, of which dropout sees the words alone that a paper has; and the L2 is part of the loss,
where here it is added to the gradient, which is the same step.

A sample is a whole graph, so that a batch of the size's own is one graph and a step is an epoch of full-batch training;
a batch of several is one graph of as many parts. A is data: `rows` and `columns` of its elements, in the order of rows,
with their `values`, of which zeros are padding.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload


def graph(nodes: int, elements: int, features: int) -> dict[str, ArraySpec]:
    """Return a graph's features, and its normalised matrix by rows, columns and values."""
    return {
        "features": ArraySpec(shape=(nodes, features)),
        "rows": ArraySpec(shape=(elements,), dtype="int32", high=nodes, order="ascending"),
        "columns": ArraySpec(shape=(elements,), dtype="int32", high=nodes),
        "values": ArraySpec(shape=(elements,)),
    }


def labelled(nodes: int, known: int, classes: int) -> dict[str, ArraySpec]:
    """Return the nodes whose labels are known, and these."""
    return {
        "nodes": ArraySpec(shape=(known,), dtype="int32", high=nodes, order="places"),
        "labels": ArraySpec(shape=(known,), dtype="int32", high=classes),
    }


WORKLOAD = Workload(
    name="gcn-cora",
    summary="GCN of two layers on a citation graph of Cora's size, full-batch",
    source="Kipf and Welling, arXiv 1609.02907; tkipf/gcn; sizes of Cora as Planetoid has it",
    sizes={
        "full": Size(
            batch_size=1,
            inputs=graph(2708, 13_264, 1433),
            targets=labelled(2708, 140, 7),
            parameters=23_040,
            macs=62_697_392,
            config={"features": 1433, "hidden": 16, "classes": 7, "dropout": 0.5},
        ),
        "reduced": Size(
            batch_size=1,
            inputs=graph(100, 500, 32),
            targets=labelled(100, 20, 7),
            parameters=624,
            macs=73_900,
            config={"features": 32, "hidden": 16, "classes": 7, "dropout": 0.5},
        ),
    },
    optimizer=Adam(learning_rate=0.01, weight_decay=5e-4, no_decay=("second.*",)),
    data=("graphs", "cora"),
)


def build(nn: Any, size: Size) -> Any:
    """Return the model: a graph's features (batch, nodes, features) and matrix to logits (batch, nodes, classes)."""
    config: Any = size.config

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(config["dropout"])
            self.first = nn.Linear(config["features"], config["hidden"], bias=False)
            self.second = nn.Linear(config["hidden"], config["classes"], bias=False)

        def forward(self, x: Any) -> Any:
            features, matrix = joined(nn, x)
            h = nn.relu(nn.sparse_matmul(self.first(self.drop(features)), *matrix))
            return parted(nn, nn.sparse_matmul(self.second(self.drop(h)), *matrix), x)

    return Network()


def joined(nn: Any, x: Any) -> tuple[Any, tuple[Any, Any, Any, int]]:
    """Return a batch's graphs as one: its features (nodes, features), and what nn.sparse_matmul takes of its matrix.

    The matrices of several graphs are one, which has them along its diagonal.
    """
    batch, nodes, features = x["features"].shape
    elements = (batch * x["rows"].shape[1],)
    first = _first(nn, batch, nodes)
    rows, columns = (nn.reshape(x[name] + first, elements) for name in ("rows", "columns"))
    values = nn.reshape(x["values"], elements)
    return nn.reshape(x["features"], (batch * nodes, features)), (rows, columns, values, batch * nodes)


def parted(nn: Any, h: Any, x: Any) -> Any:
    """Return the features of all nodes (nodes, features) by graph, (batch, nodes, features)."""
    batch, nodes, _ = x["features"].shape
    return nn.reshape(h, (batch, nodes, h.shape[1]))


def _first(nn: Any, batch: int, nodes: int) -> Any:
    """Return the place of each graph's first node among all, (batch, 1)."""
    return nn.reshape(nn.arange(batch) * nodes, (batch, 1))


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean cross-entropy over the nodes whose labels are known."""
    batch, nodes, classes = outputs.shape
    known = targets["nodes"] + _first(nn, batch, nodes)
    return nn.cross_entropy(nn.take(nn.reshape(outputs, (batch * nodes, classes)), known), targets["labels"])
