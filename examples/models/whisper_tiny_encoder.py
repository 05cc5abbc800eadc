"""Whisper's encoder, tiny: inference from a log-mel spectrogram of 30 seconds to 1500 vectors of 384 numbers.

Two convolutions of width 3 over time with GELU, the second of stride 2, make 1500 places of 3000 frames of 80 channels.
Fixed positions are added: sines in the first half of the features and cosines in the second, of wavelengths from 2 pi
to 20,000 pi in even steps of their logarithms. Four layers of 6 heads and a dense part of 1536, each behind a LayerNorm
of epsilon 1e-5 and added to its input; a last LayerNorm. All Linear layers have a bias but the keys'. GELU is the exact
one, with the error function; no dropout. Batch 16, which is 8 minutes of speech.

Source: Radford et al., arXiv 2212.04356, section 2.2 and table 1: tiny; what the paper leaves open is that of
https://github.com/openai/whisper, model.py: the keys' bias, the positions' wavelengths, and GELU's form. Batch is ours.
"""

from __future__ import annotations

import numpy as np

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="whisper-tiny-encoder",
    summary="inference through Whisper's tiny encoder: 30 seconds of speech, 1500 places",
    source="Radford et al., arXiv 2212.04356, table 1: tiny; batch ours",
    sizes={
        "full": Size(
            batch_size=16,
            inputs={"spectrogram": ArraySpec(shape=(3000, 80))},
            parameters=7_632_384,
            config={"features": 384, "layers": 4, "heads": 6},
        ),
        "reduced": Size(
            batch_size=2,
            inputs={"spectrogram": ArraySpec(shape=(31, 8))},
            config={"features": 16, "layers": 2, "heads": 2},
        ),
    },
    scenarios=("infer",),
)


def build(nn, size):
    """Make the model: spectrograms (batch, frames, channels) to (batch, half as many places, features)."""
    features = size.config["features"]
    frames, channels = size.inputs["spectrogram"].shape
    layer = _layer(nn, features, size.config["heads"])

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv1d(channels, features, 3, padding=1)
            self.second = nn.Conv1d(features, features, 3, stride=2, padding=1)
            self.positions = nn.constant(_positions((frames + 1) // 2, features))
            self.layers = nn.ModuleList([layer() for _ in range(size.config["layers"])])
            self.norm = nn.LayerNorm(features)

        def forward(self, x):
            x = nn.gelu(self.second(nn.gelu(self.first(x)))) + self.positions
            for one in self.layers:
                x = one(x)
            return self.norm(x)

    return Encoder()


def _layer(nn, features, heads):
    """Make the class of one layer."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention_norm = nn.LayerNorm(features)
            self.query = nn.Linear(features, features)
            self.key = nn.Linear(features, features, bias=False)
            self.value = nn.Linear(features, features)
            self.out = nn.Linear(features, features)
            self.dense_norm = nn.LayerNorm(features)
            self.wide = nn.Linear(features, 4 * features)
            self.narrow = nn.Linear(4 * features, features)

        def forward(self, x):
            x = x + self.attended(self.attention_norm(x))
            return x + self.narrow(nn.gelu(self.wide(self.dense_norm(x))))

        def attended(self, x):
            apart = (*x.shape[:2], heads, features // heads)
            q, k, v = (nn.reshape(part(x), apart) for part in (self.query, self.key, self.value))
            return self.out(nn.reshape(nn.attention(q, k, v), x.shape))

    return Layer


def _positions(places, features):
    """Return sines and cosines (1, places, features), whose wavelengths grow from 2 pi to 20,000 pi."""
    speeds = 10_000.0 ** -np.linspace(0, 1, features // 2)
    angles = np.arange(places)[:, None] * speeds
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[None]
