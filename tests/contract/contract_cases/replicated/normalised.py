"""A small network with what several devices may get wrong: convolution, BatchNorm, clipping, momentum, a dense layer.

Parameters: 3 x 3 x 3 x 4 + 2 x 4 + (4 + 1) x 4 = 136; of tests only.
"""

from __future__ import annotations

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="normalised",
    summary="a small convolutional network with batch normalisation",
    source="written for the tests",
    sizes={
        "full": Size(batch_size=16, input_shape=(8, 8, 3), classes=4, parameters=136),
        "reduced": Size(batch_size=8, input_shape=(6, 6, 3), classes=4, parameters=136),
    },
    optimizer=SGD(learning_rate=0.1, momentum=0.9, clip_norm=0.5),
)


def build(nn, size):
    """Make the model: images to logits."""

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution = nn.Conv2d(size.input_shape[-1], 4, 3, padding=1, bias=False)
            self.norm = nn.BatchNorm(4)
            self.dropout = nn.Dropout(0.2)
            self.head = nn.Linear(4, size.classes)

        def forward(self, x):
            x = nn.relu(self.norm(self.convolution(x)))
            return self.head(self.dropout(nn.global_avg_pool2d(x)))

    return Network()


def loss(nn, outputs, targets):
    """Return the mean cross-entropy."""
    return nn.cross_entropy(outputs, targets)
