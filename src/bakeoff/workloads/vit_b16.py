"""Vision Transformer B/16 on 224 x 224 colour images, 1000 classes: attention over patches of 16 x 16.

A convolution of stride 16 makes a token of every patch; a class token stands before them and positions are added;
twelve layers of 12 heads and a dense part of 3072, each behind a LayerNorm of epsilon 1e-6; a last LayerNorm, and
Linear from the class token. GELU is the exact one, with the error function; no dropout. Mean cross-entropy; AdamW at
0.001 with weight decay 0.1 on all parameters; batch 64.

Source: Dosovitskiy et al., arXiv 2010.11929, table 1: Base, patch 16. torchvision's vit_b_16 and Hugging Face's are it.
The authors' own, in flax, has GELU's tanh form by its default; the two differ by up to 4.7e-4. Its configuration for
B/16 has no dropout. Batch and optimiser are ours.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="vit-b16",
    summary="Vision Transformer B/16 on 224 x 224 colour images: attention over 197 tokens",
    source="Dosovitskiy et al., arXiv 2010.11929: ViT-B/16",
    sizes={
        "full": Size(
            batch_size=64,
            input_shape=(224, 224, 3),
            classes=1000,
            parameters=86_567_656,
            macs=17_563_828_224,
            config={"patch": 16, "features": 768, "layers": 12, "heads": 12, "dense": 3072},
        ),
        "reduced": Size(
            batch_size=4,
            input_shape=(32, 32, 3),
            classes=10,
            parameters=81_226,
            macs=1_385_344,
            config={"patch": 8, "features": 64, "layers": 2, "heads": 2, "dense": 128},
        ),
    },
    optimizer=AdamW(learning_rate=1e-3, beta1=0.9, beta2=0.999, weight_decay=0.1),
)

_EPSILON = 1e-6


def build(nn: Any, size: Size) -> Any:
    """Make the model: (batch, height, width, 3) to logits (batch, classes)."""
    config: Any = size.config
    height, width, depth = size.input_shape
    patch, features = config["patch"], config["features"]
    layer = _layer(nn, features, config["heads"], config["dense"])

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(depth, features, patch, stride=patch)
            self.class_token = nn.Parameter((1, 1, features))
            self.positions = nn.Parameter((1, 1 + (height // patch) * (width // patch), features))
            self.layers = nn.ModuleList([layer() for _ in range(config["layers"])])
            self.norm = nn.LayerNorm(features, epsilon=_EPSILON)
            self.head = nn.Linear(features, size.classes)

        def forward(self, x: Any) -> Any:
            x = nn.tokens(self.patches(x))
            class_tokens = nn.broadcast_to(self.class_token, (x.shape[0], 1, features))
            x = nn.concat([class_tokens, x], axis=1) + self.positions
            for one in self.layers:
                x = one(x)
            return self.head(self.norm(x)[:, 0])

    return Network()


def _layer(nn: Any, features: int, heads: int, dense: int) -> Any:
    """Make the class of one layer."""

    class Attention(nn.Module):
        """Every token's mixture of all tokens, by each head; queries, keys and values come from one product."""

        def __init__(self) -> None:
            super().__init__()
            self.mixed = nn.Linear(features, 3 * features)
            self.out = nn.Linear(features, features)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            mixed = nn.split(self.mixed(x), (features, features, features), 2)
            q, k, v = (nn.reshape(one, (batch, length, heads, features // heads)) for one in mixed)
            attended = nn.attention(q, k, v)
            return self.out(nn.reshape(attended, (batch, length, features)))

    class Layer(nn.Module):
        """Attention and a dense part, each behind a LayerNorm and added to its input."""

        def __init__(self) -> None:
            super().__init__()
            self.attention_norm = nn.LayerNorm(features, epsilon=_EPSILON)
            self.attention = Attention()
            self.dense_norm = nn.LayerNorm(features, epsilon=_EPSILON)
            self.wide = nn.Linear(features, dense)
            self.narrow = nn.Linear(dense, features)

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.attention_norm(x))
            return x + self.narrow(nn.gelu(self.wide(self.dense_norm(x))))

    return Layer


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Give the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
