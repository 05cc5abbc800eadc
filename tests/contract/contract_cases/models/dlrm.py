"""A recommender that a user writes: bags of embeddings, dense features, and the products of all pairs of them.

DLRM of Naumov et al. (arXiv 1906.00091), figure 1, with three tables; of tests only. It takes several inputs, integers
among them, in an `EmbeddingBag` for each table, and picks the pairs below the diagonal by a constant.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

DENSE, WIDTH = 13, 8
TABLES = {"users": (50, "sum"), "items": (80, "sum"), "tags": (30, "mean")}
"""How many entries each table has, and what its bag makes of three of them."""

SIZE = Size(
    batch_size=16,
    inputs={"dense": ArraySpec(shape=(DENSE,))}
    | {name: ArraySpec(shape=(3,), dtype="int32", high=rows) for name, (rows, _) in TABLES.items()},
    targets={"click": ArraySpec(dtype="int32", high=2)},
    parameters=160 * 8 + (14 * 16 + 17 * 8) + (15 * 16 + 17),
)

WORKLOAD = Workload(
    name="dlrm",
    summary="bags of embeddings and their products",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=SGD(learning_rate=0.1),
)


def build(nn, size):
    """Make the model: dense features and a bag of integers for each table, to the logit of a click."""

    class Tower(nn.Module):
        def __init__(self, widths):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in pairwise(widths)])

        def forward(self, x):
            for number, layer in enumerate(self.layers):
                x = layer(x)
                if number < len(self.layers) - 1:
                    x = nn.relu(x)
            return x

    class DLRM(nn.Module):
        def __init__(self):
            super().__init__()
            self.bags = nn.ModuleList([nn.EmbeddingBag(rows, WIDTH, mode) for rows, mode in TABLES.values()])
            self.bottom = Tower((DENSE, 16, WIDTH))
            self.top = Tower((WIDTH + len(TABLES) * (len(TABLES) + 1) // 2, 16, 1))
            count = 1 + len(TABLES)
            self.pairs = nn.constant(np.ravel_multi_index(np.tril_indices(count, -1), (count, count)))

        def forward(self, batch):
            dense = self.bottom(batch["dense"])
            bags = [bag(batch[name]) for name, bag in zip(TABLES, self.bags, strict=True)]
            rows = nn.stack([dense, *bags], 1)
            products = nn.reshape(nn.matmul(rows, nn.permute_dims(rows, (0, 2, 1))), (-1, (1 + len(TABLES)) ** 2))
            together = nn.concat([dense, nn.take(products, self.pairs, axis=1)], 1)
            return nn.reshape(self.top(together), (-1,))

    return DLRM()


def loss(nn, outputs, targets):
    """Return the cross-entropy of clicks."""
    return nn.binary_cross_entropy(outputs, targets)
