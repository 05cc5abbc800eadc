"""One attention between two layers, whose kernel is read back; of the tests only, and quick to compile."""

from __future__ import annotations

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

HEADS = 2

WIDTH = 8

SIZE = Size(batch_size=4, input_shape=(6, WIDTH), classes=3)

WORKLOAD = Workload(
    name="attending",
    summary="one attention",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=SGD(learning_rate=0.1),
)


def build(nn, size):
    """Return the network: (batch, positions, width) to (batch, classes)."""

    class Attending(nn.Module):
        def __init__(self):
            super().__init__()
            self.asking = nn.Linear(WIDTH, WIDTH)
            self.answering = nn.Linear(WIDTH, WIDTH)
            self.head = nn.Linear(WIDTH, size.classes)

        def forward(self, x):
            batch, length, _ = x.shape
            q, k, v = (
                nn.reshape(one, (batch, length, HEADS, WIDTH // HEADS))
                for one in (self.asking(x), x, self.answering(x))
            )
            return self.head(nn.mean(nn.reshape(nn.attention(q, k, v), (batch, length, WIDTH)), 1))

    return Attending()


def loss(nn, outputs, targets):
    """Return the mean cross-entropy."""
    return nn.cross_entropy(outputs, targets)
