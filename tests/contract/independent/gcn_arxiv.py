"""GCN of OGB's example for ogbn-arxiv, with torch.sparse: GCNConv with its bias behind the product, BatchNorm, ReLU."""

from __future__ import annotations

import torch

from independent.gcn_cora import graph, labelled, loss, matrix
from independent.implementation import Implementation

__all__ = ["OPTIMIZER", "SIZES", "SMALL", "layers", "loss"]

OPTIMIZER = {"type": "adam", "learning_rate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


class Network(torch.nn.Module):
    """Three layers, of which the last has nothing behind it."""

    def __init__(self, features, hidden, classes):
        """Make the layers."""
        super().__init__()
        self.convs = torch.nn.ModuleList(
            [
                torch.nn.Linear(features, hidden),
                torch.nn.Linear(hidden, hidden),
                torch.nn.Linear(hidden, classes),
            ]
        )
        self.norms = torch.nn.ModuleList([torch.nn.BatchNorm1d(hidden), torch.nn.BatchNorm1d(hidden)])

    def forward(self, inputs):
        """Return the logits of all nodes of the one graph."""
        (x,) = inputs["features"]
        spread = matrix(inputs, 0)
        for conv, norm in zip(self.convs, self.norms, strict=False):
            x = norm(spread @ (x @ conv.weight.T) + conv.bias).relu()
            x = torch.nn.functional.dropout(x, 0.5, self.training)
        return (spread @ (x @ self.convs[2].weight.T) + self.convs[2].bias)[None]


def layers(network):
    """Name the workload's layers and arrays."""
    del network
    named = {f"convs.{place}.weight": f"convs.{place}.linear.weight" for place in range(3)}
    named |= {f"convs.{place}.bias": f"convs.{place}.bias" for place in range(3)}
    return named | {f"norms.{place}": f"norms.{place}" for place in range(2)}


SIZES = {
    "full": Implementation(
        batch_size=1,
        inputs=graph(169_343, 2 * 1_166_243 + 169_343, 128),
        targets=labelled(169_343, 90_941, 40),
        parameters=110_120,
        network=lambda: Network(128, 256, 40),
        computed=graph(400, 2000, 128) | labelled(400, 200, 40),
        computed_batch=1,
    ),
}
SMALL = Implementation(
    inputs=graph(169_343, 2 * 1_166_243 + 169_343, 128),
    targets=labelled(169_343, 90_941, 40),
    network=lambda: Network(5, 4, 3),
    computed=graph(9, 30, 5) | labelled(9, 4, 3),
    computed_batch=1,
    config={"features": 5, "hidden": 4, "classes": 3},
)
