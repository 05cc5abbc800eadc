"""T5-small in torch.nn, from its paper and the text-to-text library's description; sizes of t5-small's config.json.

All layers in their full width, from up to 200 tokens of 257 to 40; heads one by one, and the kinds of distances counted
with whole numbers, one bound after another.
"""

from __future__ import annotations

import math

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation

OPTIMIZER = {
    "type": "adamw",
    "learning_rate": 1e-4,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "weight_decay": 0.0,
}

KINDS, FARTHEST, DROPOUT = 32, 128, 0.1

QUERIES = [
    *(f"encoder.layers.{number}.own.query.weight" for number in range(6)),
    *(f"decoder.layers.{number}.{which}.query.weight" for number in range(6) for which in ("own", "other")),
]
FIRST_QUERIES = (512 * 64) ** -0.5
"""The deviation of their first values in T5, since nothing scales the scores; with that of other dense layers, sqrt(2 /
512), almost all attention goes to one place, and rounding is magnified."""


class Norm(torch.nn.Module):
    """Each vector over the root of the mean of its squares, times a weight."""

    def __init__(self, width):
        """Make the weight."""
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        """Normalise."""
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def kind(distance, *, both_ways):
    """Return the kind of a distance, key minus query."""
    kinds = KINDS // 2 if both_ways else KINDS
    first = kinds if both_ways and distance > 0 else 0
    far = abs(distance) if both_ways else max(-distance, 0)
    near = kinds // 2
    if far < near:
        return first + far
    steps = kinds - near
    # far / near >= (FARTHEST / near)^(step / steps), without a root
    passed = sum(far**steps * near**step >= near**steps * FARTHEST**step for step in range(1, steps))
    return first + near + passed


class Attention(torch.nn.Module):
    """Attention behind a norm, head by head, that nothing scales."""

    def __init__(self, width, heads, inner):
        """Make the layers."""
        super().__init__()
        self.heads = heads
        self.layer_norm = Norm(width)
        self.q = torch.nn.Linear(width, heads * inner, bias=False)
        self.k = torch.nn.Linear(width, heads * inner, bias=False)
        self.v = torch.nn.Linear(width, heads * inner, bias=False)
        self.o = torch.nn.Linear(heads * inner, width, bias=False)
        self.dropout = torch.nn.Dropout(DROPOUT)

    def forward(self, x, other, hidden, biases):
        """Add what the places that are not hidden tell."""
        normal = self.layer_norm(x)
        other = normal if other is None else other
        parts = (self.q(normal).chunk(self.heads, -1), *(one(other).chunk(self.heads, -1) for one in (self.k, self.v)))
        attended = []
        for head, (q, k, v) in enumerate(zip(*parts, strict=True)):
            scores = torch.einsum("bqf,bkf->bqk", q, k)
            scores = scores if biases is None else scores + biases[..., head]
            attended.append(torch.softmax(scores.masked_fill(hidden, -math.inf), -1) @ v)
        return x + self.dropout(self.o(torch.cat(attended, -1)))


class Block(torch.nn.Module):
    """A layer of the encoder or of the decoder."""

    def __init__(self, width, heads, inner, dense, *, decodes):
        """Make the layers."""
        super().__init__()
        self.attention = Attention(width, heads, inner)
        self.cross = Attention(width, heads, inner) if decodes else None
        self.ff_norm = Norm(width)
        self.wi = torch.nn.Linear(width, dense, bias=False)
        self.inner_dropout = torch.nn.Dropout(DROPOUT)
        self.wo = torch.nn.Linear(dense, width, bias=False)
        self.ff_dropout = torch.nn.Dropout(DROPOUT)

    def forward(self, x, biases, own_hidden, encoded, encoded_hidden):
        """Add the attentions and the dense part."""
        x = self.attention(x, None, own_hidden, biases)
        if self.cross is not None:
            x = self.cross(x, encoded, encoded_hidden, None)
        wide = self.inner_dropout(self.wi(self.ff_norm(x)).clamp(min=0.0))
        return x + self.ff_dropout(self.wo(wide))


