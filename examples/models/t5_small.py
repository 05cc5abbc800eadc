"""T5-small: from up to 512 tokens to up to 114 others, by an encoder and a decoder of six layers each.

Raffel et al., arXiv 1910.10683, as Hugging Face's T5ForConditionalGeneration: 512 features, 8 heads of 64, a dense part
of 2048 with ReLU, RMSNorm of epsilon 1e-6 before each part, no bias, and products of attention that are not scaled.
What stands where is told by a number that is added to them: one for each head and each of 32 distances, which the
layers of the encoder share, and those of the decoder. Encoder, decoder and logits have one table of 32,128 tokens;
before the logits it is scaled by 1 / sqrt(512). Dropout of 0.1, but not on the weights of attention. First queries are
those of any dense layer, where T5's are smaller, so that attention begins sharper than T5's. Lengths are those of the
paper's pre-training; batch and rate are ours.
"""

from __future__ import annotations

import numpy as np

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.workload import Size, Workload


def _size(batch_size, length, target_length, tokens, parameters, **config):
    """Return a size: texts with their lengths, what the decoder is given, and what it is to say."""
    spoken = ArraySpec(shape=(target_length,), dtype="int32", high=tokens)
    return Size(
        batch_size=batch_size,
        inputs={
            "ids": ArraySpec(shape=(length,), dtype="int32", high=tokens, length="length"),
            "length": ArraySpec(dtype="int32", low=4, high=length + 1),
            "decoder_ids": spoken,
        },
        targets={"labels": spoken},
        parameters=parameters,
        config=config | {"tokens": tokens, "dropout": 0.1},
    )


WORKLOAD = Workload(
    name="t5-small",
    summary="T5-small, an encoder and a decoder of six layers, from 512 tokens to 114",
    source="Raffel et al., arXiv 1910.10683; Hugging Face's T5ForConditionalGeneration",
    sizes={
        "full": _size(16, 512, 114, 32_128, 60_506_624, features=512, heads=8, width=64, dense=2048, layers=6),
        "reduced": _size(2, 20, 12, 100, 32_384, features=32, heads=2, width=8, dense=64, layers=2),
    },
    optimizer=AdamW(learning_rate=1e-4, weight_decay=0.0),  # the paper's AdaFactor has no place here
)

EPSILON = 1e-6
DISTANCES, FARTHEST = 32, 128
"""How many kinds of distances are told apart, and from where on all are one kind."""


def build(nn, size):
    """Make the model: ids (batch, length), lengths and what the decoder is given to logits (batch, length, tokens)."""
    config = size.config
    features = config["features"]
    stack = _stack(nn, config)

    class T5(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(config["tokens"], features, std=1.0)
            self.encoder = stack(size.inputs["ids"].shape[0], decodes=False)
            self.decoder = stack(size.inputs["decoder_ids"].shape[0], decodes=True)

        def forward(self, inputs):
            batch, length = inputs["ids"].shape
            places = nn.reshape(nn.arange(length), (1, length))
            mask = nn.reshape(nn.less(places, nn.reshape(inputs["length"], (batch, 1))), (batch, 1, 1, length))
            encoded = self.encoder(self.tokens(inputs["ids"]), mask)
            decoded = self.decoder(self.tokens(inputs["decoder_ids"]), mask, encoded)
            return self.tokens.attend(decoded * features**-0.5)

    return T5()


def _stack(nn, config):
    """Make the class of a stack of layers, an encoder or a decoder."""
    layer = _layer(nn, config)

    class Stack(nn.Module):
        """Layers that share what they know of distances, and an RMSNorm behind them."""

        def __init__(self, length, *, decodes):
            super().__init__()
            self.distances = nn.Embedding(DISTANCES, config["heads"], std=config["features"] ** -0.5)
            self.kinds = nn.constant(_kinds(length, both_ways=not decodes))
            self.drop = nn.Dropout(config["dropout"])
            self.layers = nn.ModuleList([layer(decodes=decodes) for _ in range(config["layers"])])
            self.norm = nn.RMSNorm(config["features"], epsilon=EPSILON)
            self.last_drop = nn.Dropout(config["dropout"])

        def forward(self, x, mask, encoded=None):
            length = x.shape[1]
            kinds = self.kinds[:length, :length]
            bias = nn.reshape(nn.permute_dims(self.distances(kinds), (2, 0, 1)), (1, config["heads"], length, length))
            x = self.drop(x)
            for one in self.layers:
                x = one(x, bias, mask, encoded)
            return self.last_drop(self.norm(x))

    return Stack


def _kinds(length, *, both_ways):
    """Return for each place (rows) the kind of distance of each other one: exact when near, by its logarithm when far.

    An encoder has half of the kinds for what stands behind; a decoder sees nothing there.
    """
    distance = np.arange(length)[None, :] - np.arange(length)[:, None]
    kinds = DISTANCES // 2 if both_ways else DISTANCES
    behind = kinds * (distance > 0) if both_ways else 0
    distance = np.abs(distance) if both_ways else np.maximum(-distance, 0)
    near = kinds // 2
    share = np.log(np.maximum(distance, 1) / near) / np.log(FARTHEST / near)
    far = np.minimum(near + (share * (kinds - near)).astype(int), kinds - 1)
    return (behind + np.where(distance < near, distance, far)).astype("int32")


def _layer(nn, config):
    """Make the class of one layer."""
    attention, features = _attention(nn, config), config["features"]

    class Layer(nn.Module):
        """Attention, in a decoder attention to the encoder, and a dense part, each added to its input."""

        def __init__(self, *, decodes):
            super().__init__()
            self.decodes = decodes
            self.own = attention(causal=decodes)
            if decodes:
                self.other = attention(causal=False)
            self.dense_norm = nn.RMSNorm(features, epsilon=EPSILON)
            self.wide = nn.Linear(features, config["dense"], bias=False)
            self.narrow = nn.Linear(config["dense"], features, bias=False)
            self.wide_drop, self.drop = nn.Dropout(config["dropout"]), nn.Dropout(config["dropout"])

        def forward(self, x, bias, mask, encoded):
            x = self.own(x, x_of=None, mask=None if self.decodes else mask, bias=bias)
            if self.decodes:
                x = self.other(x, x_of=encoded, mask=mask, bias=None)
            wide = self.wide_drop(nn.relu(self.wide(self.dense_norm(x))))
            return x + self.drop(self.narrow(wide))

    return Layer


def _attention(nn, config):
    """Make the class of an attention behind an RMSNorm, added to its input."""
    features, heads, width = config["features"], config["heads"], config["width"]

    class Attention(nn.Module):
        def __init__(self, *, causal):
            super().__init__()
            self.causal = causal
            self.norm = nn.RMSNorm(features, epsilon=EPSILON)
            self.query, self.key, self.value = (nn.Linear(features, heads * width, bias=False) for _ in range(3))
            self.out = nn.Linear(heads * width, features, bias=False)
            self.drop = nn.Dropout(config["dropout"])

        def forward(self, x, x_of, mask, bias):
            normal = self.norm(x)
            other = normal if x_of is None else x_of
            q = nn.reshape(self.query(normal), (*x.shape[:2], heads, width))
            k, v = (nn.reshape(one(other), (*other.shape[:2], heads, width)) for one in (self.key, self.value))
            attended = nn.attention(q, k, v, causal=self.causal, mask=mask, bias=bias, scale=1.0)
            return x + self.drop(self.out(nn.reshape(attended, (*x.shape[:2], heads * width))))

    return Attention


def loss(nn, outputs, targets):
    """Return the mean cross-entropy over all places of the batch."""
    return nn.cross_entropy(outputs, targets)
