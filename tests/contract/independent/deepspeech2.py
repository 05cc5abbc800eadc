"""deepspeech.pytorch of March 2020 from its model.py, in torch.nn, with its masks and lengths sample by sample.

Adam, one bias in an LSTM, and the lengths to which synthetic data are padded are the project's own choices.
"""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import LSTM, BatchNorm1d, BatchNorm2d, Conv2d, Hardtanh, Linear, Module, ModuleList

from bakeoff.spec.batch import ArraySpec, Law
from independent.implementation import Implementation

OPTIMIZER = {
    "type": "adam",
    "learning_rate": 3e-4,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "clip_norm": 400.0,
    "schedule": None,
}


class DeepSpeech(Module):
    """Two masked convolutions, recurrent layers whose directions are added, and letters."""

    def __init__(self, channels, rows, hidden, layers):
        """Make the layers; rows are what the convolutions leave of the frequencies."""
        super().__init__()
        self.conv = ModuleList(
            [
                Conv2d(1, channels, (41, 11), stride=(2, 2), padding=(20, 5)),
                BatchNorm2d(channels),
                Hardtanh(0, 20),
                Conv2d(channels, channels, (21, 11), stride=(2, 1), padding=(10, 5)),
                BatchNorm2d(channels),
                Hardtanh(0, 20),
            ]
        )
        sizes = [rows * channels] + [hidden] * (layers - 1)
        self.rnns = ModuleList([LSTM(size, hidden, bidirectional=True, batch_first=True) for size in sizes])
        self.norms = ModuleList([BatchNorm1d(hidden) for _ in sizes])
        self.fc = Linear(hidden, 29, bias=False)

    def forward(self, inputs):
        """Return logits (batch, time, letters)."""
        lengths = seq_lens(inputs["lengths"])
        x = inputs["spectrogram"]
        for module in self.conv:
            x = masked(module(x), lengths)
        # Rows, then channels, to have the workload's order; the source has it the other way round.
        x = x.permute(0, 3, 2, 1).flatten(2)
        for rnn, norm in zip(self.rnns, self.norms, strict=True):
            x = both_added(rnn, x, lengths)
            x = norm(x.reshape(-1, x.shape[2])).reshape(x.shape)
        return self.fc(x)


def seq_lens(lengths):
    """Return the output's lengths by the formula of a convolution, as get_seq_lens."""
    for kernel, stride in ((11, 2), (11, 1)):
        lengths = [(int(one) + 2 * (kernel // 2) - kernel) // stride + 1 for one in lengths]
    return lengths


def masked(x, lengths):
    """Return maps with zeros beyond each sample's end, as MaskConv."""
    samples = []
    for one, length in zip(x, lengths, strict=True):
        rest = torch.zeros(*one.shape[:2], one.shape[2] - length, dtype=one.dtype)
        samples.append(torch.cat([one[:, :, :length], rest], 2))
    return torch.stack(samples)


def both_added(rnn, x, lengths):
    """Return each sample's both directions added, with zeros beyond its end."""
    samples = []
    for one, length in zip(x, lengths, strict=True):
        found, _ = rnn(one[None, :length])
        forward, backward = found[0].chunk(2, dim=1)
        rest = torch.zeros(len(one) - length, forward.shape[1], dtype=x.dtype)
        samples.append(torch.cat([forward + backward, rest]))
    return torch.stack(samples)


def ctc(log_probs, labels):
    """Return log p(labels) of (time, classes): the sum over all paths through blank, label, blank, ..., blank."""
    places = [0] + [place for label in labels for place in (label, 0)]
    minus_infinity = torch.tensor(-torch.inf, dtype=log_probs.dtype)
    reached = [log_probs[0, places[0]], log_probs[0, places[1]]] + [minus_infinity] * (len(places) - 2)
    for frame in log_probs[1:]:
        ways = [
            reached[max(0, at - (2 if at > 1 and places[at] not in (0, places[at - 2]) else 1)) : at + 1]
            for at in range(len(places))
        ]
        finite = [[way for way in one if way > minus_infinity] or [minus_infinity] for one in ways]
        reached = [torch.logsumexp(torch.stack(one), 0) + frame[places[at]] for at, one in enumerate(finite)]
    return torch.logaddexp(reached[-1], reached[-2])


def loss(logits, targets, inputs):
    """Return the mean over the batch of each sample's loss."""
    total = 0.0
    for number, length in enumerate(seq_lens(inputs["lengths"])):
        labels = targets["labels"][number, : int(targets["label_lengths"][number])].tolist()
        total = total - ctc(torch.log_softmax(logits[number, :length], -1), labels)
    return total / len(logits)


def layers(network):
    """Name the workload's layers, and each array of an LSTM; its second bias stays zero."""
    names = {"conv.0": "wide", "conv.1": "wide_norm", "conv.3": "narrow", "conv.4": "narrow_norm", "fc": "head"}
    for number in range(len(network.rnns)):
        names[f"norms.{number}"] = f"norms.{number}"
        for end, start in (("", ""), ("_reverse", "backward_")):
            lstm = f"rnns.{number}", f"lstms.{number}.{start}"
            names |= {
                f"{lstm[0]}.weight_ih_l0{end}": f"{lstm[1]}input_weight",
                f"{lstm[0]}.weight_hh_l0{end}": f"{lstm[1]}recurrent_weight",
                f"{lstm[0]}.bias_ih_l0{end}": f"{lstm[1]}bias",
                f"{lstm[0]}.bias_hh_l0{end}": None,
            }
    return names


def arrays(frames, letters, laws):
    """Return what goes in and what it is held against."""
    of_frames, of_letters = laws
    inputs = {
        "spectrogram": ArraySpec(shape=(161, frames, 1), length="lengths", along=1),
        "lengths": ArraySpec(dtype="int32", low=round(0.35 * frames), high=frames + 1, law=of_frames),
    }
    targets = {
        "labels": ArraySpec(shape=(letters,), dtype="int32", low=1, high=29, length="label_lengths"),
        "label_lengths": ArraySpec(dtype="int32", low=1, high=letters + 1, law=of_letters),
    }
    return {"inputs": inputs, "targets": targets}


SHORT = {name: array for some in arrays(23, 4, (None, None)).values() for name, array in some.items()}
"""So short that the loss is written out by hand; four samples have 12, 23, 22 and 13 frames: odd, even, and all."""

FAR = {"wide_norm.scale": 10.0, "narrow_norm.scale": 10.0}
"""Behind norms of scale 1 nothing is above 20, where the activations end."""

SIZES = {
    "full": Implementation(
        batch_size=20,
        parameters=86_577_440,
        network=partial(DeepSpeech, 32, 41, 1024, 5),
        computed=SHORT,
        computed_batch=4,
        magnified=FAR,
        **arrays(1700, 247, (Law(mean=1258.0, deviation=272.0), Law(mean=0.72 * 247, deviation=0.16 * 247))),
    ),
}
SMALL = Implementation(
    network=partial(DeepSpeech, 2, 41, 8, 2),
    config={"channels": 2, "hidden": 8, "layers": 2},
    computed=SHORT,
    computed_batch=4,
    magnified=FAR,
)
