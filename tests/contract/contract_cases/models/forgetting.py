"""A small BERT whose attention drops weights, by one layer for both of its blocks; of the tests only."""

from __future__ import annotations

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.workload import Size, Workload

HEADS, WIDTH, ENTRIES = 2, 16, 31

SIZE = Size(
    batch_size=4,
    inputs={"ids": ArraySpec(shape=(6,), dtype="int32", high=ENTRIES), "seen": ArraySpec(shape=(6,), dtype="bool")},
    classes=3,
)

WORKLOAD = Workload(
    name="forgetting",
    summary="two blocks whose attention drops weights",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=AdamW(learning_rate=0.001),
)


def build(nn, size):
    """Return the network: (batch, positions) to (batch, classes)."""

    class Block(nn.Module):
        def __init__(self, drop):
            super().__init__()
            self.mixed = nn.Linear(WIDTH, 3 * WIDTH)
            self.out = nn.Linear(WIDTH, WIDTH)
            self.norm = nn.LayerNorm(WIDTH)
            self.drop = drop

        def forward(self, x, mask, causal):
            batch, length, _ = x.shape
            mixed = nn.reshape(self.mixed(x), (batch, length, 3, HEADS, WIDTH // HEADS))
            q, k, v = mixed[:, :, 0], mixed[:, :, 1], mixed[:, :, 2]
            attended = nn.attention(q, k, v, causal=causal, mask=mask, dropout=self.drop)
            return self.norm(x + self.drop(self.out(nn.reshape(attended, (batch, length, WIDTH)))))

    class Forgetting(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(ENTRIES, WIDTH)
            drop = nn.Dropout(0.1)
            self.blocks = nn.ModuleList([Block(drop), Block(drop)])
            self.head = nn.Linear(WIDTH, size.classes)

        def forward(self, x):
            h = self.table(x["ids"])
            batch, length, _ = h.shape
            seen = nn.logical_or(x["seen"], nn.equal(nn.arange(length), 0))  # a row that sees nothing has no meaning
            h = self.blocks[0](h, nn.reshape(seen, (batch, 1, 1, length)), causal=False)
            return self.head(nn.mean(self.blocks[1](h, None, causal=True), 1))

    return Forgetting()


def loss(nn, outputs, targets):
    """Return the mean cross-entropy."""
    return nn.cross_entropy(outputs, targets)
