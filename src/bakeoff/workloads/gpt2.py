"""GPT-2 of 124 million parameters: the next of 50,257 tokens, at each of 1024 positions.

Embeddings of tokens and of positions, added; twelve layers of 12 heads and a dense part of 3072, each behind a
LayerNorm of epsilon 1e-5 and added to its input; a last LayerNorm; the product with the tokens' own embeddings gives
the logits. Each position attends to itself and to those before. Mean cross-entropy over all positions.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), in the form of Hugging Face's
GPT2LMHeadModel, which is OpenAI's: GELU by tanh (`gelu_new`), biases everywhere but in the last product, 50,257 tokens.
nanoGPT has the exact GELU, no biases by default and 50,304 tokens. No dropout; batch 12, and AdamW with clipping,
warm-up and cosine, as nanoGPT's train.py has them for this size: what has two axes or more is decayed.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.schedule import Cosine
from bakeoff.spec.workload import Size, Workload


def _tokens(tokens: int, length: int) -> ArraySpec:
    """Return the tokens of a window."""
    return ArraySpec(shape=(length,), dtype="int32", high=tokens)


WORKLOAD = Workload(
    name="gpt2",
    summary="GPT-2 of 124 million parameters on windows of 1024 tokens",
    source="Radford et al. 2019, as Hugging Face's GPT2LMHeadModel; batch and optimiser of karpathy/nanoGPT, train.py",
    sizes={
        "full": Size(
            batch_size=12,
            inputs={"ids": _tokens(50_257, 1024)},
            targets={"next_ids": _tokens(50_257, 1024)},
            parameters=124_439_808,
            macs=145_824_153_600,
            config={"tokens": 50_257, "positions": 1024, "features": 768, "heads": 12, "layers": 12},
        ),
        "reduced": Size(
            batch_size=2,
            inputs={"ids": _tokens(512, 64)},
            targets={"next_ids": _tokens(512, 64)},
            parameters=136_960,
            macs=9_437_184,
            config={"tokens": 512, "positions": 64, "features": 64, "heads": 2, "layers": 2},
        ),
    },
    optimizer=AdamW(
        learning_rate=6e-4,
        beta1=0.9,
        beta2=0.95,
        weight_decay=0.1,
        no_decay=("*bias", "*norm.scale"),
        clip_norm=1.0,
        schedule=Cosine(warmup_steps=2000, steps=600_000, final=0.1),
    ),
    data=("synthetic", "wikitext"),
)


_STD = 0.02
"""Standard deviation of the embeddings' first values: `initializer_range` of Hugging Face's GPT2Config, and nanoGPT's.
Dense layers keep the vocabulary's, whose deviation is sqrt(2 / inputs): 0.051 of 768 inputs, 0.026 of 3072."""


def build(nn: Any, size: Size) -> Any:
    """Return the model: ids (batch, length) to logits (batch, length, tokens)."""
    config: Any = size.config
    features = config["features"]
    layer = _layer(nn, features, config["heads"])

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(config["tokens"], features, std=_STD)
            self.positions = nn.Parameter((1, config["positions"], features), std=_STD)
            self.layers = nn.ModuleList([layer() for _ in range(config["layers"])])
            self.norm = nn.LayerNorm(features)

        def forward(self, ids: Any) -> Any:
            x = self.tokens(ids) + self.positions[:, : ids.shape[1]]
            for one in self.layers:
                x = one(x)
            return self.tokens.attend(self.norm(x))

    return Network()


def _layer(nn: Any, features: int, heads: int) -> Any:
    """Return the class of one layer."""

    class Layer(nn.Module):
        """Causal attention and a dense part, each behind a LayerNorm and added to its input."""

        def __init__(self) -> None:
            super().__init__()
            self.attention_norm = nn.LayerNorm(features)
            self.mixed = nn.Linear(features, 3 * features)
            self.out = nn.Linear(features, features)
            self.dense_norm = nn.LayerNorm(features)
            self.wide = nn.Linear(features, 4 * features)
            self.narrow = nn.Linear(4 * features, features)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            mixed = nn.split(self.mixed(self.attention_norm(x)), (features, features, features), 2)
            q, k, v = (nn.reshape(one, (batch, length, heads, features // heads)) for one in mixed)
            attended = nn.attention(q, k, v, causal=True)
            x = x + self.out(nn.reshape(attended, (batch, length, features)))
            return x + self.narrow(nn.gelu_tanh(self.wide(self.dense_norm(x))))

    return Layer


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean cross-entropy over all positions of the batch."""
    return nn.cross_entropy(outputs, targets)
