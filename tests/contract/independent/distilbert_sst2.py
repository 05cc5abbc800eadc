"""DistilBERT with two classes in torch.nn, from its paper and BERT's; sizes of distilbert-base-uncased's config.json.

All layers in their full width, on up to 8 tokens of 257; heads one by one. Optimiser: Hugging Face's run_glue.py with
its usual rate for GLUE of 2e-5, a linear decay and clipping at 1, over three epochs of SST-2, with BERT's weight decay.
"""

from __future__ import annotations

import math

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {
    "type": "adamw",
    "learning_rate": 2e-5,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "weight_decay": 0.01,
    "no_decay": ["*bias", "*norm.scale"],
    "clip_norm": 1.0,
    "schedule": {"type": "linear", "steps": 6315, "warmup_steps": 0, "final": 0.0},
}

EPSILON = 1e-12

loss = cross_entropy


class Block(torch.nn.Module):
    """A layer, head by head."""

    def __init__(self, width, heads, dense):
        """Make the layers."""
        super().__init__()
        self.heads = heads
        self.q_lin = torch.nn.Linear(width, width)
        self.k_lin = torch.nn.Linear(width, width)
        self.v_lin = torch.nn.Linear(width, width)
        self.out_lin = torch.nn.Linear(width, width)
        self.sa_layer_norm = torch.nn.LayerNorm(width, eps=EPSILON)
        self.lin1 = torch.nn.Linear(width, dense)
        self.lin2 = torch.nn.Linear(dense, width)
        self.dropout = torch.nn.Dropout(0.1)
        self.output_layer_norm = torch.nn.LayerNorm(width, eps=EPSILON)

    def forward(self, x, is_padding):
        """Normalise behind the attention and behind the dense part."""
        attended = []
        parts = (one(x).chunk(self.heads, -1) for one in (self.q_lin, self.k_lin, self.v_lin))
        for q, k, v in zip(*parts, strict=True):
            scores = torch.einsum("bqf,bkf->bqk", q, k) / math.sqrt(q.shape[-1])
            attended.append(torch.softmax(scores.masked_fill(is_padding[:, None], -math.inf), -1) @ v)
        x = self.sa_layer_norm(x + self.out_lin(torch.cat(attended, -1)))
        wide = self.lin1(x)
        wide = 0.5 * wide * (1 + torch.erf(wide / math.sqrt(2)))
        return self.output_layer_norm(x + self.dropout(self.lin2(wide)))


class Network(torch.nn.Module):
    """Embeddings, layers, and the two logits of the first token."""

    def __init__(self, tokens, positions, width, heads, dense, layers):
        """Make the layers."""
        super().__init__()
        self.word_embeddings = torch.nn.Embedding(tokens, width)
        self.position_embeddings = torch.nn.Parameter(torch.zeros(1, positions, width))
        self.embeddings_norm = torch.nn.LayerNorm(width, eps=EPSILON)
        self.embeddings_dropout = torch.nn.Dropout(0.1)
        self.layer = torch.nn.ModuleList([Block(width, heads, dense) for _ in range(layers)])
        self.pre_classifier = torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(0.2)
        self.classifier = torch.nn.Linear(width, 2)

    def forward(self, inputs):
        """Return the logits of each sentence."""
        ids, lengths = inputs["ids"], inputs["length"]
        is_padding = torch.stack([torch.arange(ids.shape[1]) >= length for length in lengths])
        x = self.word_embeddings(ids) + torch.stack([self.position_embeddings[0, n] for n in range(ids.shape[1])])
        x = self.embeddings_dropout(self.embeddings_norm(x))
        for block in self.layer:
            x = block(x, is_padding)
        return self.classifier(self.dropout(self.pre_classifier(x[:, 0]).clamp(min=0.0)))


PARTS = {
    "q_lin": "query",
    "k_lin": "key",
    "v_lin": "value",
    "out_lin": "out",
    "sa_layer_norm": "attention_norm",
    "lin1": "wide",
    "lin2": "narrow",
    "output_layer_norm": "dense_norm",
}


def layers(network):
    """Name the workload's layers and arrays."""
    parts = {
        f"layer.{number}.{part}": f"layers.{number}.{named}"
        for number in range(len(network.layer))
        for part, named in PARTS.items()
    }
    return parts | {
        "word_embeddings": "tokens",
        "position_embeddings": "positions",
        "embeddings_norm": "norm",
        "pre_classifier": "hidden",
        "classifier": "head",
    }


def _inputs(tokens, length):
    return {
        "ids": ArraySpec(shape=(length,), dtype="int32", high=tokens, length="length"),
        "length": ArraySpec(dtype="int32", low=4, high=length + 1),
    }


SIZES = {
    "full": Implementation(
        batch_size=32,
        inputs=_inputs(30_522, 128),
        targets={"label": ArraySpec(dtype="int32", high=2)},
        parameters=66_955_010,
        network=lambda: Network(257, 512, 768, 12, 3072, 6),
        computed=_inputs(257, 8),
        config={"tokens": 257},
    ),
}
