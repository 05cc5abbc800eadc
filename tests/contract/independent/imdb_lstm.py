"""The LSTM of fast-dpsgd's pytorch.py: an embedding, an LSTM, the mean over time, a dense layer; SGD at 0.15."""

from __future__ import annotations

import torch

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "sgd", "learning_rate": 0.15, "momentum": 0.0, "weight_decay": 0.0}

loss = cross_entropy


class Network(torch.nn.Module):
    """Words first in time, as the source has them."""

    def __init__(self, words, hidden):
        """Make the layers."""
        super().__init__()
        self.emb = torch.nn.Embedding(words, hidden)
        self.rnn = torch.nn.LSTM(hidden, hidden)
        self.fc = torch.nn.Linear(hidden, 2)

    def forward(self, x):
        """Return the logits of each review."""
        outputs, _ = self.rnn(self.emb(x).transpose(0, 1))
        return self.fc(outputs.mean(0))


def layers(network):
    """Name the workload's arrays; the second bias stays zero."""
    del network
    return {
        "emb": "table",
        "rnn.weight_ih_l0": "lstm.input_weight",
        "rnn.weight_hh_l0": "lstm.recurrent_weight",
        "rnn.bias_ih_l0": "lstm.bias",
        "rnn.bias_hh_l0": None,
        "fc": "head",
    }


SIZES = {
    "full": Implementation(
        batch_size=256,
        inputs={"ids": ArraySpec(shape=(256,), dtype="int32", high=10_004)},
        targets={"label": ArraySpec(dtype="int32", high=2)},
        parameters=1_081_002,
        network=lambda: Network(10_004, 100),
        computed={"ids": ArraySpec(shape=(12,), dtype="int32", high=10_004)},
    ),
}
SMALL = Implementation(
    inputs={"ids": ArraySpec(shape=(5,), dtype="int32", high=30)},
    targets={"label": ArraySpec(dtype="int32", high=2)},
    network=lambda: Network(30, 8),
    computed={"ids": ArraySpec(shape=(5,), dtype="int32", high=30)},
    config={"words": 30, "hidden": 8},
)
