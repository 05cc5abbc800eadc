"""nanoGPT's first example: the next of 65 characters of Shakespeare, from up to 256 before it.

A GPT of six layers, six heads and 384 features without a bias anywhere, as karpathy/nanoGPT has it in model.py and
config/train_shakespeare_char.py: LayerNorm before each part, the exact GELU, dropout of 0.2, and logits by the
characters' own embeddings. nanoGPT drops weights of attention, too, which is left out here.
"""

from __future__ import annotations

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.schedule import Cosine
from bakeoff.spec.workload import Size, Workload

CHARACTERS = 65


def _size(batch_size, length, parameters, **config):
    """Return a size: windows of characters, and for each place the character behind it."""
    window = ArraySpec(shape=(length,), dtype="int32", high=CHARACTERS)
    return Size(
        batch_size=batch_size,
        inputs={"ids": window},
        targets={"next_ids": window},
        parameters=parameters,
        config=config | {"positions": length, "dropout": 0.2},
    )


WORKLOAD = Workload(
    name="nanogpt-shakespeare",
    summary="nanoGPT on characters of Shakespeare: 6 layers, 10.7 million parameters",
    source="karpathy/nanoGPT, config/train_shakespeare_char.py",
    sizes={
        "full": _size(64, 256, 10_745_088, features=384, heads=6, layers=6),
        "reduced": _size(4, 16, 27_328, features=32, heads=2, layers=2),
    },
    optimizer=AdamW(
        learning_rate=1e-3,
        beta1=0.9,
        beta2=0.99,
        weight_decay=0.1,
        no_decay=("*norm.scale",),
        clip_norm=1.0,
        schedule=Cosine(warmup_steps=100, steps=5000, final=0.1),
    ),
)

STD = 0.02
"""Of the first embeddings, as in nanoGPT."""


def build(nn, size):
    """Make the model: ids (batch, length) to logits (batch, length, characters)."""
    config = size.config
    features = config["features"]
    layer = _layer(nn, features, config["heads"], config["dropout"])

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.characters = nn.Embedding(CHARACTERS, features, std=STD)
            self.positions = nn.Parameter((1, config["positions"], features), std=STD)
            self.drop = nn.Dropout(config["dropout"])
            self.layers = nn.ModuleList([layer() for _ in range(config["layers"])])
            self.norm = nn.LayerNorm(features, bias=False)

        def forward(self, ids):
            x = self.drop(self.characters(ids) + self.positions[:, : ids.shape[1]])
            for one in self.layers:
                x = one(x)
            return self.characters.attend(self.norm(x))

    return GPT()


def _layer(nn, features, heads, dropout):
    """Make the class of one layer."""

    class Layer(nn.Module):
        """Causal attention and a dense part, each behind a LayerNorm and added to its input."""

        def __init__(self):
            super().__init__()
            self.attention_norm = nn.LayerNorm(features, bias=False)
            self.mixed = nn.Linear(features, 3 * features, bias=False)
            self.out = nn.Linear(features, features, bias=False)
            self.attention_drop = nn.Dropout(dropout)
            self.dense_norm = nn.LayerNorm(features, bias=False)
            self.wide = nn.Linear(features, 4 * features, bias=False)
            self.narrow = nn.Linear(4 * features, features, bias=False)
            self.dense_drop = nn.Dropout(dropout)

        def forward(self, x):
            batch, length, _ = x.shape
            parts = nn.split(self.mixed(self.attention_norm(x)), (features, features, features), 2)
            q, k, v = (nn.reshape(part, (batch, length, heads, features // heads)) for part in parts)
            attended = nn.reshape(nn.attention(q, k, v, causal=True), (batch, length, features))
            x = x + self.attention_drop(self.out(attended))
            return x + self.dense_drop(self.narrow(nn.gelu(self.wide(self.dense_norm(x)))))

    return Layer


def loss(nn, outputs, targets):
    """Return the mean cross-entropy over all places of the batch."""
    return nn.cross_entropy(outputs, targets)
