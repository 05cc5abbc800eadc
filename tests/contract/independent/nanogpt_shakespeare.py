"""nanoGPT's model in torch.nn, from its README, model.py and config: no biases, the exact GELU, tied embeddings.

All layers in their full width, on 8 characters; heads one by one.
"""

from __future__ import annotations

import math

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation

OPTIMIZER = {
    "type": "adamw",
    "learning_rate": 1e-3,
    "beta1": 0.9,
    "beta2": 0.99,
    "epsilon": 1e-8,
    "weight_decay": 0.1,
    "no_decay": ["*norm.scale"],
    "clip_norm": 1.0,
    "schedule": {"type": "cosine", "steps": 5000, "warmup_steps": 100, "final": 0.1},
}

DROPOUT = 0.2


class Block(torch.nn.Module):
    """A layer, head by head."""

    def __init__(self, width, heads):
        """Make the layers."""
        super().__init__()
        self.heads = heads
        self.ln_1 = torch.nn.LayerNorm(width, bias=False)
        self.c_attn = torch.nn.Linear(width, 3 * width, bias=False)
        self.c_proj = torch.nn.Linear(width, width, bias=False)
        self.resid_dropout = torch.nn.Dropout(DROPOUT)
        self.ln_2 = torch.nn.LayerNorm(width, bias=False)
        self.mlp_fc = torch.nn.Linear(width, 4 * width, bias=False)
        self.mlp_proj = torch.nn.Linear(4 * width, width, bias=False)
        self.mlp_dropout = torch.nn.Dropout(DROPOUT)

    def forward(self, x):
        """Add what the characters before tell, then the dense part."""
        queries, keys, values = (part.chunk(self.heads, -1) for part in self.c_attn(self.ln_1(x)).chunk(3, -1))
        length = x.shape[1]
        later = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        attended = []
        for q, k, v in zip(queries, keys, values, strict=True):
            scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
            attended.append(torch.softmax(scores.masked_fill(later, -math.inf), -1) @ v)
        x = x + self.resid_dropout(self.c_proj(torch.cat(attended, -1)))
        wide = self.mlp_fc(self.ln_2(x))
        wide = 0.5 * wide * (1 + torch.erf(wide / math.sqrt(2)))
        return x + self.mlp_dropout(self.mlp_proj(wide))


class Network(torch.nn.Module):
    """Embeddings, layers, and the product with the embeddings."""

    def __init__(self, characters, positions, width, heads, layers):
        """Make the layers."""
        super().__init__()
        self.wte = torch.nn.Embedding(characters, width)
        self.wpe = torch.nn.Parameter(torch.zeros(1, positions, width))
        self.drop = torch.nn.Dropout(DROPOUT)
        self.h = torch.nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.ln_f = torch.nn.LayerNorm(width, bias=False)

    def forward(self, ids):
        """Return the logits of each next character."""
        x = self.drop(self.wte(ids) + torch.stack([self.wpe[0, place] for place in range(ids.shape[1])]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


PARTS = {
    "ln_1": "attention_norm",
    "c_attn": "mixed",
    "c_proj": "out",
    "ln_2": "dense_norm",
    "mlp_fc": "wide",
    "mlp_proj": "narrow",
}


def layers(network):
    """Name the workload's layers and arrays."""
    parts = {
        f"h.{number}.{part}": f"layers.{number}.{named}"
        for number in range(len(network.h))
        for part, named in PARTS.items()
    }
    return parts | {"wte": "characters", "wpe": "positions", "ln_f": "norm"}


def loss(outputs, targets):
    """Return the mean over all places of -log of the probability of the next character."""
    probabilities = torch.softmax(outputs, -1).flatten(0, 1)
    return -torch.log(probabilities[torch.arange(len(probabilities)), targets.flatten()]).mean()


def _window(length):
    return ArraySpec(shape=(length,), dtype="int32", high=65)


SIZES = {
    "full": Implementation(
        batch_size=64,
        inputs={"ids": _window(256)},
        targets={"next_ids": _window(256)},
        parameters=10_745_088,
        network=lambda: Network(65, 256, 384, 6, 6),
        computed={"ids": _window(8), "next_ids": _window(8)},
    ),
}
