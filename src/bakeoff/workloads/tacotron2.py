"""Tacotron 2 from characters to mel spectrograms: an LSTM over convolutions, and a decoder that attends by location.

Encoder: characters embedded in 512 features, three convolutions of 5 with BatchNorm, ReLU and Dropout 0.5, an LSTM of
256 in each direction. Decoder, a step for each frame: the frame before through two layers of 256 with ReLU and Dropout
0.5, then with the context before through two LSTM cells of 1024 whose h is dropped at 0.1, output and recurrence alike;
attention whose energies see the weights before and their sum so far through 32 filters of 31; 80 mels and a stop gate
from h and context. Postnet: five convolutions of 5 with BatchNorm and Dropout 0.5, tanh behind all but the last, added
to the mels. The loss is the mean squared error of the mels before and behind the postnet and the binary cross-entropy
of the gate, over all frames, those beyond a sample's end, too. Adam at 0.001 with 1e-6 of each parameter added to its
gradient, clipped at a norm of 1 before; batch 32.

The decoder is given the true frames: what is computed is training, so there is no scenario infer. The prenet's Dropout,
which the paper leaves on in synthesis, acts in training as any other does; the certificate leaves all Dropout out.

LSTMs have two biases, as PyTorch's: 26,096,001 parameters. Of both only the sum acts; with one they are 26,085,761.

Source: Dai et al. 2022 (the order of the decoder's parts), NVIDIA's DeepLearningExamples (sizes, both inputs of the
location features), after Shen et al., arXiv 1712.05884. Without CBHG and vocoder. Mels and gate are projected behind
the loop, not in it, which gives the same. Characters and frames are padded to the longest of LJSpeech, 187 and 870;
those of synthetic data have the means of NVIDIA's training list, 100 characters and 566 frames.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from bakeoff.spec.batch import ArraySpec, Law
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload


def _size(batch_size: int, characters: int, frames: int, parameters: int, macs: int, **config: int) -> Size:
    """Return a size: characters with their count and the frames before each; frames, and where speech stops."""
    mels, entries = config["mels"], config["entries"]
    of_text = {"mean": 0.53 * characters, "deviation": 0.18 * characters}  # 99.9 of 187; 5 % have less than 41
    of_speech = {"mean": 0.65 * frames, "deviation": 0.22 * frames}  # 6.6 s of 10.1 s
    return Size(
        batch_size=batch_size,
        inputs={
            "characters": ArraySpec(shape=(characters,), dtype="int32", high=entries, length="characters_length"),
            "characters_length": _count(characters, **of_text),
            "mels_in": ArraySpec(shape=(frames, mels), length="mels_length"),
        },
        targets={
            "mels": ArraySpec(shape=(frames, mels), length="mels_length"),
            "stop": ArraySpec(shape=(frames,), dtype="int32", high=2, length="mels_length"),
            "mels_length": _count(frames, **of_speech),
        },
        parameters=parameters,
        macs=macs,
        config=dict(config),
    )


def _count(most: int, mean: float, deviation: float) -> ArraySpec:
    """Return how many entries of a sequence are real."""
    return ArraySpec(dtype="int32", low=max(1, most // 16), high=most + 1, law=Law(mean=mean, deviation=deviation))


_FULL = {"entries": 148, "features": 512, "hidden": 1024, "prenet": 256, "attention": 128, "filters": 32, "window": 31}
_REDUCED = {"entries": 40, "features": 64, "hidden": 64, "prenet": 32, "attention": 16, "filters": 8, "window": 7}

WORKLOAD = Workload(
    name="tacotron2",
    summary="Tacotron 2 from characters to mel spectrograms: attention by location, a step for each of 870 frames",
    source="Dai et al. 2022 and NVIDIA/DeepLearningExamples, after Shen et al., arXiv 1712.05884",
    data=("synthetic", "ljspeech"),
    sizes={
        "full": _size(32, 187, 870, 26_096_001, 19_893_328_000, mels=80, postnet=512, **_FULL),
        "reduced": _size(2, 12, 20, 246_161, 4_188_160, mels=20, postnet=64, **_REDUCED),
    },
    optimizer=Adam(learning_rate=1e-3, weight_decay=1e-6, clip_norm=1.0),
    scenarios=("train",),
)

_NOWHERE = -1e9
"""The energy of a character that is none: its weight is exactly 0 in float32."""


def build(nn: Any, size: Size) -> Any:
    """Make the model: characters and the frames before each to (batch, frames, 2 * mels + 1): before, behind, gate."""
    config: Any = size.config
    mels, features = config["mels"], config["features"]
    parts = _parts(nn, config)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = parts["encoder"]()
            self.decoder = parts["decoder"]()
            self.mels = nn.Linear(config["hidden"] + features, mels)
            self.gate = nn.Linear(config["hidden"] + features, 1)
            self.postnet = parts["postnet"]()

        def forward(self, inputs: Any) -> Any:
            lengths = inputs["characters_length"]
            memory = self.encoder(inputs["characters"], lengths)
            decoded = self.decoder(memory, lengths, inputs["mels_in"])
            before = self.mels(decoded)
            return nn.concat([before, before + self.postnet(before), self.gate(decoded)], 2)

    return Network()


def _parts(nn: Any, config: Any) -> dict[str, Any]:
    """Return the classes of the model's parts."""
    mels, features, wide = config["mels"], config["features"], config["postnet"]
    block = _block(nn)

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(config["entries"], features)
            self.blocks = nn.ModuleList([block(features, features) for _ in range(3)])
            self.lstm = nn.LSTM(features, features // 2, bidirectional=True, biases=2)

        def forward(self, characters: Any, lengths: Any) -> Any:
            x = self.embedding(characters)
            for one in self.blocks:
                x = one(x, nn.relu)
            return self.lstm(x, lengths=lengths)[0]

    class Postnet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            sizes = [mels, wide, wide, wide, wide, mels]
            self.blocks = nn.ModuleList([block(*pair) for pair in pairwise(sizes)])

        def forward(self, x: Any) -> Any:
            for number, one in enumerate(self.blocks):
                x = one(x, nn.tanh if number < len(self.blocks) - 1 else None)
            return x

    return {"encoder": Encoder, "decoder": _decoder(nn, config), "postnet": Postnet}


def _block(nn: Any) -> Any:
    """Make the class of a convolution with BatchNorm, an activation and Dropout."""

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.conv = nn.Conv1d(inputs, outputs, 5, padding=2)
            self.norm = nn.BatchNorm(outputs)
            self.drop = nn.Dropout(0.5)

        def forward(self, x: Any, activation: Any) -> Any:
            x = self.norm(self.conv(x))
            return self.drop(activation(x) if activation else x)

    return Block


def _decoder(nn: Any, config: Any) -> Any:
    """Make the class of the decoder: a loop over frames."""
    mels, features, hidden, prenet = config["mels"], config["features"], config["hidden"], config["prenet"]
    attention = _attention(nn, config)

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.prenet = nn.ModuleList([nn.Linear(mels, prenet, bias=False), nn.Linear(prenet, prenet, bias=False)])
            self.prenet_drops = nn.ModuleList([nn.Dropout(0.5), nn.Dropout(0.5)])
            self.first = nn.LSTMCell(prenet + features, hidden, biases=2)
            self.first_drop = nn.Dropout(0.1)
            self.second = nn.LSTMCell(hidden, hidden, biases=2)
            self.second_drop = nn.Dropout(0.1)
            self.attention = attention()
            self.zero = nn.constant(np.zeros((1, 1)))

        def forward(self, memory: Any, lengths: Any, frames: Any) -> Any:
            """Return h and context of each frame, (batch, frames, hidden + features)."""
            for linear, drop in zip(self.prenet, self.prenet_drops, strict=True):
                frames = drop(nn.relu(linear(frames)))
            batch, characters, _ = memory.shape
            keys = self.attention.key(memory)
            is_text = nn.less(nn.arange(characters), nn.reshape(lengths, (batch, 1)))

            def step(state: Any, frame: Any) -> Any:
                h1, c1, h2, c2, context, weights, total = state
                h1, c1 = self.first(nn.concat([frame, context], 1), (h1, c1))
                h1 = self.first_drop(h1)
                h2, c2 = self.second(h1, (h2, c2))
                h2 = self.second_drop(h2)
                context, weights = self.attention(h2, memory, keys, is_text, weights, total)
                return (h1, c1, h2, c2, context, weights, total + weights), nn.concat([h2, context], 1)

            widths = (hidden, hidden, hidden, hidden, features, characters, characters)
            start = tuple(nn.broadcast_to(self.zero, (batch, width)) for width in widths)
            return nn.scan(step, start, frames)[1]

    return Decoder


def _attention(nn: Any, config: Any) -> Any:
    """Make the class of the attention: v . tanh(query + key + features of the weights before), over the characters."""
    features, hidden, width, filters = config["features"], config["hidden"], config["attention"], config["filters"]

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query = nn.Linear(hidden, width, bias=False)
            self.key = nn.Linear(features, width, bias=False)
            self.conv = nn.Conv1d(2, filters, config["window"], padding=config["window"] // 2, bias=False)
            self.location = nn.Linear(filters, width, bias=False)
            self.energy = nn.Linear(width, 1, bias=False)

        def forward(self, h: Any, memory: Any, keys: Any, is_text: Any, weights: Any, total: Any) -> Any:
            """Return the context (batch, features) and its weights (batch, characters)."""
            batch, characters, _ = memory.shape
            location = self.location(self.conv(nn.stack([weights, total], 2)))
            query = nn.reshape(self.query(h), (batch, 1, width))
            energies = nn.reshape(self.energy(nn.tanh(query + keys + location)), (batch, characters))
            weights = nn.softmax(nn.where(is_text, energies, _NOWHERE))
            context = nn.matmul(nn.reshape(weights, (batch, 1, characters)), memory)
            return nn.reshape(context, (batch, features)), weights

    return Attention


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the errors of the mels before and behind the postnet, and of the gate."""
    mels = targets["mels"].shape[2]
    before, behind, gate = outputs[:, :, :mels], outputs[:, :, mels : 2 * mels], outputs[:, :, 2 * mels]
    of_mels = nn.mse(before, targets["mels"]) + nn.mse(behind, targets["mels"])
    return of_mels + nn.binary_cross_entropy(gate, targets["stop"])
