"""Swin-T on 224 x 224 colour images, 1000 classes: attention within windows of 7 x 7, shifted in every second block.

A convolution of stride 4 makes a token of every patch, and a LayerNorm follows. Four stages of 2, 2, 6 and 2 blocks
have 96, 192, 384 and 768 channels and 3, 6, 12 and 24 heads; between them each 2 x 2 tokens become one of twice the
channels. A block has attention and a dense part four times as wide, each behind a LayerNorm and added to its input.
Attention adds a trained number for each offset between two places of a window, and each head. In every second block
windows lie half a window further: the map is rolled, and a constant mask keeps apart what the roll has brought
together. Maps that are no multiple of the window are padded with zeros, which are attended to, too; along an axis with
one window none is shifted. Last a LayerNorm, the mean of all tokens, and Linear to the classes. Stochastic depth rises
evenly from 0 in the first block to 0.2 in the last. No other dropout; LayerNorms have an epsilon of 1e-5.

Source: Liu et al., arXiv 2103.14030; as torchvision's swin_t and https://github.com/microsoft/Swin-Transformer. The
optimiser and the label smoothing are those of the authors' code: 300 epochs of ImageNet in batches of 1024, 128 for
each of 8 devices, which is the batch here. What it does to images (mixup, cutmix and others) is left out.
"""

from __future__ import annotations

import numpy as np

from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.schedule import Cosine
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="swin-t",
    summary="Swin-T on 224 x 224 colour images: attention within shifted windows",
    source="Liu et al., arXiv 2103.14030, table 7: Swin-T",
    sizes={
        "full": Size(
            batch_size=128,
            input_shape=(224, 224, 3),
            classes=1000,
            parameters=28_288_354,
            config={
                "patch": 4,
                "channels": 96,
                "blocks": (2, 2, 6, 2),
                "heads": (3, 6, 12, 24),
                "window": 7,
                "dropped": 0.2,
            },
        ),
        # Maps of 9 x 14, 5 x 7 and 3 x 4: padded, of an odd height, and of one window.
        "reduced": Size(
            batch_size=4,
            input_shape=(18, 28, 3),
            classes=10,
            config={"patch": 2, "channels": 8, "blocks": (2, 2, 2), "heads": (1, 2, 4), "window": 4, "dropped": 0.2},
        ),
    },
    optimizer=AdamW(
        learning_rate=1e-3,
        weight_decay=0.05,
        no_decay=("*bias", "*norm.scale"),  # "*bias" is the offsets' numbers in attention, too
        clip_norm=5.0,
        schedule=Cosine(warmup_steps=25_020, steps=375_300, final=0.01),
    ),
)


