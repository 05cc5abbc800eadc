"""DistilBERT with two classes, as it is fine-tuned on SST-2: is a sentence of up to 128 tokens positive?

Embeddings of 30,522 tokens and of 512 positions, added, with a LayerNorm; six layers of 12 heads and a dense part of
3072, each added to its input with a LayerNorm behind it; of the first token a dense layer with ReLU and the two logits.
Sanh et al., arXiv 1910.01108, as Hugging Face's DistilBertForSequenceClassification: epsilon 1e-12, the exact GELU,
dropout of 0.1, of 0.2 before the logits. There weights of attention are dropped, too, which is left out here.
The optimiser is that of Hugging Face's run_glue.py, three epochs, with BERT's weight decay of 0.01.
"""

from __future__ import annotations

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.schedule import Linear
from bakeoff.spec.workload import Size, Workload


def _size(batch_size, length, tokens, parameters, **config):
    """Return a size: sentences with their lengths, and a label for each."""
    return Size(
        batch_size=batch_size,
        inputs={
            "ids": ArraySpec(shape=(length,), dtype="int32", high=tokens, length="length"),
            "length": ArraySpec(dtype="int32", low=4, high=length + 1),
        },
        targets={"label": ArraySpec(dtype="int32", high=2)},
        parameters=parameters,
        config=config | {"tokens": tokens, "dropout": 0.1, "head_dropout": 0.2},
    )


WORKLOAD = Workload(
    name="distilbert-sst2",
    summary="DistilBERT fine-tuned on sentences of up to 128 tokens, two classes",
    source="Sanh et al., arXiv 1910.01108; Hugging Face's DistilBertForSequenceClassification",
    sizes={
        "full": _size(32, 128, 30_522, 66_955_010, positions=512, features=768, heads=12, dense=3072, layers=6),
        "reduced": _size(4, 16, 100, 22_498, positions=32, features=32, heads=2, dense=64, layers=2),
    },
    optimizer=AdamW(
        learning_rate=2e-5,
        weight_decay=0.01,
        no_decay=("*bias", "*norm.scale"),
        clip_norm=1.0,
        schedule=Linear(steps=6315),  # three epochs of SST-2's 67,349 sentences
    ),
)

EPSILON = 1e-12


def build(nn, size):
    """Make the model: ids (batch, length) and lengths to logits (batch, 2)."""
    config = size.config
    features = config["features"]
    layer = _layer(nn, config)

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(config["tokens"], features, std=0.02)
            self.positions = nn.Parameter((1, config["positions"], features), std=0.02)
            self.norm = nn.LayerNorm(features, epsilon=EPSILON)
            self.drop = nn.Dropout(config["dropout"])
            self.layers = nn.ModuleList([layer() for _ in range(config["layers"])])
            self.hidden = nn.Linear(features, features)
            self.head_drop = nn.Dropout(config["head_dropout"])
            self.head = nn.Linear(features, 2)

        def forward(self, inputs):
            batch, length = inputs["ids"].shape
            places = nn.reshape(nn.arange(length), (1, length))
            mask = nn.reshape(nn.less(places, nn.reshape(inputs["length"], (batch, 1))), (batch, 1, 1, length))
            x = self.drop(self.norm(self.tokens(inputs["ids"]) + self.positions[:, :length]))
            for one in self.layers:
                x = one(x, mask)
            return self.head(self.head_drop(nn.relu(self.hidden(x[:, 0]))))

    return Classifier()


def _layer(nn, config):
    """Make the class of one layer."""
    features, heads = config["features"], config["heads"]

    class Layer(nn.Module):
        """Attention and a dense part, each added to its input, with a LayerNorm behind it."""

        def __init__(self):
            super().__init__()
            self.query, self.key, self.value = (nn.Linear(features, features) for _ in range(3))
            self.out = nn.Linear(features, features)
            self.attention_norm = nn.LayerNorm(features, epsilon=EPSILON)
            self.wide = nn.Linear(features, config["dense"])
            self.narrow = nn.Linear(config["dense"], features)
            self.drop = nn.Dropout(config["dropout"])
            self.dense_norm = nn.LayerNorm(features, epsilon=EPSILON)

        def forward(self, x, mask):
            batch, length, _ = x.shape
            heads_of = (batch, length, heads, features // heads)
            q, k, v = (nn.reshape(one(x), heads_of) for one in (self.query, self.key, self.value))
            attended = nn.reshape(nn.attention(q, k, v, mask=mask), (batch, length, features))
            x = self.attention_norm(x + self.out(attended))
            return self.dense_norm(x + self.drop(self.narrow(nn.gelu(self.wide(x)))))

    return Layer


def loss(nn, outputs, targets):
    """Return the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
