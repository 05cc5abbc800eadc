"""A workload from feature maps to feature maps, which frameworks lay out as they like; of the tests only.

Input: x (6, 5, 2) float32, channels last. Target: other (6, 5, 3) float32. Outputs: (batch, 6, 5, 3).
"""

from __future__ import annotations

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="maps",
    summary="a convolution of one point",
    source="written for the tests",
    sizes={
        "full": Size(
            batch_size=6, input_shape=(6, 5, 2), targets={"other": ArraySpec(shape=(6, 5, 3))}, parameters=2 * 3 + 3
        )
    },
    optimizer=SGD(learning_rate=0.1),
)


def build(nn, size):
    """Return the model: x to outputs of three channels."""
    del size

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution = nn.Conv2d(2, 3, 1)

        def forward(self, x):
            return self.convolution(x)

    return Network()


def loss(nn, outputs, targets):
    """Return the mean of squares."""
    return nn.mse(outputs, targets)
