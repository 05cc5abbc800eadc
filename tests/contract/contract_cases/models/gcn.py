"""A graph network that a user writes: rows are gathered along edges and added up by node.

Two layers of Kipf and Welling (arXiv 1609.02907), equation 2, with edges as two lists of integers; of tests only.
"""

from __future__ import annotations

import numpy as np

from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload

NODES, FEATURES, HIDDEN, CLASSES = 40, 12, 16, 5
EDGES = np.random.RandomState(0).randint(0, NODES, (2, 160))

SIZE = Size(batch_size=NODES, input_shape=(FEATURES,), classes=CLASSES, parameters=13 * HIDDEN + (HIDDEN + 1) * CLASSES)

WORKLOAD = Workload(
    name="gcn",
    summary="a graph network of two layers",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=Adam(learning_rate=0.01),
)


def build(nn, size):
    """Make the model: features of nodes to logits of their classes, over a graph that is part of the model."""
    del size
    degree = np.bincount(EDGES[1], minlength=NODES) + 1.0

    class GCN(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(FEATURES, HIDDEN), nn.Linear(HIDDEN, CLASSES)
            self.sources, self.targets = nn.constant(EDGES[0]), nn.constant(EDGES[1])
            self.norm = nn.constant((degree**-0.5)[:, None])

        def spread(self, x):
            x = x * self.norm
            return (nn.segment_sum(nn.take(x, self.sources), self.targets, NODES) + x) * self.norm

        def forward(self, x):
            hidden = nn.silu(self.spread(self.first(x)))
            return self.spread(self.second(hidden))

    return GCN()


def loss(nn, outputs, targets):
    """Return the cross-entropy with labels that are smoothed by hand."""
    smooth = 0.9 * nn.one_hot(targets, CLASSES) + 0.1 / CLASSES
    return -nn.mean(nn.sum(smooth * nn.log_softmax(outputs), 1))