def build(nn, size):
    """Make the model: images (batch, height, width, 3) to logits (batch, classes)."""
    config = size.config
    patch = config["patch"]
    places = tuple(length // patch for length in size.input_shape[:2])

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(size.input_shape[-1], config["channels"], patch, stride=patch)
            self.patches_norm = nn.LayerNorm(config["channels"])
            layers, channels = _stages(nn, config, places)
            self.layers = nn.ModuleList(layers)
            self.norm = nn.LayerNorm(channels)
            self.head = nn.Linear(channels, size.classes)

        def forward(self, x):
            x = self.patches_norm(nn.tokens(self.patches(x)))
            x = nn.reshape(x, (x.shape[0], *places, config["channels"]))
            for layer in self.layers:
                x = layer(x)
            return self.head(nn.mean(self.norm(x), axis=(1, 2)))

    return Network()


def _stages(nn, config, places):
    """Return all blocks and what is between the stages, and the channels behind the last."""
    block, merging = _block(nn, config["window"]), _merging(nn)
    channels, layers, number = config["channels"], [], 0
    for stage, (count, heads) in enumerate(zip(config["blocks"], config["heads"], strict=True)):
        if stage:
            layers.append(merging(channels, places))
            channels, places = 2 * channels, tuple((length + 1) // 2 for length in places)
        for place in range(count):
            rate = config["dropped"] * number / (sum(config["blocks"]) - 1)
            layers.append(block(channels, heads, places, place % 2 == 1, rate))
            number += 1
    return layers, channels


def _block(nn, window):
    """Make the class of one block."""
    attention = _attention(nn, window)

    class Block(nn.Module):
        def __init__(self, channels, heads, places, is_shifted, rate):
            super().__init__()
            self.attention_norm = nn.LayerNorm(channels)
            self.attention = attention(channels, heads, places, is_shifted)
            self.dense_norm = nn.LayerNorm(channels)
            self.wide = nn.Linear(channels, 4 * channels)
            self.narrow = nn.Linear(4 * channels, channels)
            self.drop = nn.StochasticDepth(rate)

        def forward(self, x):
            x = x + self.drop(self.attention(self.attention_norm(x)))
            return x + self.drop(self.narrow(nn.gelu(self.wide(self.dense_norm(x)))))

    return Block


def _merging(nn):
    """Make the class of what stands between two stages: it makes one token of each 2 x 2."""

    class Merging(nn.Module):
        def __init__(self, channels, places):
            super().__init__()
            self.odd = tuple(length % 2 for length in places)
            self.norm = nn.LayerNorm(4 * channels)
            self.reduce = nn.Linear(4 * channels, 2 * channels, bias=False)

        def forward(self, x):
            x = _padded(nn, x, self.odd)
            batch, rows, columns, channels = x.shape
            x = nn.reshape(x, (batch, rows // 2, 2, columns // 2, 2, channels))
            x = nn.permute_dims(x, (0, 1, 3, 4, 2, 5))  # of each four the left two come first
            return self.reduce(self.norm(nn.reshape(x, (batch, rows // 2, columns // 2, 4 * channels))))

    return Merging


def _attention(nn, window):
    """Make the class of attention within windows."""
    area = window**2

    class Attention(nn.Module):
        def __init__(self, channels, heads, places, is_shifted):
            super().__init__()
            self.heads = heads
            self.missing = tuple(-length % window for length in places)
            self.shifts = tuple(window // 2 if is_shifted and length > window else 0 for length in places)
            self.mixed = nn.Linear(channels, 3 * channels)
            self.out = nn.Linear(channels, channels)
            self.offset_bias = nn.Parameter(((2 * window - 1) ** 2, heads), std=0.02)
            self.offsets = nn.constant(_offsets(window))
            padded = [length + more for length, more in zip(places, self.missing, strict=True)]
            self.mask = nn.constant(_mask(padded, window, self.shifts)) if any(self.shifts) else None

        def forward(self, x):
            batch, rows, columns, channels = x.shape
            x = _rolled(nn, _padded(nn, x, self.missing), [-shift for shift in self.shifts])
            x = self.attended(_windows(nn, x, window), batch)
            x = _map(nn, x, (batch, rows + self.missing[0], columns + self.missing[1], channels), window)
            return _rolled(nn, x, self.shifts)[:, :rows, :columns]

        def attended(self, x, batch):
            windows, _, channels = x.shape
            parts = nn.split(self.mixed(x), (channels, channels, channels), 2)
            q, k, v = (nn.reshape(part, (windows, area, self.heads, channels // self.heads)) for part in parts)
            bias = nn.permute_dims(nn.take(self.offset_bias, self.offsets), (2, 0, 1))
            bias = nn.reshape(bias, (1, self.heads, area, area))
            mask = None if self.mask is None else _of_each_sample(nn, self.mask, batch)
            x = nn.attention(q, k, v, mask=mask, bias=bias)
            return self.out(nn.reshape(x, (windows, area, channels)))

    return Attention


def _of_each_sample(nn, mask, batch):
    """Return a mask (windows, places, places) as that of all heads of a batch: (batch * windows, 1, places, places)."""
    windows, places, _ = mask.shape
    return nn.reshape(nn.broadcast_to(mask, (batch, *mask.shape)), (batch * windows, 1, places, places))


def _padded(nn, x, widths):
    """Return tokens (batch, rows, columns, channels) with zeros below and to the right."""
    return nn.pad(x, ((0, 0), (0, widths[0]), (0, widths[1]), (0, 0))) if any(widths) else x


def _rolled(nn, x, shifts):
    """Return tokens (batch, rows, columns, channels) moved along rows and columns."""
    for axis, shift in enumerate(shifts, 1):
        x = nn.roll(x, shift, axis) if shift else x
    return x


def _windows(nn, x, window):
    """Return tokens (batch, rows, columns, channels) as (batch * windows, places of a window, channels)."""
    batch, rows, columns, channels = x.shape
    x = nn.reshape(x, (batch, rows // window, window, columns // window, window, channels))
    return nn.reshape(nn.permute_dims(x, (0, 1, 3, 2, 4, 5)), (-1, window**2, channels))


def _map(nn, x, shape, window):
    """Return what `_windows` has made as tokens of this shape."""
    batch, rows, columns, channels = shape
    x = nn.reshape(x, (batch, rows // window, columns // window, window, window, channels))
    return nn.reshape(nn.permute_dims(x, (0, 1, 3, 2, 4, 5)), shape)


def _offsets(window):
    """Return the number of the offset between each two places of a window."""
    row, column = np.divmod(np.arange(window**2), window)
    down, right = (line[:, None] - line[None, :] + window - 1 for line in (row, column))
    return (down * (2 * window - 1) + right).astype("int32")


def _mask(places, window, shifts):
    """Return for each window which two places were neighbours before the roll: (windows, places, places)."""
    rows, columns = (np.arange(length) >= length - shift for length, shift in zip(places, shifts, strict=True))
    part = 2 * rows[:, None] + columns[None, :]
    part = part.reshape(places[0] // window, window, places[1] // window, window)
    part = part.transpose(0, 2, 1, 3).reshape(-1, window**2)
    return part[:, :, None] == part[:, None, :]


def loss(nn, outputs, targets):
    """Return the mean cross-entropy over the batch, with label smoothing of 0.1."""
    return nn.cross_entropy(outputs, targets, label_smoothing=0.1)
