"""The mean of a film review's words tells whether it is kind: 256 words of 10,004, embedded in 16 features.

The mean of the embeddings over all 256 places, padding too, goes into Linear(16, 2). Mean cross-entropy; SGD at 0.15,
batch 256. Nearly all parameters are a table of which a sample's gradient touches few rows.

Source: Subramani et al., arXiv 2010.09063 (TheSalon/fast-dpsgd, pytorch.py and utils.py), experiment `embed`; its
batches are 16 to 256. Its JAX model has another Linear(16, 16) with a ReLU (160,370 parameters): not so here.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload


def _size(length: int, words: int, features: int, **more: Any) -> Size:
    """Make a size: reviews of so many numbers of words."""
    return Size(
        inputs={"ids": ArraySpec(shape=(length,), dtype="int32", high=words)},
        targets={"label": ArraySpec(dtype="int32", high=2)},
        config={"words": words, "features": features},
        **more,
    )


WORKLOAD = Workload(
    name="imdb-embed",
    summary="the mean of embedded words on film reviews of 256 words",
    source="Subramani et al., arXiv 2010.09063: the experiment embed",
    sizes={
        "full": _size(256, 10_004, 16, batch_size=256, parameters=160_098, macs=32),
        "reduced": _size(16, 500, 8, batch_size=4, parameters=4_018, macs=16),
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
            self.table = nn.Embedding(config["words"], config["features"])
            self.head = nn.Linear(config["features"], 2)

        def forward(self, ids: Any) -> Any:
            return self.head(nn.mean(self.table(ids), 1))

    return Network()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
