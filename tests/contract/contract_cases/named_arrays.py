"""A workload whose samples are several arrays of different types and shapes; of the tests only, never shipped.

Inputs: tokens (12,) int32 below 20, length (1,) float32. Targets: curve (3, 4) float32, label () int32 below 4.
Outputs: (batch, 3, 4).
"""

from __future__ import annotations

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="named-arrays",
    summary="an embedding's mean, scaled by a length, as a curve and a label",
    source="written for the tests",
    sizes={
        "full": Size(
            batch_size=6,
            inputs={
                "tokens": ArraySpec(shape=(12,), dtype="int32", high=20),
                "length": ArraySpec(shape=(1,)),
            },
            targets={
                "curve": ArraySpec(shape=(3, 4)),
                "label": ArraySpec(dtype="int32", high=4),
            },
            parameters=20 * 8 + 8 * 12 + 12,
        )
    },
    optimizer=Adam(learning_rate=1e-2),
)


def build(nn, size):
    """Return the model: a mapping of two inputs to outputs (batch, 3, 4)."""
    del size

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(20, 8)
            self.head = nn.Linear(8, 12)

        def forward(self, inputs):
            mean = nn.mean(self.embedding(inputs["tokens"]), axis=1) * inputs["length"]
            return nn.reshape(self.head(mean), (mean.shape[0], 3, 4))

    return Network()


def loss(nn, outputs, targets):
    """Return the error of the curve and the cross-entropy of its first row."""
    return nn.mse(outputs, targets["curve"]) + nn.cross_entropy(outputs[:, 0], targets["label"])
