"""torch.nn's TransformerEncoderLayer with the norms before, on the words of each text; sizes are the project's own."""

from __future__ import annotations

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "adam", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}

loss = cross_entropy


class Network(torch.nn.Module):
    """Each text by itself, cut to its words."""

    def __init__(self, words, positions, width, heads, dense, layers):
        """Make the layers."""
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.places = torch.nn.Parameter(torch.zeros(1, positions, width))
        self.encoder = torch.nn.ModuleList(
            [
                torch.nn.TransformerEncoderLayer(
                    width, heads, dense, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
                )
                for _ in range(layers)
            ]
        )
        self.norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, 2)

    def forward(self, inputs):
        """Return the logits of each text."""
        return torch.cat(
            [
                self.of_one(ids[None, :length])
                for ids, length in zip(inputs["ids"], inputs["length"].tolist(), strict=True)
            ]
        )

    def of_one(self, ids):
        """Return the logits of one text without padding."""
        x = self.words(ids) + self.places[:, : ids.shape[1]]
        for layer in self.encoder:
            x = layer(x)
        return self.head(self.norm(x).mean(1))


PARTS = {
    "self_attn.in_proj_weight": "mixed.weight",
    "self_attn.in_proj_bias": "mixed.bias",
    "self_attn.out_proj": "out",
    "norm1": "attention_norm",
    "linear1": "wide",
    "linear2": "narrow",
    "norm2": "dense_norm",
}


def layers(network):
    """Name the workload's layers and arrays."""
    parts = {
        f"encoder.{number}.{part}": f"layers.{number}.{named}"
        for number in range(len(network.encoder))
        for part, named in PARTS.items()
    }
    return parts | {"words": "words", "places": "positions", "norm": "norm", "head": "head"}


def _inputs(words, most):
    """Return the declared arrays."""
    return {
        "ids": ArraySpec(shape=(most,), dtype="int32", high=words, length="length"),
        "length": ArraySpec(dtype="int32", low=1, high=most + 1),
    }


SIZES = {
    "full": Implementation(
        batch_size=32,
        inputs=_inputs(20_000, 256),
        classes=2,
        parameters=2_989_826,
        network=lambda: Network(20_000, 256, 128, 4, 512, 2),
        computed=_inputs(20_000, 12),
        computed_batch=4,
    ),
}
SMALL = Implementation(
    inputs=_inputs(20_000, 256),
    classes=2,
    network=lambda: Network(30, 12, 8, 2, 16, 1),
    computed=_inputs(30, 12),
    computed_batch=4,
    config={"words": 30, "positions": 12, "features": 8, "heads": 2, "dense": 16, "layers": 1},
)
