"""A network whose backbone is not trained, with a neck that is slow and a head that is fast; of the tests only.

The backbone's BatchNorm keeps moving its statistics, though its scale and bias stay. Behind it stands a frozen layer
between trained ones, through which the gradient passes, and a bias that is frozen without its weight. The gradients are
clipped by a norm that frozen ones would change.
"""

from __future__ import annotations

from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.schedule import Cosine
from bakeoff.spec.workload import Size, Workload

SIZE = Size(batch_size=4, input_shape=(8, 8, 3), classes=5)

WORKLOAD = Workload(
    name="finetuned",
    summary="a frozen backbone, a slow neck and a fast head",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=AdamW(
        learning_rate=1e-2,
        weight_decay=0.1,
        no_decay=("*.bias",),
        frozen=("backbone.*", "between.*", "neck.bias"),
        rates=(("neck.*", 0.1), ("head.*", 2.0)),
        clip_norm=0.5,
        schedule=Cosine(steps=100, warmup_steps=1),
    ),
)


def build(nn, size):
    """Return the network."""

    class Backbone(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3, padding=1)
            self.norm = nn.BatchNorm(8)

        def forward(self, x):
            return nn.global_avg_pool2d(nn.relu(self.norm(self.conv(x))))

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = Backbone()
            self.neck = nn.Linear(8, 8)
            self.between = nn.Linear(8, 8)
            self.last = nn.Linear(8, 8)
            self.head = nn.Linear(8, size.classes)

        def forward(self, x):
            x = nn.tanh(self.neck(self.backbone(x)))
            return self.head(nn.tanh(self.last(nn.tanh(self.between(x)))))

    return Network()


def loss(nn, outputs, targets):
    """Return the mean cross-entropy."""
    return nn.cross_entropy(outputs, targets)
