"""Inference through four dense layers, 1024-512-512-512-2: a test of dispatch more than of arithmetic.

ReLU between the layers, none after the last; batch 128; inputs are normal noise; no gradients.

Source: "notes on M1 chips" (an M1, an M1 Ultra, and a Xeon with an RTX 3090; "1024 * 512 * 512 * 512 * 2, run for 10000
steps of batch size 128"). They do not name the activation: ReLU is ours.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="mlp-1024",
    summary="inference through a multilayer perceptron, 1024-512-512-512-2",
    source="notes on M1 chips: 1024 * 512 * 512 * 512 * 2, batch 128",
    sizes={
        "full": Size(
            batch_size=128,
            input_shape=(1024,),
            classes=2,
            parameters=1_051_138,
            macs=1_049_600,
            config={"hidden": 512},
        ),
        "reduced": Size(
            batch_size=16, input_shape=(1024,), classes=2, parameters=34_978, macs=34_880, config={"hidden": 32}
        ),
    },
    scenarios=("infer",),
)


def build(nn: Any, size: Size) -> Any:
    """Make the model: (batch, 1024) to logits (batch, 2)."""
    hidden: Any = size.config["hidden"]

    class Perceptron(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(1024, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)])
            self.head = nn.Linear(hidden, size.classes)

        def forward(self, x: Any) -> Any:
            for layer in self.layers:
                x = nn.relu(layer(x))
            return self.head(x)

    return Perceptron()
