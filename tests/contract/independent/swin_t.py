"""torchvision's swin_t. The optimiser is that of the authors' configuration for batches of 1024, on 300 epochs.

The computed image has maps of 14 x 26, 7 x 13, 4 x 7 and 2 x 4: the first has shifted windows and padding, the second
is shifted along its width alone, and has an odd height and width; the last two are one window, with padding.
"""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import Embedding
from torchvision.models.swin_transformer import PatchMerging, ShiftedWindowAttention, SwinTransformerBlock, swin_t

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {
    "type": "adamw",
    "learning_rate": 1e-3,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "weight_decay": 0.05,
    "no_decay": ["*bias", "*norm.scale"],
    "clip_norm": 5.0,
    "schedule": {"type": "cosine", "steps": 375_300, "warmup_steps": 25_020, "final": 0.01},
}

BLOCK = {
    "norm1": "attention_norm",
    "attn.qkv": "attention.mixed",
    "attn.proj": "attention.out",
    "attn.table.weight": "attention.offset_bias",
    "norm2": "dense_norm",
    "mlp.0": "wide",
    "mlp.3": "narrow",
}

SMOOTHING = 0.1


class Attention(ShiftedWindowAttention):
    """torchvision's, with its table as the rows of an Embedding, and its indices as a constant, out of the state."""

    # Any other array of two axes is compared as the weight of a Linear, and an index in the state is set to zero.

    def define_relative_position_bias_table(self):
        """Make a row for each offset, of a number for each head."""
        self.table = Embedding((2 * self.window_size[0] - 1) * (2 * self.window_size[1] - 1), self.num_heads)

    def define_relative_position_index(self):
        """Make the indices."""
        super().define_relative_position_index()
        self.register_buffer("relative_position_index", self.relative_position_index, persistent=False)

    @property
    def relative_position_bias_table(self):
        """Return the rows."""
        return self.table.weight


def network():
    """Make the network."""
    return swin_t(block=partial(SwinTransformerBlock, attn_layer=Attention))


def layers(network):
    """Name the workload's layers: blocks, and what stands between two stages, have one number each."""
    found = {"features.0.0": "patches", "features.0.2": "patches_norm", "norm": "norm", "head": "head"}
    parts = []
    for number, part in list(enumerate(network.features))[1:]:
        if isinstance(part, PatchMerging):
            parts.append((f"features.{number}", {"norm": "norm", "reduction": "reduce"}))
        else:
            parts += [(f"features.{number}.{place}", BLOCK) for place in range(len(part))]
    for place, (native, names) in enumerate(parts):
        found |= {f"{native}.{name}": f"layers.{place}.{named}" for name, named in names.items()}
    return found


def loss(logits, labels):
    """Return the cross-entropy with labels of which a tenth is spread evenly over all classes."""
    even = (torch.logsumexp(logits, 1) - logits.mean(1)).mean()
    return (1 - SMOOTHING) * cross_entropy(logits, labels) + SMOOTHING * even


SIZES = {
    "full": Implementation(
        batch_size=128,
        input_shape=(224, 224, 3),
        classes=1000,
        parameters=28_288_354,
        network=network,
        computed_shape=(56, 104, 3),
        computed_batch=4,
    ),
}
