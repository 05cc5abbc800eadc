"""SmolLM-135M in torch.nn, from the papers of Llama, rotary positions and grouped queries; sizes of its config.json.

All layers in their full width, on 8 tokens of 257. Pairs are turned as complex numbers, heads one by one. The optimiser
is ours.
"""

from __future__ import annotations

import math

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation

OPTIMIZER = {
    "type": "adamw",
    "learning_rate": 3e-3,
    "beta1": 0.9,
    "beta2": 0.95,
    "epsilon": 1e-8,
    "weight_decay": 0.01,
    "no_decay": ["*norm.scale"],
    "clip_norm": 1.0,
    "schedule": {"type": "cosine", "steps": 600_000, "warmup_steps": 100, "final": 0.1},
}


class RootMeanSquare(torch.nn.Module):
    """Each vector over the root of the mean of its squares, times a weight."""

    def __init__(self, width):
        """Make the weight."""
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        """Normalise."""
        return self.weight * x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()


def turned(x):
    """Turn the pairs (i, i + half) of vectors (batch, length, width) by their place's angle."""
    half = x.shape[-1] // 2
    places = torch.arange(x.shape[1], dtype=x.dtype)[:, None]
    angles = places / 10_000.0 ** (torch.arange(half, dtype=x.dtype) / half)
    pairs = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], -1)


class Layer(torch.nn.Module):
    """A layer, head by head."""

    def __init__(self, width, heads, shared, dense):
        """Make the layers."""
        super().__init__()
        self.heads, self.shared = heads, shared
        self.input_layernorm = RootMeanSquare(width)
        self.q_proj = torch.nn.Linear(width, width, bias=False)
        self.k_proj = torch.nn.Linear(width, width // heads * shared, bias=False)
        self.v_proj = torch.nn.Linear(width, width // heads * shared, bias=False)
        self.o_proj = torch.nn.Linear(width, width, bias=False)
        self.post_attention_layernorm = RootMeanSquare(width)
        self.gate_proj = torch.nn.Linear(width, dense, bias=False)
        self.up_proj = torch.nn.Linear(width, dense, bias=False)
        self.down_proj = torch.nn.Linear(dense, width, bias=False)

    def forward(self, x):
        """Add what the tokens before tell, then the dense part."""
        normal = self.input_layernorm(x)
        queries = self.q_proj(normal).chunk(self.heads, -1)
        keys, values = (one(normal).chunk(self.shared, -1) for one in (self.k_proj, self.v_proj))
        length = x.shape[1]
        later = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        attended = []
        for head, query in enumerate(queries):
            place = head * self.shared // self.heads
            scores = turned(query) @ turned(keys[place]).transpose(1, 2) / math.sqrt(query.shape[-1])
            attended.append(torch.softmax(scores.masked_fill(later, -math.inf), -1) @ values[place])
        x = x + self.o_proj(torch.cat(attended, -1))
        normal = self.post_attention_layernorm(x)
        gate = self.gate_proj(normal)
        return x + self.down_proj(gate / (1 + torch.exp(-gate)) * self.up_proj(normal))


class Network(torch.nn.Module):
    """Embeddings, layers, and the product with the embeddings."""

    def __init__(self, tokens, width, heads, shared, dense, layers):
        """Make the layers."""
        super().__init__()
        self.embed_tokens = torch.nn.Embedding(tokens, width)
        self.layers = torch.nn.ModuleList([Layer(width, heads, shared, dense) for _ in range(layers)])
        self.norm = RootMeanSquare(width)

    def forward(self, ids):
        """Return the logits of each next token."""
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return torch.nn.functional.linear(self.norm(x), self.embed_tokens.weight)


PARTS = {
    "input_layernorm.weight": "attention_norm.scale",
    "q_proj": "query",
    "k_proj": "key",
    "v_proj": "value",
    "o_proj": "out",
    "post_attention_layernorm.weight": "dense_norm.scale",
    "gate_proj": "gate",
    "up_proj": "wide",
    "down_proj": "narrow",
}


def layers(network):
    """Name the workload's layers and arrays."""
    parts = {
        f"layers.{number}.{part}": f"layers.{number}.{named}"
        for number in range(len(network.layers))
        for part, named in PARTS.items()
    }
    return parts | {"embed_tokens": "tokens", "norm.weight": "norm.scale"}


def loss(outputs, targets):
    """Return the mean over all places of -log of the probability of the next token."""
    probabilities = torch.softmax(outputs, -1).flatten(0, 1)
    return -torch.log(probabilities[torch.arange(len(probabilities)), targets.flatten()]).mean()


def _window(tokens, length):
    return ArraySpec(shape=(length,), dtype="int32", high=tokens)


SIZES = {
    "full": Implementation(
        batch_size=4,
        inputs={"ids": _window(49_152, 2048)},
        targets={"next_ids": _window(49_152, 2048)},
        parameters=134_515_008,
        network=lambda: Network(257, 576, 9, 3, 1536, 30),
        computed={"ids": _window(257, 8), "next_ids": _window(257, 8)},
        config={"tokens": 257, "length": 8},
    ),
}
