"""GRUs over whole sequences and within lengths, and their cell from a state that is learnt; of the tests only."""

from __future__ import annotations

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

PLACES, FEATURES, HIDDEN = 5, 3, 4

SIZE = Size(
    batch_size=4,
    inputs={
        "x": ArraySpec(shape=(PLACES, FEATURES)),
        "n": ArraySpec(dtype="int32", low=1, high=PLACES + 1),
    },
    classes=3,
)

WORKLOAD = Workload(
    name="gated",
    summary="a GRU in both directions within lengths, others over whole sequences, and a cell",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=SGD(learning_rate=0.1),
    scenarios=("train", "per-sample-gradients"),
)


def build(nn, size):
    """Return the network: sequences and their lengths to (batch, classes)."""

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.both = nn.GRU(FEATURES, HIDDEN, bidirectional=True)
            self.whole, self.last = nn.GRU(2 * HIDDEN, HIDDEN), nn.GRU(HIDDEN, HIDDEN)
            self.cell = nn.GRUCell(HIDDEN, HIDDEN)
            self.start = nn.Parameter((HIDDEN,))
            self.head = nn.Linear(HIDDEN, size.classes)

        def step(self, state, now):
            state = self.cell(now, state)
            return state, state

        def forward(self, batch):
            start = nn.broadcast_to(self.start, (batch["x"].shape[0], HIDDEN))
            sequence, _ = self.both(batch["x"], lengths=batch["n"])
            sequence, _ = self.whole(sequence)
            sequence, _ = self.last(sequence, start)
            state, _ = nn.scan(self.step, start, sequence)
            return self.head(state)

    return Gated()


def loss(nn, outputs, targets):
    """Return the mean cross-entropy."""
    return nn.cross_entropy(outputs, targets)
