"""BERT-base in pre-training: masked tokens and the next sentence, on pairs of sentences of up to 128 tokens.

Embeddings of 30,522 tokens, of 512 positions and of 2 segments, added, with a LayerNorm; twelve layers of 12 heads and
a dense part of 3072, each added to its input with a LayerNorm behind it, of epsilon 1e-12 as all; GELU is the exact
one. No position attends to one behind the pair's length. Of 20 positions a dense layer with GELU and LayerNorm, the
product with the tokens' own embeddings, and a bias give logits; of the first position a dense layer with tanh gives the
two logits of the next sentence, which training has as a second output. The loss is the sum of both mean
cross-entropies.

Source: Devlin et al., arXiv 1810.04805: BERT-base, uncased, as google-research/bert and Hugging Face's
BertForPreTraining have it, but for these: google-research has GELU by tanh; Hugging Face takes logits at all positions,
where 20 are masked; both mask by adding a large negative number. Their dropout of 0.1 is here, but not on the weights
of attention, which fused kernels do not give. The optimiser is the paper's (appendix A.2), with the bias correction
that google-research leaves out: AdamW without decay of biases and norms, clipped, with warm-up and a linear decay. But
the warm-up has 100 steps, not 10,000: in the first of those a rate of 1e-8 leaves weights of 1 as they are in float32.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.schedule import Linear
from bakeoff.spec.workload import Size, Workload


def _inputs(tokens: int, length: int, masked: int) -> dict[str, ArraySpec]:
    """Return a pair's tokens and segments, its length, and the positions that are masked."""
    return {
        "ids": ArraySpec(shape=(length,), dtype="int32", high=tokens, length="length"),
        "segments": ArraySpec(shape=(length,), dtype="int32", high=2, order="ascending", length="length"),
        "length": ArraySpec(dtype="int32", low=masked, high=length + 1),
        "masked_positions": ArraySpec(shape=(masked,), dtype="int32", high=length, order="places", within="length"),
    }


def _targets(tokens: int, masked: int) -> dict[str, ArraySpec]:
    """Return the tokens that were masked, and whether the second sentence is from elsewhere."""
    return {
        "masked_ids": ArraySpec(shape=(masked,), dtype="int32", high=tokens),
        "next_sentence": ArraySpec(dtype="int32", high=2),
    }


WORKLOAD = Workload(
    name="bert-base",
    summary="BERT-base in pre-training: 20 masked tokens of 128, and the next sentence",
    source="Devlin et al., arXiv 1810.04805; google-research/bert, run_pretraining.py",
    sizes={
        "full": Size(
            batch_size=32,
            inputs=_inputs(30_522, 128, 20),
            targets=_targets(30_522, 20),
            parameters=110_106_428,
            macs=11_654_831_616,
            config={
                "tokens": 30_522,
                "positions": 512,
                "features": 768,
                "heads": 12,
                "dense": 3072,
                "layers": 12,
                "dropout": 0.1,
            },
        ),
        "reduced": Size(
            batch_size=2,
            inputs=_inputs(1000, 16, 4),
            targets=_targets(1000, 4),
            parameters=177_898,
            macs=1_915_008,
            config={
                "tokens": 1000,
                "positions": 64,
                "features": 64,
                "heads": 2,
                "dense": 256,
                "layers": 2,
                "dropout": 0.1,
            },
        ),
    },
    optimizer=AdamW(
        learning_rate=1e-4,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-6,
        weight_decay=0.01,
        no_decay=("*bias", "*norm.scale"),
        clip_norm=1.0,
        schedule=Linear(warmup_steps=100, steps=1_000_000),
    ),
    data=("synthetic", "wikitext"),
)

_EPSILON = 1e-12

_STD = 0.02
"""Standard deviation of the embeddings' first values: `initializer_range` of google-research/bert, modeling.py, which
cuts off what is beyond two of them; here the tokens' bias has it, too, which is zero there and would not show."""


