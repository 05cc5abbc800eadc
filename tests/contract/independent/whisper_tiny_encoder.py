"""Whisper's encoder in torch.nn, from its paper: all layers in their full width, on 150 frames.

What the paper leaves open is that of the authors' model.py: no bias of the keys, sines before cosines, the exact GELU.
Batch 16 is the project's own choice.
"""

from __future__ import annotations

import math

import torch
from torch.nn import Conv1d, LayerNorm, Linear, Module, ModuleList

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation

OPTIMIZER = None

LONGEST = 10_000


def gelu(x):
    """Return x times the probability that a standard normal number is below x."""
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def position(place, width):
    """Return one place's numbers: a sine for each of half the features, then a cosine for each."""
    angles = [place / LONGEST ** (number / (width // 2 - 1)) for number in range(width // 2)]
    return [*map(math.sin, angles), *map(math.cos, angles)]


class Block(Module):
    """A layer, head by head; queries and keys are each scaled by the fourth root of a head's width."""

    def __init__(self, width, heads):
        """Make the layers."""
        super().__init__()
        self.heads = heads
        self.ln_1 = LayerNorm(width)
        self.q_proj = Linear(width, width)
        self.k_proj = Linear(width, width, bias=False)
        self.v_proj = Linear(width, width)
        self.o_proj = Linear(width, width)
        self.ln_2 = LayerNorm(width)
        self.fc_1 = Linear(width, 4 * width)
        self.fc_2 = Linear(4 * width, width)

    def forward(self, x):
        """Add what all places tell, then the dense part."""
        normed = self.ln_1(x)
        root = (x.shape[-1] / self.heads) ** 0.25
        queries, keys = (part(normed) / root for part in (self.q_proj, self.k_proj))
        attended = []
        for q, k, v in zip(*(part.chunk(self.heads, -1) for part in (queries, keys, self.v_proj(normed))), strict=True):
            weights = torch.exp(torch.einsum("bqf,bkf->bqk", q, k))
            attended.append(torch.einsum("bqk,bkf->bqf", weights / weights.sum(-1, keepdim=True), v))
        x = x + self.o_proj(torch.cat(attended, -1))
        return x + self.fc_2(gelu(self.fc_1(self.ln_2(x))))


class Network(Module):
    """Convolutions with channels first, positions, layers and the last LayerNorm."""

    def __init__(self, mels, width, heads, layers):
        """Make the layers."""
        super().__init__()
        self.conv_1 = Conv1d(mels, width, 3, padding=1)
        self.conv_2 = Conv1d(width, width, 3, stride=2, padding=1)
        self.blocks = ModuleList([Block(width, heads) for _ in range(layers)])
        self.ln = LayerNorm(width)

    def forward(self, frames):
        """Return (batch, places, width)."""
        x = gelu(self.conv_2(gelu(self.conv_1(frames.transpose(1, 2))))).transpose(1, 2)
        x = x + torch.tensor([position(place, x.shape[2]) for place in range(x.shape[1])])
        for block in self.blocks:
            x = block(x)
        return self.ln(x)


PARTS = {
    "ln_1": "attention_norm",
    "q_proj": "query",
    "k_proj": "key",
    "v_proj": "value",
    "o_proj": "out",
    "ln_2": "dense_norm",
    "fc_1": "wide",
    "fc_2": "narrow",
}


def layers(network):
    """Name the workload's layers."""
    parts = {
        f"blocks.{number}.{part}": f"layers.{number}.{named}"
        for number in range(len(network.blocks))
        for part, named in PARTS.items()
    }
    return parts | {"conv_1": "first", "conv_2": "second", "ln": "norm"}


SIZES = {
    "full": Implementation(
        batch_size=16,
        inputs={"spectrogram": ArraySpec(shape=(3000, 80))},
        parameters=7_632_384,
        network=lambda: Network(80, 384, 6, 4),
        computed={"spectrogram": ArraySpec(shape=(150, 80))},
    ),
}
