"""SmolLM of 135 million parameters, a Llama: the next of 49,152 tokens, from up to 2048 before it.

Thirty layers of 576 features, each with attention of 9 heads of queries over 3 of keys and values, which are turned by
their positions, and a gated dense part of 1536; RMSNorm before each part, no bias anywhere, and logits by the tokens'
own embeddings. Touvron et al., arXiv 2302.13971 (Llama); Su et al., arXiv 2104.09864 (rotary positions); Ainslie et
al., arXiv 2305.13245 (grouped queries). Sizes are those of Hugging Face's SmolLM-135M; batch and
optimiser, of a kind that such models are trained with, are ours.
"""

from __future__ import annotations

import numpy as np

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.schedule import Cosine
from bakeoff.spec.workload import Size, Workload


def _size(batch_size, length, tokens, parameters, **config):
    """Return a size: windows of tokens, and for each place the token behind it."""
    window = ArraySpec(shape=(length,), dtype="int32", high=tokens)
    return Size(
        batch_size=batch_size,
        inputs={"ids": window},
        targets={"next_ids": window},
        parameters=parameters,
        config=config | {"tokens": tokens, "length": length},
    )


WORKLOAD = Workload(
    name="smollm-135m",
    summary="SmolLM-135M, a Llama of 30 layers with grouped queries, on windows of 2048 tokens",
    source="Hugging Face, SmolLM-135M; Touvron et al., arXiv 2302.13971",
    sizes={
        "full": _size(4, 2048, 49_152, 134_515_008, features=576, heads=9, shared_heads=3, dense=1536, layers=30),
        "reduced": _size(2, 16, 100, 21_792, features=32, heads=4, shared_heads=2, dense=64, layers=2),
    },
    optimizer=AdamW(
        learning_rate=3e-3,
        beta1=0.9,
        beta2=0.95,
        weight_decay=0.01,
        no_decay=("*norm.scale",),
        clip_norm=1.0,
        schedule=Cosine(warmup_steps=100, steps=600_000, final=0.1),
    ),
)

EPSILON = 1e-5
BASE = 10_000.0
"""Of the rotary positions' wavelengths."""


def build(nn, size):
    """Make the model: ids (batch, length) to logits (batch, length, tokens)."""
    config = size.config
    features = config["features"]
    layer = _layer(nn, config)
    cosines, sines = _turns(config["length"], features // config["heads"])

    class Llama(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(config["tokens"], features, std=0.02)
            self.cosines, self.sines = nn.constant(cosines), nn.constant(sines)
            self.layers = nn.ModuleList([layer() for _ in range(config["layers"])])
            self.norm = nn.RMSNorm(features, epsilon=EPSILON)

        def forward(self, ids):
            x = self.tokens(ids)
            for one in self.layers:
                x = one(x, self.cosines, self.sines)
            return self.tokens.attend(self.norm(x))

    return Llama()


def _turns(length, features):
    """Return cosines and sines (1, length, 1, features) of each place's turns, both halves alike."""
    frequencies = BASE ** -(np.arange(0, features, 2) / features)
    angles = np.tile(np.arange(length)[:, None] * frequencies, 2).reshape(1, length, 1, features)
    return np.cos(angles), np.sin(angles)


def _layer(nn, config):
    """Make the class of one layer."""
    features, heads, shared, dense = (config[name] for name in ("features", "heads", "shared_heads", "dense"))
    width = features // heads

    def turned(x, cosines, sines):
        """Return (batch, length, heads, width) with the pairs (i, i + width / 2) turned by their places' angles."""
        first, second = nn.split(x, (width // 2, width // 2), 3)
        return x * cosines + nn.concat([-1.0 * second, first], 3) * sines

    class Layer(nn.Module):
        """Causal attention and a gated dense part, each behind an RMSNorm and added to its input."""

        def __init__(self):
            super().__init__()
            self.attention_norm = nn.RMSNorm(features, epsilon=EPSILON)
            self.query = nn.Linear(features, heads * width, bias=False)
            self.key = nn.Linear(features, shared * width, bias=False)
            self.value = nn.Linear(features, shared * width, bias=False)
            self.out = nn.Linear(heads * width, features, bias=False)
            self.dense_norm = nn.RMSNorm(features, epsilon=EPSILON)
            self.gate = nn.Linear(features, dense, bias=False)
            self.wide = nn.Linear(features, dense, bias=False)
            self.narrow = nn.Linear(dense, features, bias=False)

        def forward(self, x, cosines, sines):
            batch, length, _ = x.shape
            normal = self.attention_norm(x)
            q = turned(nn.reshape(self.query(normal), (batch, length, heads, width)), cosines, sines)
            k = turned(nn.reshape(self.key(normal), (batch, length, shared, width)), cosines, sines)
            v = nn.reshape(self.value(normal), (batch, length, shared, width))
            x = x + self.out(nn.reshape(nn.attention(q, k, v, causal=True), (batch, length, heads * width)))
            normal = self.dense_norm(x)
            return x + self.narrow(nn.silu(self.gate(normal)) * self.wide(normal))

    return Layer


def loss(nn, outputs, targets):
    """Return the mean cross-entropy over all places of the batch."""
    return nn.cross_entropy(outputs, targets)
