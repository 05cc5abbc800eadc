"""An LSTM that tells film reviews apart: 256 words of 10,004, embedded in 100 features, one layer of 100 units.

The mean of the LSTM's outputs over all 256 places, padding too, goes into Linear(100, 2). One bias a layer: with
PyTorch's second one it would be 1,081,402 parameters. Mean cross-entropy; SGD at 0.15, batch 256.

Source: Subramani et al., arXiv 2010.09063 (TheSalon/fast-dpsgd, pytorch.py and utils.py), experiment `lstm`, without
the noise and the clipping of its differentially private form; its batches are 16 to 256. Its JAX model reshapes where
it means to transpose (jaxdp.py), and mixes samples with places: not so here.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload


def _size(length: int, words: int, hidden: int, **more: Any) -> Size:
    """Make a size: reviews of so many numbers of words."""
    return Size(
        inputs={"ids": ArraySpec(shape=(length,), dtype="int32", high=words)},
        targets={"label": ArraySpec(dtype="int32", high=2)},
        config={"words": words, "hidden": hidden},
        **more,
    )


WORKLOAD = Workload(
    name="imdb-lstm",
    summary="an LSTM of 100 units on film reviews of 256 words",
    source="Subramani et al., arXiv 2010.09063: the experiment lstm",
    sizes={
        "full": _size(256, 10_004, 100, batch_size=256, parameters=1_081_002, macs=20_480_200),
        "reduced": _size(16, 500, 16, batch_size=4, parameters=10_146, macs=32_800),
    },
    optimizer=SGD(learning_rate=0.15),
    scenarios=("train", "infer", "per-sample-gradients"),
    data=("synthetic", "imdb"),
)


def build(nn: Any, size: Size) -> Any:
    """Make the model: words (batch, length) to logits (batch, 2)."""
    config: Any = size.config

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(config["words"], config["hidden"])
            self.lstm = nn.LSTM(config["hidden"], config["hidden"])
            self.head = nn.Linear(config["hidden"], 2)

        def forward(self, ids: Any) -> Any:
            sequence, _ = self.lstm(self.table(ids))
            return self.head(nn.mean(sequence, 1))

    return Network()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
