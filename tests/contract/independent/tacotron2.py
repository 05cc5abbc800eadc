"""Tacotron 2 in torch.nn, after NVIDIA's model.py, with the decoder's parts in the order of Dai et al. 2022.

The lengths to which synthetic data are padded are the project's own choice; the optimiser and its weight
decay are NVIDIA's.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import torch
from torch.nn import LSTM, BatchNorm1d, Conv1d, Embedding, Linear, LSTMCell, Module, ModuleList
from torch.nn.functional import dropout, mse_loss, relu

from bakeoff.spec.batch import ArraySpec, Law
from independent.implementation import Implementation

OPTIMIZER = {
    "type": "adam",
    "learning_rate": 1e-3,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "clip_norm": 1.0,
    "weight_decay": 1e-6,
    "schedule": None,
}


CONFIG = ("entries", "features", "hidden", "prenet", "attention", "filters", "window", "mels", "postnet")
FULL = dict(zip(CONFIG, (148, 512, 1024, 256, 128, 32, 31, 80, 512), strict=True))
LITTLE = dict(zip(CONFIG, (9, 8, 6, 5, 4, 3, 5, 7, 10), strict=True))


class Convolutions(Module):
    """Convolutions of 5 with BatchNorm, an activation and dropout of one half."""

    def __init__(self, sizes, activation, *, last=True):
        """Make a convolution from each size to the next; `last` is whether the last one has an activation."""
        super().__init__()
        pairs = list(pairwise(sizes))
        self.convs = ModuleList([Conv1d(*pair, 5, padding=2) for pair in pairs])
        self.norms = ModuleList([BatchNorm1d(size) for size in sizes[1:]])
        self.activation, self.last = activation, last

    def forward(self, x):
        """Return (batch, length, features)."""
        for number, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
            x = norm(conv(x.transpose(1, 2))).transpose(1, 2)
            if self.last or number < len(self.convs) - 1:
                x = self.activation(x)
            x = dropout(x, 0.5, self.training)
        return x


class Attention(Module):
    """Location-sensitive attention over one sample's characters at a time."""

    def __init__(self, features, hidden, width, filters, window):
        """Make it without any bias."""
        super().__init__()
        self.query = Linear(hidden, width, bias=False)
        self.memory = Linear(features, width, bias=False)
        self.conv = Conv1d(2, filters, window, padding=window // 2, bias=False)
        self.dense = Linear(filters, width, bias=False)
        self.v = Linear(width, 1, bias=False)

    def forward(self, query, memory, lengths, before, total):
        """Return contexts and weights."""
        location = self.dense(self.conv(torch.stack([before, total], 1)).transpose(1, 2))
        energies = self.v(torch.tanh(self.query(query)[:, None] + self.memory(memory) + location))[:, :, 0]
        weights = torch.zeros_like(before)
        for number, length in enumerate(lengths):
            weights[number, :length] = torch.softmax(energies[number, :length], 0)
        return torch.einsum("bt,btf->bf", weights, memory), weights


class Tacotron(Module):
    """Encoder, decoder and postnet."""

    def __init__(self, config):
        """Take the sizes by their names."""
        super().__init__()
        entries, features, hidden, prenet, attention, filters, window, mels, postnet = (config[name] for name in CONFIG)
        self.embedding = Embedding(entries, features)
        self.encoder = Convolutions([features] * 4, relu)
        self.lstm = LSTM(features, features // 2, bidirectional=True, batch_first=True)
        self.prenet = ModuleList([Linear(mels, prenet, bias=False), Linear(prenet, prenet, bias=False)])
        self.first = LSTMCell(prenet + features, hidden)
        self.second = LSTMCell(hidden, hidden)
        self.attention = Attention(features, hidden, attention, filters, window)
        self.projection = Linear(hidden + features, mels)
        self.gate = Linear(hidden + features, 1)
        self.postnet = Convolutions([mels, *[postnet] * 4, mels], torch.tanh, last=False)

    def forward(self, inputs):
        """Return mels, mels behind the postnet and gate, side by side."""
        lengths = inputs["characters_length"].tolist()
        memory = self.encoded(inputs["characters"], lengths)
        frames = inputs["mels_in"]
        for linear in self.prenet:
            frames = dropout(relu(linear(frames)), 0.5, self.training)
        batch, characters, features = memory.shape
        h1, c1, h2, c2 = (torch.zeros(batch, self.second.hidden_size) for _ in range(4))
        context, weights, total = torch.zeros(batch, features), *(torch.zeros(batch, characters) for _ in range(2))
        found = []
        for frame in frames.unbind(1):
            h1, c1 = self.first(torch.cat([frame, context], 1), (h1, c1))
            h1 = dropout(h1, 0.1, self.training)
            h2, c2 = self.second(h1, (h2, c2))
            h2 = dropout(h2, 0.1, self.training)
            context, weights = self.attention(h2, memory, lengths, weights, total)
            total = total + weights
            both = torch.cat([h2, context], 1)
            found.append(torch.cat([self.projection(both), self.gate(both)], 1))
        frames = torch.stack(found, 1)
        mels, gate = frames[:, :, :-1], frames[:, :, -1:]
        return torch.cat([mels, mels + self.postnet(mels), gate], 2)

    def encoded(self, characters, lengths):
        """Return each sample's characters with zeros beyond its end."""
        x = self.encoder(self.embedding(characters))
        memory = torch.zeros_like(x)
        for number, length in enumerate(lengths):
            memory[number, :length] = self.lstm(x[number : number + 1, :length])[0][0]
        return memory


def loss(outputs, targets):
    """Return the errors of the mels, before and behind the postnet, and of the gate by its definition."""
    count = targets["mels"].shape[2]
    before, behind, gate = outputs.split([count, count, 1], 2)
    stop, gate = targets["stop"], gate[:, :, 0]
    errors = mse_loss(before, targets["mels"]) + mse_loss(behind, targets["mels"])
    return errors - (stop * torch.sigmoid(gate).log() + (1 - stop) * torch.sigmoid(-gate).log()).mean()


ARRAYS = {"weight_ih": "input_weight", "weight_hh": "recurrent_weight", "bias_ih": "bias", "bias_hh": "recurrent_bias"}


def layers(network):
    """Name the workload's layers, and each array of an LSTM."""
    names = {
        "embedding": "encoder.embedding",
        "prenet.0": "decoder.prenet.0",
        "prenet.1": "decoder.prenet.1",
        "attention.query": "decoder.attention.query",
        "attention.memory": "decoder.attention.key",
        "attention.conv": "decoder.attention.conv",
        "attention.dense": "decoder.attention.location",
        "attention.v": "decoder.attention.energy",
        "projection": "mels",
        "gate": "gate",
    }
    for part in ("encoder", "postnet"):
        for number in range(len(getattr(network, part).convs)):
            names |= {f"{part}.{kind}s.{number}": f"{part}.blocks.{number}.{kind}" for kind in ("conv", "norm")}
    for end, canonical in ARRAYS.items():
        names |= {f"{cell}.{end}": f"decoder.{cell}.{canonical}" for cell in ("first", "second")}
        names |= {f"lstm.{end}_l0": f"encoder.lstm.{canonical}"}
        names |= {f"lstm.{end}_l0_reverse": f"encoder.lstm.backward_{canonical}"}
    return names


def arrays(characters, frames, entries, mels):
    """Return what goes in and what it is held against."""

    def count(most, mean, deviation):
        law = Law(mean=mean * most, deviation=deviation * most)
        return ArraySpec(dtype="int32", low=max(1, most // 16), high=most + 1, law=law)

    inputs = {
        "characters": ArraySpec(shape=(characters,), dtype="int32", high=entries, length="characters_length"),
        "characters_length": count(characters, 0.53, 0.18),
        "mels_in": ArraySpec(shape=(frames, mels), length="mels_length"),
    }
    targets = {
        "mels": ArraySpec(shape=(frames, mels), length="mels_length"),
        "stop": ArraySpec(shape=(frames,), dtype="int32", high=2, length="mels_length"),
        "mels_length": count(frames, 0.65, 0.22),
    }
    return {"inputs": inputs, "targets": targets}


def smaller(entries, mels):
    """Return few characters and frames, for all arrays by name."""
    return {name: array for some in arrays(7, 5, entries, mels).values() for name, array in some.items()}


SIZES = {
    "full": Implementation(
        batch_size=32,
        parameters=26_096_001,
        network=partial(Tacotron, FULL),
        computed=smaller(148, 80),
        computed_batch=3,
        **arrays(187, 870, 148, 80),
    ),
}
SMALL = Implementation(network=partial(Tacotron, LITTLE), config=LITTLE, computed=smaller(9, 7), computed_batch=3)
