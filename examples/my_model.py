"""A workload of your own: a file like this one, raced by `bakeoff run examples/my_model.py`.

The model is written once, in the vocabulary `nn` (bakeoff.spec.vocabulary lists its names), which each framework
supplies in its own layers and functions. Here: a convolution over patches, then a block with LayerNorm and GELU.
"""

from __future__ import annotations

from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="my-model",
    summary="a small image classifier: patches, a residual block, a linear head",
    source="written for this example",
    sizes={
        "full": Size(batch_size=64, input_shape=(32, 32, 3), classes=10, config={"patch": 4, "width": 96}),
        "reduced": Size(batch_size=8, input_shape=(16, 16, 3), classes=10, config={"patch": 4, "width": 16}),
    },
    optimizer=AdamW(learning_rate=1e-3, weight_decay=0.05),
)


def build(nn, size):
    """Make the model: images (batch, height, width, 3) to logits (batch, classes)."""
    width = size.config["width"]

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(width)
            self.widen = nn.Linear(width, 4 * width)
            self.narrow = nn.Linear(4 * width, width)

        def forward(self, x):
            return x + self.narrow(nn.gelu(self.widen(self.norm(x))))

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, width, size.config["patch"], stride=size.config["patch"])
            self.block = Residual()
            self.head = nn.Linear(width, size.classes)

        def forward(self, x):
            x = nn.global_avg_pool2d(nn.relu(self.patches(x)))
            return self.head(self.block(x))

    return Classifier()


def loss(nn, outputs, targets):
    """Give the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
