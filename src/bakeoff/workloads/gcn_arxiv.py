"""GCN of three layers on a graph of ogbn-arxiv's size: 169,343 papers of 128 features, 1,166,243 citations, 40 classes.

Two layers of 256 features, each A (x W) + b with BatchNorm, ReLU and dropout of 0.5 behind it, and one of the classes.
A is D^-1/2 (A + I) D^-1/2 of the graph with each citation in both directions: 2,332,486 elements at most, and 169,343
of the diagonal. Mean cross-entropy over the 90,941 papers of the training part; Adam at 0.01.

Source: Hu et al., arXiv 2005.00687, and OGB's examples/nodeproppred/arxiv/gnn.py, whose GCNConv of PyTorch Geometric is
Kipf and Welling's layer with a bias. Synthetic graphs have the size alone; the real one has 2,315,598 elements beside
the diagonal, since some citations are in both directions already.

What a sample, a batch and a step are, and how A is given: see gcn_cora.py.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload
from bakeoff.workloads import gcn_cora
from bakeoff.workloads.gcn_cora import graph, joined, labelled, parted

WORKLOAD = Workload(
    name="gcn-arxiv",
    summary="GCN of three layers on a citation graph of ogbn-arxiv's size, full-batch",
    source="Hu et al., arXiv 2005.00687; OGB's examples/nodeproppred/arxiv/gnn.py",
    sizes={
        "full": Size(
            batch_size=1,
            inputs=graph(169_343, 2_501_829, 128),
            targets=labelled(169_343, 90_941, 40),
            parameters=110_120,
            macs=19_762_176_200,
            config={"features": 128, "hidden": 256, "classes": 40, "dropout": 0.5},
        ),
        "reduced": Size(
            batch_size=1,
            inputs=graph(100, 500, 16),
            targets=labelled(100, 50, 5),
            parameters=693,
            macs=77_700,
            config={"features": 16, "hidden": 16, "classes": 5, "dropout": 0.5},
        ),
    },
    optimizer=Adam(learning_rate=0.01),
    data=("graphs", "ogb"),
)


def build(nn: Any, size: Size) -> Any:
    """Return the model: a graph's features (batch, nodes, features) and matrix to logits (batch, nodes, classes)."""
    config: Any = size.config
    hidden = config["hidden"]

    class Layer(nn.Module):
        """The product with the graph's matrix, and a bias behind it."""

        def __init__(self, features: int, outputs: int) -> None:
            super().__init__()
            self.linear = nn.Linear(features, outputs, bias=False)
            self.bias = nn.Parameter((outputs,))

        def forward(self, h: Any, matrix: Any) -> Any:
            return nn.sparse_matmul(self.linear(h), *matrix) + self.bias

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = (config["features"], hidden, hidden, config["classes"])
            self.convs = nn.ModuleList([Layer(*widths[place : place + 2]) for place in range(3)])
            self.norms = nn.ModuleList([nn.BatchNorm(hidden) for _ in range(2)])
            self.drop = nn.Dropout(config["dropout"])

        def forward(self, x: Any) -> Any:
            h, matrix = joined(nn, x)
            for place in range(2):
                h = self.drop(nn.relu(self.norms[place](self.convs[place](h, matrix))))
            return parted(nn, self.convs[2](h, matrix), x)

    return Network()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean cross-entropy over the papers of the training part."""
    return gcn_cora.loss(nn, outputs, targets)
