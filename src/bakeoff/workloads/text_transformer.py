"""Transformer that classifies texts of up to 256 words, 20,000 words in all: the mean of its real positions, 2 classes.

Embeddings of words and of positions, added; two layers of 4 heads and a dense part of 512, each behind a LayerNorm of
epsilon 1e-5; a last LayerNorm; the mean over the positions that hold words; Linear. No position attends to one behind
the text's length. Mean cross-entropy; Adam at 0.001; batch 32.

The network is ours, in the sizes of the public tutorials for IMDb's reviews: Keras' "Text classification with
Transformer" and the JAX AI stack's have 20,000 words, 200 of them, and one layer of 32 features with a LayerNorm behind
each part. GELU is the exact form, with the error function; no dropout.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload


def _inputs(words: int, most: int) -> dict[str, ArraySpec]:
    """Return a text's words, and how many of them there are."""
    return {
        "ids": ArraySpec(shape=(most,), dtype="int32", high=words, length="length"),
        "length": ArraySpec(dtype="int32", low=1, high=most + 1),
    }


WORKLOAD = Workload(
    name="text-transformer",
    summary="Transformer of two layers that classifies texts of up to 256 words, with lengths",
    source="sizes of the public tutorials for IMDb's reviews (keras.io, docs.jaxstack.ai); the network is ours",
    sizes={
        "full": Size(
            batch_size=32,
            inputs=_inputs(20_000, 256),
            classes=2,
            parameters=2_989_826,
            macs=134_217_984,
            config={"words": 20_000, "positions": 256, "features": 128, "heads": 4, "dense": 512, "layers": 2},
        ),
        "reduced": Size(
            batch_size=4,
            inputs=_inputs(500, 16),
            classes=2,
            parameters=10_546,
            macs=40_992,
            config={"words": 500, "positions": 16, "features": 16, "heads": 2, "dense": 32, "layers": 1},
        ),
    },
    optimizer=Adam(learning_rate=1e-3),
    scenarios=("train", "infer", "per-sample-gradients"),
    data=("synthetic", "imdb"),
)


def build(nn: Any, size: Size) -> Any:
    """Return the model: ids (batch, positions) and length (batch,) to logits (batch, classes)."""
    config: Any = size.config
    positions, features = config["positions"], config["features"]
    layer = _layer(nn, features, config["heads"], config["dense"])

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(config["words"], features)
            self.positions = nn.Parameter((1, positions, features))
            self.layers = nn.ModuleList([layer() for _ in range(config["layers"])])
            self.norm = nn.LayerNorm(features)
            self.head = nn.Linear(features, size.classes)

        def forward(self, x: Any) -> Any:
            batch, most = x["ids"].shape
            length = nn.reshape(x["length"], (batch, 1))
            is_word = nn.less(nn.reshape(nn.arange(most), (1, most)), length)
            mask = nn.reshape(is_word, (batch, 1, 1, most))
            h = self.words(x["ids"]) + self.positions[:, :most]
            for one in self.layers:
                h = one(h, mask)
            weights = nn.reshape(nn.to_float(is_word), (batch, most, 1))
            return self.head(nn.sum(self.norm(h) * weights, 1) / nn.to_float(length))

    return Network()


def _layer(nn: Any, features: int, heads: int, dense: int) -> Any:
    """Return the class of one layer."""

    class Layer(nn.Module):
        """Attention and a dense part, each behind a LayerNorm and added to its input."""

        def __init__(self) -> None:
            super().__init__()
            self.attention_norm = nn.LayerNorm(features)
            self.mixed = nn.Linear(features, 3 * features)
            self.out = nn.Linear(features, features)
            self.dense_norm = nn.LayerNorm(features)
            self.wide = nn.Linear(features, dense)
            self.narrow = nn.Linear(dense, features)

        def forward(self, x: Any, mask: Any) -> Any:
            batch, length, _ = x.shape
            mixed = nn.split(self.mixed(self.attention_norm(x)), (features, features, features), 2)
            q, k, v = (nn.reshape(one, (batch, length, heads, features // heads)) for one in mixed)
            attended = nn.attention(q, k, v, mask=mask)
            x = x + self.out(nn.reshape(attended, (batch, length, features)))
            return x + self.narrow(nn.gelu(self.wide(self.dense_norm(x))))

    return Layer


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