class Stack(torch.nn.Module):
    """An encoder or a decoder."""

    def __init__(self, width, heads, inner, dense, layers, *, decodes):
        """Make the layers."""
        super().__init__()
        self.decodes = decodes
        self.relative_attention_bias = torch.nn.Embedding(KINDS, heads)
        self.first_dropout = torch.nn.Dropout(DROPOUT)
        self.block = torch.nn.ModuleList([Block(width, heads, inner, dense, decodes=decodes) for _ in range(layers)])
        self.final_layer_norm = Norm(width)
        self.last_dropout = torch.nn.Dropout(DROPOUT)

    def forward(self, x, own_hidden, encoded=None, encoded_hidden=None):
        """Return what the layers give, normalised."""
        places = range(x.shape[1])
        kinds = [[kind(key - query, both_ways=not self.decodes) for key in places] for query in places]
        biases = self.relative_attention_bias(torch.tensor(kinds))
        x = self.first_dropout(x)
        for block in self.block:
            x = block(x, biases, own_hidden, encoded, encoded_hidden)
        return self.last_dropout(self.final_layer_norm(x))


class Network(torch.nn.Module):
    """One table of tokens, an encoder and a decoder."""

    def __init__(self, tokens, width, heads, inner, dense, layers):
        """Make the layers."""
        super().__init__()
        self.width = width
        self.shared = torch.nn.Embedding(tokens, width)
        self.encoder = Stack(width, heads, inner, dense, layers, decodes=False)
        self.decoder = Stack(width, heads, inner, dense, layers, decodes=True)

    def forward(self, inputs):
        """Return the logits of each place of the decoder."""
        ids, decoder_ids = inputs["ids"], inputs["decoder_ids"]
        is_padding = torch.stack([torch.arange(ids.shape[1]) >= length for length in inputs["length"]])[:, None]
        later = torch.triu(torch.ones(decoder_ids.shape[1], decoder_ids.shape[1], dtype=torch.bool), 1)
        encoded = self.encoder(self.shared(ids), is_padding)
        decoded = self.decoder(self.shared(decoder_ids), later, encoded, is_padding)
        return (decoded / math.sqrt(self.width)) @ self.shared.weight.T


ATTENTION = {"layer_norm.weight": "norm.scale", "q": "query", "k": "key", "v": "value", "o": "out"}


def layers(network):
    """Name the workload's layers and arrays."""
    found = {"shared": "tokens"}
    for name, stack in (("encoder", network.encoder), ("decoder", network.decoder)):
        found |= {
            f"{name}.relative_attention_bias": f"{name}.distances",
            f"{name}.final_layer_norm.weight": f"{name}.norm.scale",
        }
        for number, block in enumerate(stack.block):
            here, there = f"{name}.block.{number}", f"{name}.layers.{number}"
            kinds = {"attention": "own"} | ({"cross": "other"} if block.cross is not None else {})
            for native, named in kinds.items():
                found |= {f"{here}.{native}.{one}": f"{there}.{named}.{other}" for one, other in ATTENTION.items()}
            found |= {
                f"{here}.ff_norm.weight": f"{there}.dense_norm.scale",
                f"{here}.wi": f"{there}.wide",
                f"{here}.wo": f"{there}.narrow",
            }
    return found


def loss(outputs, targets):
    """Return the mean over all places of -log of the probability of the token that is to come."""
    probabilities = torch.softmax(outputs, -1).flatten(0, 1)
    return -torch.log(probabilities[torch.arange(len(probabilities)), targets.flatten()]).mean()


def _inputs(tokens, length, target_length):
    return {
        "ids": ArraySpec(shape=(length,), dtype="int32", high=tokens, length="length"),
        "length": ArraySpec(dtype="int32", low=4, high=length + 1),
        "decoder_ids": ArraySpec(shape=(target_length,), dtype="int32", high=tokens),
    }


SIZES = {
    "full": Implementation(
        batch_size=16,
        inputs=_inputs(32_128, 512, 114),
        targets={"labels": ArraySpec(shape=(114,), dtype="int32", high=32_128)},
        parameters=60_506_624,
        network=lambda: Network(257, 512, 8, 64, 2048, 6),
        computed=_inputs(257, 200, 40) | {"labels": ArraySpec(shape=(40,), dtype="int32", high=257)},
        config={"tokens": 257},
        magnified=dict.fromkeys(QUERIES, FIRST_QUERIES / math.sqrt(2 / 512)),
    ),
}
