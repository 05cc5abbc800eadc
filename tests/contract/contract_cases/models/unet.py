"""A small U-Net (Ronneberger et al. 2015, arXiv 1505.04597): maps in, maps out; of the tests only.

Two 3x3 convolutions with BatchNorm and ReLU a level, pooled by two down and brought back by transposed convolutions;
the last level comes back by bilinear resizing. A label for every pixel.
"""

from __future__ import annotations

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

SIZE = Size(batch_size=4, input_shape=(12, 8, 3), targets={"pixels": ArraySpec(shape=(12, 8), dtype="int32", high=3)})

WORKLOAD = Workload(
    name="unet",
    summary="a small U-Net",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=SGD(learning_rate=0.1),
)


def build(nn, size):
    """Return the network."""
    del size

    class Twice(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.first = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
            self.first_norm = nn.BatchNorm(outputs)
            self.second = nn.Conv2d(outputs, outputs, 3, padding=1)
            self.second_norm = nn.GroupNorm(2, outputs)

        def forward(self, x):
            x = nn.relu(self.first_norm(self.first(x)))
            return nn.relu(self.second_norm(self.second(x)))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList([Twice(3, 4), Twice(4, 8)])
            self.bottom = Twice(8, 16)
            self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
            self.joined = nn.ModuleList([Twice(16, 8), Twice(12, 4)])
            self.head = nn.Conv2d(4, 3, 1)

        def forward(self, x):
            high = self.down[0](x)
            low = self.down[1](nn.max_pool2d(high, 2))
            x = self.up(self.bottom(nn.max_pool2d(low, 2)))
            x = nn.resize(self.joined[0](nn.concat_channels([low, x])), (12, 8), "bilinear")
            return self.head(self.joined[1](nn.concat_channels([high, x])))

    return UNet()


def loss(nn, outputs, targets):
    """Return the mean cross-entropy over all pixels."""
    return nn.cross_entropy(outputs, targets)
