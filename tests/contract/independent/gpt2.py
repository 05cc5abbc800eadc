"""GPT-2 in torch.nn, from its papers and OpenAI's code: all layers in their full width, on 8 tokens of 257.

The optimiser and the batch are those of karpathy/nanoGPT, train.py.
"""

from __future__ import annotations

import math

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation

OPTIMIZER = {
    "type": "adamw",
    "learning_rate": 6e-4,
    "beta1": 0.9,
    "beta2": 0.95,
    "epsilon": 1e-8,
    "weight_decay": 0.1,
    "no_decay": ["*bias", "*norm.scale"],
    "clip_norm": 1.0,
    "schedule": {"type": "cosine", "steps": 600_000, "warmup_steps": 2000, "final": 0.1},
}


class Block(torch.nn.Module):
    """A layer, head by head."""

    def __init__(self, width, heads):
        """Make the layers."""
        super().__init__()
        self.heads = heads
        self.ln_1 = torch.nn.LayerNorm(width)
        self.c_attn = torch.nn.Linear(width, 3 * width)
        self.c_proj = torch.nn.Linear(width, width)
        self.ln_2 = torch.nn.LayerNorm(width)
        self.c_fc = torch.nn.Linear(width, 4 * width)
        self.out = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        """Add what the tokens before tell, then the dense part."""
        queries, keys, values = (part.chunk(self.heads, -1) for part in self.c_attn(self.ln_1(x)).chunk(3, -1))
        length = x.shape[1]
        later = torch.arange(length)[None] > torch.arange(length)[:, None]
        attended = []
        for q, k, v in zip(queries, keys, values, strict=True):
            scores = torch.einsum("bqf,bkf->bqk", q, k) / math.sqrt(q.shape[-1])
            attended.append(torch.softmax(scores.masked_fill(later, -math.inf), -1) @ v)
        x = x + self.c_proj(torch.cat(attended, -1))
        wide = self.c_fc(self.ln_2(x))
        return x + self.out(0.5 * wide * (1 + torch.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3))))


class Network(torch.nn.Module):
    """Embeddings, layers, and the product with the embeddings."""

    def __init__(self, tokens, positions, width, heads, layers):
        """Make the layers."""
        super().__init__()
        self.wte = torch.nn.Embedding(tokens, width)
        self.wpe = torch.nn.Parameter(torch.zeros(1, positions, width))
        self.h = torch.nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.ln_f = torch.nn.LayerNorm(width)

    def forward(self, ids):
        """Return the logits of each next token."""
        x = self.wte(ids) + torch.stack([self.wpe[0, place] for place in range(ids.shape[1])])
        for block in self.h:
            x = block(x)
        return torch.einsum("blf,tf->blt", self.ln_f(x), self.wte.weight)


PARTS = {
    "ln_1": "attention_norm",
    "c_attn": "mixed",
    "c_proj": "out",
    "ln_2": "dense_norm",
    "c_fc": "wide",
    "out": "narrow",
}


def layers(network):
    """Name the workload's layers and arrays."""
    parts = {
        f"h.{number}.{part}": f"layers.{number}.{named}"
        for number in range(len(network.h))
        for part, named in PARTS.items()
    }
    return parts | {"wte": "tokens", "wpe": "positions", "ln_f": "norm"}


def loss(outputs, targets):
    """Return the mean over all positions of -log of the probability of the next token."""
    probabilities = torch.softmax(outputs, -1).flatten(0, 1)
    return -torch.log(probabilities[torch.arange(len(probabilities)), targets.flatten()]).mean()


def _tokens(tokens, length):
    return ArraySpec(shape=(length,), dtype="int32", high=tokens)


COMPUTED = {"ids": _tokens(257, 8), "next_ids": _tokens(257, 8)}

SIZES = {
    "full": Implementation(
        batch_size=12,
        inputs={"ids": _tokens(50_257, 1024)},
        targets={"next_ids": _tokens(50_257, 1024)},
        parameters=124_439_808,
        network=lambda: Network(257, 1024, 768, 12, 12),
        computed=COMPUTED,
        config={"tokens": 257},
    ),
}
SMALL = Implementation(
    inputs={"ids": _tokens(50_257, 1024)},
    targets={"next_ids": _tokens(50_257, 1024)},
    network=lambda: Network(257, 16, 8, 2, 2),
    computed=COMPUTED,
    config={"tokens": 257, "positions": 16, "features": 8, "heads": 2, "layers": 2},
)
