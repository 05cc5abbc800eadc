"""GNMT as NVIDIA's DeepLearningExamples have it in PyTorch, step by step: cells in loops, and attention for each word.

Adam at 5e-4 for batches of 128 is what their TensorFlow variant has.
"""

from __future__ import annotations

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation

OPTIMIZER = {"type": "adam", "learning_rate": 5e-4, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "clip_norm": 5.0}

GATES = {"weight_ih": "input_weight", "weight_hh": "recurrent_weight", "bias_ih": "bias", "bias_hh": "recurrent_bias"}


class Network(torch.nn.Module):
    """Encoder, decoder and classifier, in loops over layers, samples and time."""

    def __init__(self, words, hidden):
        """Make the layers."""
        super().__init__()
        self.hidden = hidden
        self.emb = torch.nn.Embedding(words, hidden)
        self.ahead = torch.nn.LSTMCell(hidden, hidden)
        self.back = torch.nn.LSTMCell(hidden, hidden)
        widths = (2 * hidden, hidden, hidden)
        self.encoder = torch.nn.ModuleList([torch.nn.LSTMCell(width, hidden) for width in widths])
        widths = (hidden, *[2 * hidden] * 3)
        self.decoder = torch.nn.ModuleList([torch.nn.LSTMCell(width, hidden) for width in widths])
        self.linear_q = torch.nn.Linear(hidden, hidden, bias=False)
        self.linear_k = torch.nn.Linear(hidden, hidden, bias=False)
        self.linear_att = torch.nn.Parameter(torch.zeros(hidden))
        self.normalize_scalar = torch.nn.Parameter(torch.zeros(1))
        self.normalize_bias = torch.nn.Parameter(torch.zeros(hidden))
        self.classifier = torch.nn.Linear(hidden, words)

    def forward(self, inputs):
        """Return the logits of each next word."""
        lengths = inputs["source_length"]
        encoded = self.encode(self.emb(inputs["source"]), lengths)
        x = self.run(self.decoder[0], self.drop(self.emb(inputs["target_in"])))
        context = torch.stack([self.attend(query, encoded, lengths) for query in x.unbind(1)], 1)
        for number, cell in enumerate(self.decoder[1:]):
            new = self.run(cell, torch.cat([self.drop(x), context], 2))
            x = new + x if number >= 1 else new
        return self.classifier(x)

    def drop(self, x):
        """Drop a fifth in training."""
        return torch.nn.functional.dropout(x, 0.2, self.training)

    def run(self, cell, x):
        """Run a cell over time, from zeros; outputs lie time first, as PyTorch's LSTM has them, for dropout's draws."""
        state, outputs = None, []
        for now in x.unbind(1):
            state = cell(now, state)
            outputs.append(state[0])
        return torch.stack(outputs).transpose(0, 1)

    def encode(self, x, lengths):
        """Run the first layer over each sentence by itself in both directions, the others forward."""
        x = self.drop(x)
        rows = []
        for row, length in zip(x, lengths.tolist(), strict=True):
            own = row[None, :length]
            both = torch.cat([self.run(self.ahead, own), self.run(self.back, own.flip(1)).flip(1)], 2)
            rows.append(torch.nn.functional.pad(both[0], (0, 0, 0, x.shape[1] - length)))
        x = self.run(self.encoder[0], self.drop(torch.stack(rows)))
        for cell in self.encoder[1:]:
            x = x + self.run(cell, self.drop(x))
        return x

    def attend(self, query, encoded, lengths):
        """Return the context of one word, by the normed scores of Bahdanau's attention."""
        added = self.linear_q(query)[:, None] + self.linear_k(encoded) + self.normalize_bias
        scores = torch.tanh(added) @ (self.linear_att / self.linear_att.norm() * self.normalize_scalar)
        beyond = torch.arange(encoded.shape[1])[None] >= lengths[:, None]
        weights = torch.softmax(scores.masked_fill(beyond, -float("inf")), 1)
        return (weights[:, :, None] * encoded).sum(1)


def layers(network):
    """Name the workload's arrays."""
    cells = {"ahead": "encoder.both.", "back": "encoder.both.backward_", "encoder.0": "encoder.joined."}
    cells |= {f"encoder.{number + 1}": f"encoder.layers.{number}." for number in range(2)}
    cells |= {"decoder.0": "decoder.first."}
    cells |= {f"decoder.{number + 1}": f"decoder.layers.{number}." for number in range(3)}
    arrays = {f"{cell}.{own}": f"{start}{name}" for cell, start in cells.items() for own, name in GATES.items()}
    attention = {"linear_att": "score", "normalize_scalar": "scale", "normalize_bias": "bias"}
    arrays |= {own: f"decoder.attention.{name}" for own, name in attention.items()}
    del network
    return arrays | {
        "emb": "table",
        "linear_q": "decoder.attention.query",
        "linear_k": "decoder.attention.key",
        "classifier": "head",
    }


def loss(outputs, targets, inputs):
    """Sum the smoothed losses of all words of each sentence, over the batch size."""
    total = 0.0
    for logits, words, length in zip(outputs, targets, inputs["target_length"].tolist(), strict=True):
        for place in range(length):
            losses = -torch.log_softmax(logits[place], 0)
            total = total + 0.9 * losses[words[place]] + 0.1 * losses.mean()
    return total / len(outputs)


def _arrays(length, words, least=5):
    """Return the declared arrays of sentences of so many words."""
    source, target = (
        ArraySpec(shape=(length,), dtype="int32", high=words, length=counted)
        for counted in ("source_length", "target_length")
    )
    count = ArraySpec(dtype="int32", low=least, high=length + 1)
    inputs = {"source": source, "source_length": count, "target_in": target, "target_length": count}
    return inputs, {"target_out": target}


def _computed(length, words):
    """Return shorter sentences, of which some are shorter than others."""
    inputs, targets = _arrays(length, words, 1)
    return inputs | targets


SIZES = {
    "full": Implementation(
        batch_size=128,
        inputs=_arrays(50, 32_320)[0],
        targets=_arrays(50, 32_320)[1],
        parameters=160_671_297,
        network=lambda: Network(32_320, 1024),
        computed=_computed(4, 32_320),
        computed_batch=3,
    ),
}
SMALL = Implementation(
    inputs=_arrays(50, 40)[0],
    targets=_arrays(50, 40)[1],
    network=lambda: Network(40, 8),
    computed=_computed(4, 40),
    computed_batch=3,
    config={"words": 40, "hidden": 8},
)
