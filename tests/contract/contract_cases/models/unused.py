"""A layer that the loss never uses, under an optimiser that decays; of the tests only, and quick to compile."""

from __future__ import annotations

from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.workload import Size, Workload

FEATURES = 6

SIZE = Size(batch_size=4, input_shape=(FEATURES,), classes=3)

WORKLOAD = Workload(
    name="unused",
    summary="a layer that the loss never uses",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=AdamW(learning_rate=1e-2, weight_decay=0.1),
    scenarios=("train", "per-sample-gradients"),
)


def build(nn, size):
    """Return the network: (batch, features) to (batch, classes)."""

    class Unused(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(FEATURES, size.classes)
            self.aside = nn.Linear(FEATURES, size.classes)

        def forward(self, x):
            return self.head(x)

    return Unused()


def loss(nn, outputs, targets):
    """Return the mean cross-entropy."""
    return nn.cross_entropy(outputs, targets)