def build(nn: Any, size: Size) -> Any:
    """Return the model: a pair of sentences to logits (batch, masked, tokens), in training also to (batch, 2)."""
    config: Any = size.config
    features = config["features"]
    embeddings, layer = _embeddings(nn, config), _layer(nn, config)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embeddings = embeddings()
            self.layers = nn.ModuleList([layer() for _ in range(config["layers"])])
            self.transform = nn.Linear(features, features)
            self.transform_norm = nn.LayerNorm(features, epsilon=_EPSILON)
            self.tokens_bias = nn.Parameter((config["tokens"],), std=_STD)
            self.pooler = nn.Linear(features, features)
            self.next_sentence = nn.Linear(features, 2)

        def forward(self, x: Any) -> Any:
            batch, length = x["ids"].shape
            is_token = nn.less(nn.reshape(nn.arange(length), (1, length)), nn.reshape(x["length"], (batch, 1)))
            mask = nn.reshape(is_token, (batch, 1, 1, length))
            h = self.embeddings(x["ids"], x["segments"])
            for one in self.layers:
                h = one(h, mask)
            rows = nn.reshape(nn.arange(batch) * length, (batch, 1)) + x["masked_positions"]
            hidden = nn.take(nn.reshape(h, (batch * length, features)), rows)
            hidden = self.transform_norm(nn.gelu(self.transform(hidden)))
            logits = self.embeddings.tokens.attend(hidden) + self.tokens_bias
            if nn.in_training(self):
                return logits, self.next_sentence(nn.tanh(self.pooler(h[:, 0])))
            return logits

    return Network()


def _embeddings(nn: Any, config: Any) -> Any:
    """Return the class of the embeddings."""

    class Embeddings(nn.Module):
        """Tokens, their positions and their segments, added and normalised."""

        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(config["tokens"], config["features"], std=_STD)
            self.positions = nn.Parameter((1, config["positions"], config["features"]), std=_STD)
            self.segments = nn.Embedding(2, config["features"], std=_STD)
            self.norm = nn.LayerNorm(config["features"], epsilon=_EPSILON)
            self.drop = nn.Dropout(config["dropout"])

        def forward(self, ids: Any, segments: Any) -> Any:
            x = self.tokens(ids) + self.positions[:, : ids.shape[1]] + self.segments(segments)
            return self.drop(self.norm(x))

    return Embeddings


def _layer(nn: Any, config: Any) -> Any:
    """Return the class of one layer."""
    features, heads = config["features"], config["heads"]

    class Layer(nn.Module):
        """Attention and a dense part, each added to its input, with a LayerNorm behind it."""

        def __init__(self) -> None:
            super().__init__()
            self.query, self.key, self.value = (nn.Linear(features, features) for _ in range(3))
            self.out = nn.Linear(features, features)
            self.attention_norm = nn.LayerNorm(features, epsilon=_EPSILON)
            self.wide = nn.Linear(features, config["dense"])
            self.narrow = nn.Linear(config["dense"], features)
            self.dense_norm = nn.LayerNorm(features, epsilon=_EPSILON)
            self.attention_drop = nn.Dropout(config["dropout"])
            self.dense_drop = nn.Dropout(config["dropout"])

        def forward(self, x: Any, mask: Any) -> Any:
            batch, length, _ = x.shape
            heads_of = (batch, length, heads, features // heads)
            q, k, v = (nn.reshape(one(x), heads_of) for one in (self.query, self.key, self.value))
            attended = nn.reshape(nn.attention(q, k, v, mask=mask), (batch, length, features))
            x = self.attention_norm(x + self.attention_drop(self.out(attended)))
            return self.dense_norm(x + self.dense_drop(self.narrow(nn.gelu(self.wide(x)))))

    return Layer


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the sum of the mean cross-entropies over masked tokens and over next sentences."""
    logits, next_sentence = outputs
    of_tokens = nn.cross_entropy(logits, targets["masked_ids"])
    return of_tokens + nn.cross_entropy(next_sentence, targets["next_sentence"])
