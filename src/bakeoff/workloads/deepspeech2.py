"""Deep Speech 2 on spectrograms of 161 frequencies: 29 letters, by two convolutions and five LSTMs of both directions.

Two convolutions over frequency and time, 41 x 11 with stride 2 and 21 x 11 with stride 2 over frequency alone, each
with BatchNorm and ReLU clipped at 20; what lies beyond a sample's end is set to zero behind each part. Then five LSTMs
of 1024 over 41 rows of 32 channels, whose directions are added, each with a BatchNorm before the next; Linear without
a bias; CTC with the blank 0, the sum over the batch divided by its size. BatchNorm's statistics are over all frames of
a batch, those beyond a sample's end, too, as in the source. Adam at 0.0003, gradients clipped at a norm of 400; batch
20.

An LSTM has one bias a direction: 86,577,440 parameters. With PyTorch's two, of which only the sum acts, they are
86,618,400.

Source: SeanNaren/deepspeech.pytorch, model.py and train.py of March 2020, after Amodei et al., arXiv 1512.02595. Its
stock optimiser is SGD or AdamW; Adam is ours, to have one for all. Synthetic data last 12.3 s in the mean, as
LibriSpeech's train-clean-100, from 6 to 17 s, with 14.5 letters a second of that mean: all fit into their frames.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.batch import ArraySpec, Law
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload

LETTERS = 29
"""The blank, apostrophe, A to Z and the space."""


def _size(batch_size: int, frames: int, letters: int, parameters: int, macs: int, **config: int) -> Size:
    """Return a size: spectrograms (frequency, time) with their lengths, and letters with theirs."""
    mean, deviation = 0.74 * frames, 0.16 * frames  # 12.6 and 2.7 s of 17 s; with what is drawn again, 12.3 s
    return Size(
        batch_size=batch_size,
        inputs={
            "spectrogram": ArraySpec(shape=(161, frames, 1), length="lengths", along=1),
            "lengths": ArraySpec(
                dtype="int32", low=round(0.35 * frames), high=frames + 1, law=Law(mean=mean, deviation=deviation)
            ),
        },
        targets={
            "labels": ArraySpec(shape=(letters,), dtype="int32", low=1, high=LETTERS, length="label_lengths"),
            "label_lengths": ArraySpec(
                dtype="int32", low=1, high=letters + 1, law=Law(mean=0.72 * letters, deviation=0.16 * letters)
            ),
        },
        parameters=parameters,
        macs=macs,
        config=dict(config),
    )


WORKLOAD = Workload(
    name="deepspeech2",
    summary="Deep Speech 2 on up to 17 s of speech: convolutions and five bidirectional LSTMs of 1024, CTC",
    source="SeanNaren/deepspeech.pytorch, March 2020, after Amodei et al., arXiv 1512.02595",
    data=("synthetic", "librispeech"),
    sizes={
        "full": _size(20, 1700, 247, 86_577_440, 82_571_012_800, channels=32, hidden=1024, layers=5),
        "reduced": _size(2, 100, 10, 190_932, 24_089_400, channels=4, hidden=64, layers=2),
    },
    optimizer=Adam(learning_rate=3e-4, clip_norm=400.0),
)


def build(nn: Any, size: Size) -> Any:
    """Make the model: spectrograms (batch, frequency, time, 1) and lengths to logits (batch, time / 2, letters)."""
    config: Any = size.config
    channels, hidden, layers = config["channels"], config["hidden"], config["layers"]
    rows = (size.inputs["spectrogram"].shape[0] + 3) // 4  # two convolutions of stride 2, padded by half their kernels

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wide = nn.Conv2d(1, channels, (41, 11), stride=(2, 2), padding=(20, 5))
            self.wide_norm = nn.BatchNorm(channels)
            self.narrow = nn.Conv2d(channels, channels, (21, 11), stride=(2, 1), padding=(10, 5))
            self.narrow_norm = nn.BatchNorm(channels)
            features = [rows * channels] + [hidden] * (layers - 1)
            self.lstms = nn.ModuleList([nn.LSTM(one, hidden, bidirectional=True) for one in features])
            self.norms = nn.ModuleList([nn.BatchNorm(hidden) for _ in features])
            self.head = nn.Linear(hidden, LETTERS, bias=False)

        def forward(self, inputs: Any) -> Any:
            lengths = _frames(nn, inputs["lengths"])
            x = self.wide(inputs["spectrogram"])
            mask = nn.column_mask(x, lengths)
            x = nn.clip(self.wide_norm(x * mask) * mask, 0.0, 20.0)
            x = nn.clip(self.narrow_norm(self.narrow(x) * mask) * mask, 0.0, 20.0)
            x = nn.columns(x)
            for lstm, norm in zip(self.lstms, self.norms, strict=True):
                both, _ = lstm(x, lengths=lengths)
                x = norm(both[:, :, :hidden] + both[:, :, hidden:])
            return self.head(x)

    return Network()


def _frames(nn: Any, lengths: Any) -> Any:
    """Return how many frames are left of these by a stride of 2 over time."""
    return nn.floor_divide(lengths + 1, 2)


def loss(nn: Any, outputs: Any, targets: Any, inputs: Any) -> Any:
    """Return the sum of all samples' CTC over the batch size."""
    frames = _frames(nn, inputs["lengths"])
    return nn.ctc(outputs, targets["labels"], frames, targets["label_lengths"])
