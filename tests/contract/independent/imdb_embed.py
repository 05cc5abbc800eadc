"""The embedding of fast-dpsgd's pytorch.py: words, their mean over time, a dense layer; SGD at 0.15."""

from __future__ import annotations

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "sgd", "learning_rate": 0.15, "momentum": 0.0, "weight_decay": 0.0}

loss = cross_entropy


class Network(torch.nn.Module):
    """Words, their mean, two logits."""

    def __init__(self, words, features):
        """Make the layers."""
        super().__init__()
        self.emb = torch.nn.Embedding(words, features)
        self.fc = torch.nn.Linear(features, 2)

    def forward(self, x):
        """Return the logits of each review."""
        return self.fc(self.emb(x).mean(-2))


def layers(network):
    """Name the workload's arrays."""
    del network
    return {"emb": "table", "fc": "head"}


SIZES = {
    "full": Implementation(
        batch_size=256,
        inputs={"ids": ArraySpec(shape=(256,), dtype="int32", high=10_004)},
        targets={"label": ArraySpec(dtype="int32", high=2)},
        parameters=160_098,
        network=lambda: Network(10_004, 16),
        computed={"ids": ArraySpec(shape=(12,), dtype="int32", high=10_004)},
    ),
}
SMALL = Implementation(
    inputs={"ids": ArraySpec(shape=(5,), dtype="int32", high=30)},
    targets={"label": ArraySpec(dtype="int32", high=2)},
    network=lambda: Network(30, 8),
    computed={"ids": ArraySpec(shape=(5,), dtype="int32", high=30)},
    config={"words": 30, "features": 8},
)
