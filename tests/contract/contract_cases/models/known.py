"""Places with and without known labels, whose loss is a mean over all known ones; of the tests only, quick to compile.

A sample counts by how many of its labels are known, so that the loss of a batch is not the mean of its samples'.
"""

from __future__ import annotations

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

FEATURES, PLACES, CLASSES = 6, 4, 3

SIZE = Size(
    batch_size=6,
    inputs={"x": ArraySpec(shape=(FEATURES,))},
    targets={
        "labels": ArraySpec(shape=(PLACES,), dtype="int32", high=CLASSES),
        "known": ArraySpec(dtype="int32", low=1, high=PLACES + 1),
    },
)

WORKLOAD = Workload(
    name="known",
    summary="a mean over known labels",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=SGD(learning_rate=0.1),
    scenarios=("train", "per-sample-gradients"),
)


def build(nn, size):
    """Return the network: (batch, features) to (batch, places, classes)."""
    del size

    class Known(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(FEATURES, PLACES * CLASSES)

        def forward(self, x):
            return nn.reshape(self.head(x), (x.shape[0], PLACES, CLASSES))

    return Known()


def loss(nn, outputs, targets):
    """Return the mean over all labels that are known."""
    labels = targets["labels"]
    losses = nn.cross_entropy(outputs, labels, reduction="none")
    is_known = nn.less(nn.arange(PLACES), nn.reshape(targets["known"], (labels.shape[0], 1)))
    return nn.sum(nn.where(is_known, losses, 0.0)) / nn.sum(nn.to_float(is_known))
