"""The network of arXiv 1609.02907, equation 9, with torch.sparse, each graph by itself; sizes of tkipf/gcn on Cora."""

from __future__ import annotations

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation

OPTIMIZER = {
    "type": "adam",
    "learning_rate": 0.01,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "weight_decay": 5e-4,
    "no_decay": ["second.*"],
}


def matrix(inputs, place):
    """Return one graph's matrix."""
    indices = torch.stack([inputs["rows"][place], inputs["columns"][place]])
    nodes = inputs["features"].shape[1]
    return torch.sparse_coo_tensor(indices, inputs["values"][place], (nodes, nodes)).coalesce()


class Network(torch.nn.Module):
    """Two products with the graph's matrix."""

    def __init__(self, features, hidden, classes):
        """Make the layers."""
        super().__init__()
        self.first = torch.nn.Linear(features, hidden, bias=False)
        self.second = torch.nn.Linear(hidden, classes, bias=False)

    def forward(self, inputs):
        """Return the logits of all nodes, graph by graph."""
        return torch.stack([self.of_one(x, matrix(inputs, place)) for place, x in enumerate(inputs["features"])])

    def of_one(self, x, spread):
        """Return the logits of one graph's nodes."""
        x = torch.nn.functional.dropout(x, 0.5, self.training)
        hidden = (spread @ self.first(x)).relu()
        return spread @ self.second(torch.nn.functional.dropout(hidden, 0.5, self.training))


def layers(network):
    """Name the workload's layers."""
    del network
    return {"first": "first", "second": "second"}


def loss(outputs, targets):
    """Return the mean of log(sum of exp(logits)) - logit of the label over the nodes that have one."""
    logits = torch.cat([each[nodes] for each, nodes in zip(outputs, targets["nodes"], strict=True)])
    labels = targets["labels"].reshape(-1)
    return (torch.logsumexp(logits, 1) - logits[torch.arange(len(labels)), labels]).mean()


def graph(nodes, elements, features):
    """Return the declared arrays."""
    return {
        "features": ArraySpec(shape=(nodes, features)),
        "rows": ArraySpec(shape=(elements,), dtype="int32", high=nodes, order="ascending"),
        "columns": ArraySpec(shape=(elements,), dtype="int32", high=nodes),
        "values": ArraySpec(shape=(elements,)),
    }


def labelled(nodes, known, classes):
    """Return the declared targets."""
    return {
        "nodes": ArraySpec(shape=(known,), dtype="int32", high=nodes, order="places"),
        "labels": ArraySpec(shape=(known,), dtype="int32", high=classes),
    }


SIZES = {
    "full": Implementation(
        batch_size=1,
        inputs=graph(2708, 10_556 + 2708, 1433),
        targets=labelled(2708, 140, 7),
        parameters=1433 * 16 + 16 * 7,
        network=lambda: Network(1433, 16, 7),
        computed_batch=1,
    ),
}
SMALL = Implementation(
    inputs=graph(2708, 10_556 + 2708, 1433),
    targets=labelled(2708, 140, 7),
    network=lambda: Network(5, 4, 3),
    computed=graph(9, 30, 5) | labelled(9, 4, 3),
    computed_batch=1,
    config={"features": 5, "hidden": 4, "classes": 3},
)
