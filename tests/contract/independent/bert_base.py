"""BERT in torch.nn, from its paper and google-research/bert: all layers in their full width, on 9 tokens of 263.

The optimiser is that of the paper's appendix A.2, with a warm-up of 100 steps in place of 10,000.
"""

from __future__ import annotations

import math

import torch
from torch.nn.functional import dropout

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation

OPTIMIZER = {
    "type": "adamw",
    "learning_rate": 1e-4,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-6,
    "weight_decay": 0.01,
    "no_decay": ["*bias", "*norm.scale"],
    "clip_norm": 1.0,
    "schedule": {"type": "linear", "steps": 1_000_000, "warmup_steps": 100, "final": 0.0},
}
DROPPED = 0.1


def gelu(x):
    """Return x times the probability of a standard normal number below it."""
    return x * 0.5 * torch.special.erfc(-x / math.sqrt(2))


class Encoder(torch.nn.Module):
    """A layer, sample by sample: what is padded is not there."""

    def __init__(self, width, heads, dense):
        """Make the layers."""
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(width, width) for _ in range(4))
        self.output_norm = torch.nn.LayerNorm(width, eps=1e-12)
        self.intermediate = torch.nn.Linear(width, dense)
        self.dense = torch.nn.Linear(dense, width)
        self.dense_norm = torch.nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, lengths):
        """Attend to the tokens of each pair, then the dense part; each is added before its norm."""
        attended = torch.stack([self.attend(row, length) for row, length in zip(x, lengths.tolist(), strict=True)])
        x = self.output_norm(dropout(self.output(attended), DROPPED, self.training) + x)
        return self.dense_norm(dropout(self.dense(gelu(self.intermediate(x))), DROPPED, self.training) + x)

    def attend(self, row, length):
        """Return the mixtures of one pair's tokens."""
        q, k, v = (layer(row).chunk(self.heads, -1) for layer in (self.query, self.key, self.value))
        mixed = []
        for one in range(self.heads):
            scores = q[one] @ k[one][:length].T / math.sqrt(q[one].shape[-1])
            mixed.append(torch.softmax(scores, -1) @ v[one][:length])
        return torch.cat(mixed, -1)


class Network(torch.nn.Module):
    """BERT with both heads."""

    def __init__(self, tokens, positions, width, heads, dense, layers):
        """Make the layers."""
        super().__init__()
        self.words = torch.nn.Embedding(tokens, width)
        self.places = torch.nn.Parameter(torch.zeros(1, positions, width))
        self.types = torch.nn.Embedding(2, width)
        self.norm = torch.nn.LayerNorm(width, eps=1e-12)
        self.encoders = torch.nn.ModuleList([Encoder(width, heads, dense) for _ in range(layers)])
        self.transform = torch.nn.Linear(width, width)
        self.transform_norm = torch.nn.LayerNorm(width, eps=1e-12)
        self.output_bias = torch.nn.Parameter(torch.zeros(tokens))
        self.pooler = torch.nn.Linear(width, width)
        self.relation = torch.nn.Linear(width, 2)

    def forward(self, inputs):
        """Return the logits of masked tokens, and in training those of the next sentence."""
        ids = inputs["ids"]
        x = self.words(ids) + self.types(inputs["segments"]) + self.places[:, : ids.shape[1]]
        x = dropout(self.norm(x), DROPPED, self.training)
        for encoder in self.encoders:
            x = encoder(x, inputs["length"])
        seen = torch.stack([row[places] for row, places in zip(x, inputs["masked_positions"], strict=True)])
        logits = self.transform_norm(gelu(self.transform(seen))) @ self.words.weight.T + self.output_bias
        return (logits, self.relation(torch.tanh(self.pooler(x[:, 0])))) if self.training else logits


PARTS = {
    "query": "query",
    "key": "key",
    "value": "value",
    "output": "out",
    "output_norm": "attention_norm",
    "intermediate": "wide",
    "dense": "narrow",
    "dense_norm": "dense_norm",
}


def layers(network):
    """Name the workload's layers and arrays."""
    parts = {
        f"encoders.{number}.{part}": f"layers.{number}.{named}"
        for number in range(len(network.encoders))
        for part, named in PARTS.items()
    }
    return parts | {
        "words": "embeddings.tokens",
        "places": "embeddings.positions",
        "types": "embeddings.segments",
        "norm": "embeddings.norm",
        "transform": "transform",
        "transform_norm": "transform_norm",
        "output_bias": "tokens_bias",
        "pooler": "pooler",
        "relation": "next_sentence",
    }


def loss(outputs, targets):
    """Return the two means of -log of the probability of what it is, added."""
    logits, relation = outputs
    masked = torch.log(torch.softmax(logits, -1)).gather(-1, targets["masked_ids"][..., None]).mean()
    return -masked - torch.log(torch.softmax(relation, -1)).gather(-1, targets["next_sentence"][:, None]).mean()


def _arrays(tokens, length, masked):
    """Return the declared arrays."""
    inputs = {
        "ids": ArraySpec(shape=(length,), dtype="int32", high=tokens, length="length"),
        "segments": ArraySpec(shape=(length,), dtype="int32", high=2, order="ascending", length="length"),
        "length": ArraySpec(dtype="int32", low=masked, high=length + 1),
        "masked_positions": ArraySpec(shape=(masked,), dtype="int32", high=length, order="places", within="length"),
    }
    masked_ids = ArraySpec(shape=(masked,), dtype="int32", high=tokens)
    return inputs, {"masked_ids": masked_ids, "next_sentence": ArraySpec(dtype="int32", high=2)}


INPUTS, TARGETS = _arrays(30_522, 128, 20)
SMALLER, FEWER = _arrays(263, 9, 3)

SIZES = {
    "full": Implementation(
        batch_size=32,
        inputs=INPUTS,
        targets=TARGETS,
        parameters=110_106_428,
        network=lambda: Network(263, 512, 768, 12, 3072, 12),
        computed=SMALLER | FEWER,
        computed_batch=3,
        config={"tokens": 263},
    ),
}
SMALL = Implementation(
    inputs=INPUTS,
    targets=TARGETS,
    network=lambda: Network(263, 16, 8, 2, 16, 2),
    computed=SMALLER | FEWER,
    computed_batch=3,
    config={"tokens": 263, "positions": 16, "features": 8, "heads": 2, "dense": 16, "layers": 2},
)
